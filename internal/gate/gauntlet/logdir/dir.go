// Package logdir is a project's log directory: the logs of its runs, their
// numbers, the lock that keeps runs apart, the state that the last run left, and
// the archive of older ones.
package logdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// Dir is one project's log directory, which need not exist yet.
type Dir struct {
	path      string
	ambiguous map[string]bool // jobs whose stem alone would not tell them apart
}

// At is the log directory at path.
func At(path string) Dir { return Dir{path: path} }

// Path is where the directory is.
func (d Dir) Path() string { return d.path }

func (d Dir) file(name string) string { return filepath.Join(d.path, name) }

// make makes the directory and has git ignore all of it, so that logs neither
// show up in git's status nor get committed. A directory that holds something
// was made by somebody else, who may want its files committed.
func (d Dir) make() error {
	if err := os.MkdirAll(d.path, 0o755); err != nil {
		return fmt.Errorf("log directory: %w", err)
	}
	empty, err := isEmpty(d.path)
	if err == nil && empty {
		err = atomicfile.Write(d.file(".gitignore"), []byte("*\n"), 0o644)
	}
	if err != nil {
		return fmt.Errorf("log directory %s: %w", d.path, err)
	}
	return nil
}

func isEmpty(dir string) (bool, error) {
	f, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}
