package errand

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/process"
)

// Wait waits until the errand has ended. It takes no thread, and does not poll where the
// system tells when the runner ends.
func Wait(ctx context.Context, dir string) (Result, error) {
	d := directory(dir)
	lock, err := d.awaitFree(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{Lost: true}, nil // it was started: somebody has deleted it
	}
	if err != nil {
		return Result{}, err
	}
	defer lock.Close()
	if r, ended, err := d.result(); ended || err != nil && !damaged(err) {
		return r, err
	}
	d.endLeft()
	return Result{Lost: true}, nil
}

// damaged tells content that makes no sense from a file that cannot be read now.
func damaged(err error) bool {
	var path *fs.PathError
	return !errors.As(err, &path)
}

// endLeft ends what a dead runner has left behind. It is called with the lock held.
func (d directory) endLeft() {
	d.forgetEnviron()
	process.EndMarked(d.mark())
	var group process.Identity
	if d.read("group", &group) == nil && ours(group) {
		_ = killGroup(group.PID)
	}
}

// ours reports whether a group still has to be the one that it was. Its number is given
// to no other process while one of the group is left, so that only a leader which is
// another process says that it is not. Where the system does not tell when a process has
// started, nobody can say.
func ours(group process.Identity) bool {
	if group.PID <= 1 || group.Start == "" || group.Boot != process.BootID() {
		return false
	}
	start := process.StartTime(group.PID)
	return start == "" || start == group.Start
}

// Runs reports whether the errand runs now, or is about to.
func Runs(dir string) bool {
	lock, err := directory(dir).openLock(0)
	if err != nil {
		return false
	}
	defer lock.Close()
	return errors.Is(tryShare(lock), errBusy)
}

// Remove removes the directory of an errand that does not run.
func Remove(dir string) (removed bool, err error) {
	lock, err := directory(dir).take()
	switch {
	case errors.Is(err, errBusy):
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	}
	defer lock.Close()
	// It gets another name first: one that is only partly gone would look like one that was never
	// begun.
	gone := filepath.Join(filepath.Dir(dir), goneMark+filepath.Base(dir))
	if err := os.RemoveAll(gone); err != nil {
		return false, err
	}
	if os.Rename(dir, gone) != nil { // then it goes under its own
		gone = dir
	}
	return true, os.RemoveAll(gone)
}

// goneMark stands before the name of a directory that is being removed.
const goneMark = ".gone-"

// RemoveRest removes what Remove has left that was killed, in the directory of all errands.
func RemoveRest(dir string) error {
	rest, err := fs.Glob(os.DirFS(dir), goneMark+"*")
	for _, gone := range rest {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, gone)))
	}
	return err
}
