package supervisor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/lines"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const (
	statePrefix  = "supervisor-"
	stateSuffix  = ".json"
	outputSuffix = "-output.jsonl"
	lockPrefix   = ".supervisor-"
	lockSuffix   = ".lock"
	logName      = "hook-invocation.log"

	// lockPatience is the longest wait for other processes, each of which holds
	// a lock for the milliseconds of a sync. On a machine with hundreds of hooks at
	// once these are seconds.
	lockPatience = 60 * time.Second
)

// Dir is the directory that holds what the supervisor keeps. It is made when
// something is written.
type Dir struct{ path string }

// At is the state directory at path.
func At(path string) Dir { return Dir{path} }

// Path is where the directory is.
func (d Dir) Path() string { return d.path }

// StateFile is the state of a session, whose id passes CheckSession.
func (d Dir) StateFile(session string) string { return d.join(statePrefix + session + stateSuffix) }

// OutputFile is all that the reviewers of a session printed.
func (d Dir) OutputFile(session string) string { return d.join(statePrefix + session + outputSuffix) }

// LogFile has a line for each thing that happened, of all sessions.
func (d Dir) LogFile() string { return d.join(logName) }

func (d Dir) lockFile(session string) string { return d.join(lockPrefix + session + lockSuffix) }

func (d Dir) join(name string) string { return filepath.Join(d.path, name) }

// openAppend opens a file to append lines to. It ends a line that a writer was
// killed in, or the next one would be lost in it. A file that others may read is
// made private.
func (d Dir) openAppend(path string) (*os.File, error) {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return nil, err
	}
	file, err := regular.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := endLine(file); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func endLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		_ = file.Chmod(0o600) // of somebody else's file we cannot, and write all the same
	}
	if ends, err := lines.EndsAt(file, info.Size()); err != nil || ends {
		return err
	}
	_, err = file.WriteString("\n")
	return err
}

// Sessions lists the sessions that there is a state of.
func (d Dir) Sessions() (ids []string, err error) {
	entries, err := os.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if id, ok := cut(entry.Name(), statePrefix, stateSuffix); ok && CheckSession(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}
