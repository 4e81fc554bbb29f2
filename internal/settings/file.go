package settings

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/paths"
)

// maxSize bounds what we read: settings are a few kilobytes, and the client
// writes back no more than it read.
const maxSize = 8 << 20

// read reads a regular file. Anything else (a directory, a fifo that would
// block for ever) is an error.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSize {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxSize)
	}
	return text, nil
}

// file is a settings file that is being changed, under its lock.
type file struct {
	path   string // as the client names it
	target string // where the bytes are: dotfile managers link to their own copy
	link   bool
	exists bool
	mode   fs.FileMode
	text   []byte
}

// withFile runs change while no other stopgate changes the file.
func withFile(path string, change func(*file) error) error {
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
	f := &file{path: path, target: target}
	if err := f.load(); err != nil {
		return err
	}
	return change(f)
}

func (f *file) load() error {
	if info, err := os.Lstat(f.path); err == nil {
		f.link = info.Mode()&fs.ModeSymlink != 0
	}
	info, err := os.Stat(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		f.mode = newMode(f.path)
		return nil
	}
	if err != nil {
		return err
	}
	f.exists, f.mode = true, info.Mode().Perm()
	f.text, err = read(f.target)
	return err
}

// newMode is the mode of a file that we make. The project's file is shared;
// the others may come to hold keys and tokens.
func newMode(path string) fs.FileMode {
	user, _ := Path(User, "")
	if path != user && filepath.Base(path) == "settings.json" && filepath.Base(filepath.Dir(path)) == ".claude" {
		return 0o644
	}
	return 0o600
}

// replace writes the text if it is new. The first change keeps the original.
func (f *file) replace(text []byte) (changed bool, err error) {
	if f.exists && bytes.Equal(text, f.text) {
		return false, nil
	}
	if err := f.keepOriginal(); err != nil {
		return false, err
	}
	return true, f.write(text)
}

// write goes to the target, so that a link stays a link.
func (f *file) write(text []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.target), dirMode(f.mode)); err != nil {
		return err
	}
	if err := atomicfile.Write(f.target, text, f.mode); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// dirMode lets whoever may read the file into its directory.
func dirMode(mode fs.FileMode) fs.FileMode {
	return mode | 0o100 | mode&0o044>>2
}

// restore writes what Uninstall left. Nothing left means that the file was made
// by us: it goes, and its directory too when that is empty. But a link is
// somebody's, so it stays, on an empty object.
func (f *file) restore(text []byte) (changed bool, err error) {
	switch {
	case text == nil && f.link:
		return true, f.write([]byte("{}\n"))
	case text == nil:
		if err := os.Remove(f.target); err != nil {
			return false, err
		}
		_ = os.Remove(filepath.Dir(f.target)) // fails when it is not empty
		return true, nil
	case bytes.Equal(text, f.text):
		return false, nil
	}
	return true, f.write(text)
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
		return "", fmt.Errorf("%s is a link to nothing", path)
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
	dir := filepath.Join(state, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, fmt.Sprintf("%x.lock", sha256.Sum256([]byte(target)))), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := l.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock for %s: %w", target, err)
	}
	return func() { _ = l.Unlock() }, nil
}
