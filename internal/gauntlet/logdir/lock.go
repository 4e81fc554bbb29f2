package logdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

const lockName = ".gauntlet-run.lock"

// ErrHeld says that another run has the lock, or got it first.
var ErrHeld = errors.New("a gauntlet run is already in progress")

// HeldError is an ErrHeld that knows who and where.
type HeldError struct {
	Path  string
	Owner Owner
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%v: %s is held by %v", ErrHeld, e.Path, e.Owner)
}

func (e *HeldError) Unwrap() error { return ErrHeld }

// Lock is the right to run gates with this log directory.
type Lock struct {
	// Reclaimed means that the run before was killed. What it started may still
	// go on.
	Reclaimed bool
	release   func() error
}

// Release gives the lock back. Only the first call does anything.
func (l *Lock) Release() error { return l.release() }

// Acquire takes the lock, and makes the directory where there is none. It does
// not wait: the lock of a run that goes on, and losing a race for it, is ErrHeld.
// Any other error means that the directory cannot be written to.
//
// The lock is the kernel's, on a file that names its owner. The file is made
// aside and appears under its name when it is complete and locked, so one that
// nobody has locked was left by a run that was killed, and is taken over.
func (d Dir) Acquire(now time.Time) (*Lock, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	file, err := d.lockAside(now)
	if err != nil {
		return nil, fmt.Errorf("log directory %s: %w", d.path, err)
	}
	reclaimed, err := d.install(file.Name())
	if err != nil {
		_ = os.Remove(file.Name())
		_ = file.Close()
		return nil, err
	}
	d.sweep()
	return &Lock{reclaimed, sync.OnceValue(func() error { return d.release(file) })}, nil
}

// LockFile is where the lock lies.
func (d Dir) LockFile() string { return d.file(lockName) }

// Held reports whether a run has the lock, without waiting and without changing
// anything.
func (d Dir) Held() (Owner, bool, error) {
	left, err := d.abandoned(false)
	if held, ok := errors.AsType[*HeldError](err); ok {
		return held.Owner, true, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Owner{}, false, nil
	}
	if err != nil {
		return Owner{}, false, err
	}
	return Owner{}, false, left.Close()
}

// abandoned is the lock file, open and locked, when its owner is gone. Otherwise
// the error is a HeldError, or fs.ErrNotExist when there is no lock. A shared
// lock is for looking: two who look do not see each other.
func (d Dir) abandoned(exclusive bool) (*os.File, error) {
	path := d.file(lockName)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, d.held(Owner{})
	}
	file, err := openFile(path, exclusive)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, d.held(Owner{}) // not ours to read
	}
	if err := d.examine(file, exclusive); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// examine returns nil when the lock file was left by an owner that is gone, and
// is locked now.
func (d Dir) examine(file *os.File, exclusive bool) error {
	owner, ok := readOwner(file)
	if !ok {
		return d.held(Owner{})
	}
	free, err := tryLock(file, exclusive)
	if err == nil && !free && owner.gone() {
		free, err = outlast(file, exclusive)
	}
	if err != nil || !free {
		return d.held(owner)
	}
	if !d.named(file) {
		return fs.ErrNotExist // released or taken over since it was opened
	}
	if owner.lives() {
		return d.held(owner) // on a file system whose locks do not reach us
	}
	return nil
}

const (
	// childPatience is far more than a process takes from fork to exec, also on a machine
	// with a hundred others.
	childPatience = 5 * time.Second
	childPace     = time.Millisecond
)

// pause is time.Sleep, but in tests.
var pause = time.Sleep

// outlast takes the lock of an owner that was killed while it started a command: until
// that command's exec closes the file, the kernel counts the child as a holder.
func outlast(file *os.File, exclusive bool) (free bool, err error) {
	for waited := time.Duration(0); waited < childPatience && !free && err == nil; waited += childPace {
		pause(childPace)
		free, err = tryLock(file, exclusive)
	}
	return free, err
}

// named reports whether the open file is the one under the lock's name.
func (d Dir) named(file *os.File) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(d.file(lockName))
	return err == nil && os.SameFile(open, there)
}

// release removes the file before the lock on it ends, so that nobody takes it
// for abandoned. One that is not ours stays: ours was deleted while we ran.
func (d Dir) release(file *os.File) error {
	defer file.Close()
	if !d.named(file) {
		return nil
	}
	return os.Remove(d.file(lockName))
}

func (d Dir) held(owner Owner) error { return &HeldError{d.file(lockName), owner} }
