package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Draft is the project and the person's files as they would be afterwards. What is written to it is seen
// by the next tool, and stays in memory.
type Draft struct {
	Root   string
	Getenv func(name string) string
	// Migrated are the files that earlier migrations of the project have changed.
	Migrated []string
	// CheckRunbooks has the runbooks of the project at a root checked.
	CheckRunbooks func(root string) (RunbookCheck, error)
	files         []*draftFile
	faults        document.All
}

// note keeps what is wrong with a file for the report, once, so that the rest is still told. Other errors
// it returns.
func (d *Draft) note(err error) error {
	faults, ok := errors.AsType[*document.Faults](err)
	if !ok {
		return err
	}
	for _, fault := range faults.All {
		if !slices.Contains(d.faults, fault) {
			d.faults = append(d.faults, fault)
		}
	}
	return nil
}

// draftFile is a file as it is on disk, and as it is to become. Nil means that there is none.
type draftFile struct {
	path          string
	before, after []byte
}

// Change is a file that is to be made or changed. None is ever removed: what another tool reads stays,
// for those who still use it.
type Change struct {
	Path   string
	Before []byte // nil: there is no such file yet
	After  []byte
}

// New reports whether there is no such file yet.
func (c Change) New() bool { return c.Before == nil }

// Home is the person's home directory; empty where none is known.
func (d *Draft) Home() string { return paths.Home(d.Getenv) }

// InRoot is the path of a file of the project.
func (d *Draft) InRoot(name ...string) string {
	return filepath.Join(append([]string{d.Root}, name...)...)
}

// Shown is a path as people read it: relative to the project where it is inside, with ~ for the home.
func (d *Draft) Shown(path string) string {
	if rel, err := filepath.Rel(d.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if rel, err := filepath.Rel(d.Home(), path); err == nil && filepath.IsLocal(rel) && d.Home() != "" {
		return "~/" + filepath.ToSlash(rel)
	}
	return path
}

// glob lists the files below a directory, which may have any name, that match a slash-separated pattern.
func glob(dir, pattern string) (files []string) {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are sound, and what cannot be read is not there
	for _, name := range names {
		files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return files
}

// Read is the file as the tools before have left it; nil where there is none. What cannot be read or is
// larger than any configuration is a fault.
func (d *Draft) Read(path string) ([]byte, error) {
	f, err := d.open(path)
	if err != nil {
		return nil, err
	}
	return f.after, nil
}

// Write replaces or makes the file in the draft. Nothing on disk changes.
func (d *Draft) Write(path string, content []byte) error {
	f, err := d.open(path)
	if err != nil {
		return err
	}
	f.after = content
	return nil
}

func (d *Draft) open(path string) (*draftFile, error) {
	for _, f := range d.files {
		if f.path == path {
			return f, nil
		}
	}
	if !utf8.ValidString(path) || strings.ContainsRune(path, 0) {
		return nil, document.Unreadable(d.Shown(path), errors.New("the path is not valid UTF-8"))
	}
	text, err := regular.Read(path, jsonfile.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !isLink(path):
		text = nil
	case errors.Is(err, regular.ErrTooLarge):
		return nil, document.Unreadable(d.Shown(path), fmt.Errorf("it is larger than %d bytes", jsonfile.MaxSize))
	case err != nil:
		return nil, document.Unreadable(d.Shown(path), err)
	case text == nil:
		text = []byte{}
	}
	f := &draftFile{path: path, before: text, after: text}
	d.files = append(d.files, f)
	return f, nil
}

// isLink tells a link that leads nowhere from a file that is missing.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Changes are the files that differ from those on disk, in the order in which they were first looked at.
func (d *Draft) Changes() []Change {
	changes := []Change{}
	for _, f := range d.files {
		if f.before == nil && f.after != nil || !bytes.Equal(f.before, f.after) {
			changes = append(changes, Change{Path: f.path, Before: f.before, After: f.after})
		}
	}
	return changes
}
