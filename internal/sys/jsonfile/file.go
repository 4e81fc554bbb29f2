package jsonfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// MaxSize bounds what is read: such files are a few kilobytes, and Claude Code
// writes back no more of its settings than it read.
const MaxSize = 8 << 20

// ReadText reads a regular file. Anything else (a directory, a fifo that would
// block for ever) is an error.
func ReadText(path string) ([]byte, error) { return regular.Read(path, MaxSize) }

// Edit changes the document in the file, while no other stopgate does, and
// reports whether that changed the file. A missing file is made from an empty
// object, for its owner alone.
func Edit(path string, change func(*Document) error) (changed bool, err error) {
	err = WithLock(path, func(f *File) error {
		d, err := Parse(f.Path, f.Text)
		if err != nil {
			return err
		}
		if err := d.NeedObject(); err != nil {
			return err
		}
		before := d.Text()
		if err := change(d); err != nil {
			return err
		}
		if text := d.Text(); !f.Exists || !bytes.Equal(text, before) {
			changed = true
			return f.Write(text)
		}
		return nil
	})
	return changed && err == nil, err
}

// File is a file that is being changed, under its lock.
type File struct {
	Path   string // as others name it, absolute
	Exists bool
	Mode   fs.FileMode // of what Write writes; 0600 for a file that is not there yet
	Text   []byte
	target string // where the bytes are: dotfile managers link to their own copy
	link   bool
}

// WithLock runs change while no other stopgate changes the file.
func WithLock(path string, change func(*File) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	target, err := resolve(path)
	if err != nil {
		return err
	}
	unlock, err := lock(target)
	if err != nil {
		return err
	}
	defer unlock()
	f := &File{Path: path, target: target}
	if err := f.load(); err != nil {
		return err
	}
	return change(f)
}

func (f *File) load() error {
	if info, err := os.Lstat(f.Path); err == nil {
		f.link = info.Mode()&fs.ModeSymlink != 0
	}
	info, err := os.Stat(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		f.Mode = 0o600
		return nil
	}
	if err != nil {
		return err
	}
	f.Exists, f.Mode = true, info.Mode().Perm()
	f.Text, err = ReadText(f.target)
	return err
}

// Write goes to the target, so that a link stays a link. What could not be read
// again is refused.
func (f *File) Write(text []byte) error {
	if len(text) > MaxSize {
		return fmt.Errorf("%s would become larger than %d bytes", f.Path, MaxSize)
	}
	if err := os.MkdirAll(filepath.Dir(f.target), dirMode(f.Mode)); err != nil {
		return err
	}
	if err := atomicfile.Write(f.target, text, f.Mode); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	return nil
}

// dirMode lets whoever may read the file into its directory.
func dirMode(mode fs.FileMode) fs.FileMode {
	return mode | 0o100 | mode&0o044>>2
}

// resolve follows links, also when the file or its directories do not exist
// yet, so that all names of one file have one lock.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	switch info, err := os.Lstat(path); {
	case err == nil && info.Mode().Type() == fs.ModeSymlink:
		return "", fmt.Errorf("%s is a broken link", path)
	case err == nil:
		return resolve(path) // another process has just made it
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	dir, err = resolve(dir)
	return filepath.Join(dir, filepath.Base(path)), err
}

// lockWait is far above what a change takes (a few milliseconds), so it ends
// only when another process hangs.
const lockWait = 30 * time.Second

// lock keeps other stopgate processes out. The lock file is in our own state
// directory: a project is no place for it.
func lock(target string) (unlock func(), err error) {
	state, err := paths.StateDir()
	if err != nil {
		return nil, err
	}
	unlock, err = lockfile.Acquire(context.Background(), filepath.Join(state, "locks", digest.Hex(target)+lockfile.Suffix), lockWait)
	if err != nil {
		return nil, fmt.Errorf("lock for %s: %w", target, err)
	}
	return unlock, nil
}
