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
	// Owner is the run that has the lock, and Left the one before, if that was killed: what
	// it started may still go on.
	Owner, Left Owner
	release     func() error
}

// Release gives the lock back. Only the first call does anything.
func (l *Lock) Release() error { return l.release() }

// Acquire takes the lock, and makes the directory where there is none. It does
// not wait: the lock of a run that goes on, and losing a race for it, is ErrHeld.
// Any other error means that the directory cannot be written to.
//
// The lock is the kernel's, on a file that names its owner. The file is made
// aside and appears under its name when it is complete and locked, so an unlocked
// one was left by a run that was killed, or is not ours: it is taken over,
// whatever it says.
func (d Dir) Acquire(now time.Time) (*Lock, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	owner := self(now)
	file, err := d.lockAside(owner)
	if err != nil {
		return nil, fmt.Errorf("log directory %s: %w", d.path, err)
	}
	left, err := d.install(file.Name())
	if err != nil {
		_ = os.Remove(file.Name())
		_ = file.Close()
		return nil, err
	}
	d.sweep()
	return &Lock{owner, left, sync.OnceValue(func() error { return d.release(file) })}, nil
}

// LockFile is where the lock lies.
func (d Dir) LockFile() string { return d.file(lockName) }

// Held reports whether there is a lock that no run can be shown to have left, without
// waiting and without changing anything. As the older tool's hook has it, a file that is
// not of ours counts; Acquire goes by the kernel alone.
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

// Busy reports whether the kernel holds the lock for another run, whatever its file says. It asks for the very lock that
// Acquire takes: on Windows that is not where package lockfile has its own.
func (d Dir) Busy() bool {
	file, err := openFile(d.LockFile(), false)
	if err != nil {
		return false
	}
	defer file.Close()
	free, err := tryLock(file, false)
	return err == nil && !free
}

// abandoned is the lock file, open and locked, when its owner is gone. Otherwise
// the error is a HeldError, or fs.ErrNotExist when there is no lock; for one who wants to
// take the lock over, it may also say that it cannot be. Those who only look share the lock
// on it: they do not see each other.
func (d Dir) abandoned(take bool) (*os.File, error) {
	path := d.file(lockName)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, d.foreign(take, errors.New("is not a file"))
	}
	file, err := openFile(path, take)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, d.foreign(take, err)
	}
	if err := d.examine(file, take); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// foreign is what a lock that is not ours means: held for one who looks, no lock that
// could be taken for one who wants it.
func (d Dir) foreign(take bool, err error) error {
	if take {
		return fmt.Errorf("%s: %w", d.file(lockName), err)
	}
	return d.held(Owner{})
}

// examine returns nil when the lock file was left by an owner that is gone, and
// is locked now.
func (d Dir) examine(file *os.File, take bool) error {
	owner, ours := readOwner(file)
	if !ours && !take {
		return d.held(Owner{})
	}
	free, err := tryLock(file, take)
	if err == nil && !free && owner.gone() {
		free, err = outlast(file, take)
	}
	if err != nil {
		return d.foreign(take, err)
	}
	if !free {
		return d.held(owner)
	}
	if !d.named(file) {
		return fs.ErrNotExist // released or taken over since it was opened
	}
	if !take && owner.lives() {
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
