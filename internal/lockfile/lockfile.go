// Package lockfile makes processes take turns.
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// ErrBusy says that others held the lock for longer than one was ready to wait.
var ErrBusy = errors.New("another process holds the lock")

// Acquire takes the lock on a file, which is made where it does not exist, and waits
// at most patience for those that hold it. The lock ends with release or with the
// process, however that ends. The file stays: a lock that is removed no longer locks.
func Acquire(ctx context.Context, path string, patience time.Duration) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if err == nil && !taken && patience > 0 {
		waiting, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		taken, err = lock.TryLockContext(waiting, pace(patience))
	}
	switch {
	case taken:
		return func() { _ = lock.Close() }, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%w: %s", ErrBusy, path)
	}
	return nil, err
}

// Held reports whether somebody holds the lock on a file. It makes none; looking keeps
// others from the lock for a moment, but not from looking.
func Held(path string) (bool, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	_ = lock.Close() // it was only looked at
	return err == nil && !free, err
}

// pace is how often one looks whether the lock is free: who is ready to wait long is
// in no hurry.
func pace(patience time.Duration) time.Duration {
	return min(max(patience/5000, time.Millisecond), 20*time.Millisecond)
}
