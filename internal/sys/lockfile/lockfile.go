// Package lockfile makes processes take turns.
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// ErrBusy says that others held the lock for longer than one was ready to wait.
var ErrBusy = errors.New("another process holds the lock")

// open is how the file of a lock is opened. It never waits, whatever lies there: the other end
// of a pipe may never come.
const open = os.O_RDONLY | regular.NonBlocking

// Acquire takes the lock on a file, which is made where it does not exist, and waits at most
// patience for those that hold it. The lock ends with release or with the process, however that
// ends. The file stays: a lock that is removed no longer locks. Only the holder may remove it, by
// Remove.
func Acquire(ctx context.Context, path string, patience time.Duration) (release func(), err error) {
	lock := flock.New(path, flock.SetFlag(open|regular.NoFollow|os.O_CREATE), flock.SetPermissions(0o600))
	return wait(ctx, lock, patience, func() (bool, error) {
		taken, err := lock.TryLock()
		if errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return false, err
			}
			taken, err = lock.TryLock()
		}
		if taken && !inPlace(lock) {
			return false, lock.Close()
		}
		return taken, err
	})
}

// Share takes the lock on a file together with others that share it, and waits at most patience for
// one that has it alone. It makes no file: where there is none, the error is fs.ErrNotExist.
func Share(ctx context.Context, path string, patience time.Duration) (release func(), err error) {
	lock := flock.New(path, flock.SetFlag(open))
	return wait(ctx, lock, patience, lock.TryRLock)
}

// handle is a file that is locked, or about to be.
type handle interface {
	Path() string
	Close() error // frees it
}

// wait tries to take a lock until that succeeds. The pauses begin with the time for which a writer
// of a line holds a lock. They are random, so that those who began together drift apart.
func wait(ctx context.Context, lock handle, patience time.Duration, try func() (bool, error)) (release func(), err error) {
	end := time.Now().Add(patience)
	for pause := 20 * time.Microsecond; ; pause = next(pause, time.Until(end)) {
		err := ctx.Err()
		if err == nil {
			var taken bool
			if taken, err = try(); taken {
				return func() { _ = lock.Close() }, nil
			}
			if beingRemoved(err) {
				err = nil
			}
		}
		if err == nil && !time.Now().Before(end) {
			err = ErrBusy
		}
		if err != nil {
			_ = lock.Close()
			return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
		}

		select {
		case <-ctx.Done():
		case <-time.After(min(pause/2+rand.N(pause), time.Until(end))):
		}
	}
}

// next is the pause after one, where so much patience is left. Pauses grow, so that a crowd leaves
// the holder time for its work. Who has waited long tries more often again: the others, who came
// later, can wait longer.
func next(pause, left time.Duration) time.Duration {
	return min(2*pause, max(min(left/1000, 20*time.Millisecond), 200*time.Microsecond))
}

// inPlace reports whether the file that is locked is the one that others find.
func inPlace(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	if err != nil {
		return true
	}
	found, err := os.Lstat(lock.Path())
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(locked, found)
}

// Suffix makes the name of a file's lock from the file's.
const Suffix = ".lock"

// Prune removes the files in a directory that were last written before a moment, with
// their locks. What is locked stays.
func Prune(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir) // there need not be any
	for _, entry := range entries {
		prune(filepath.Join(dir, strings.TrimSuffix(entry.Name(), Suffix)), before)
	}
}

func prune(path string, before time.Time) {
	if !silent(path, before) {
		return
	}
	release, err := Acquire(context.Background(), path+Suffix, 0)
	if err != nil {
		return
	}
	if !silent(path, before) { // any more
		release()
		return
	}
	_ = os.Remove(path)
	_ = Remove(path+Suffix, release)
}

// silent reports whether a file was last written before a moment. Where there is only its
// lock, that counts.
func silent(path string, before time.Time) bool {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Lstat(path + Suffix)
	}
	return err == nil && info.Mode().IsRegular() && info.ModTime().Before(before)
}

// Held reports whether a process holds the lock on a file. It makes no file, not even where the
// holder removes its own at this moment; looking keeps others from the lock for a moment, but not
// from looking.
func Held(path string) (bool, error) {
	lock := flock.New(path, flock.SetFlag(open), flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	_ = lock.Close() // it was only looked at
	if errors.Is(err, fs.ErrNotExist) || beingRemoved(err) {
		return false, nil
	}
	return err == nil && !free, err
}
