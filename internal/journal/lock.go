package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/stopgate/stopgate/internal/lockfile"
)

// ErrLocked says that another process has held the journal's lock for too long.
var ErrLocked = errors.New("locked by another process")

const lockName = "lock"

// lock takes the writers' lock. A flock ends with its process, so only a process
// that lives and stands still can keep it.
func (j *Journal) lock() (*flock.Flock, error) {
	lock := lockfile.New(j.path(lockName))
	ok, err := patiently(j.lockWait, func() (bool, error) { return j.tryLock(lock) })
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w for %v: find it with \"fuser -v %[1]s\" and continue or end it",
			lock.Path(), ErrLocked, j.lockWait)
	}
	return lock, nil
}

func (j *Journal) tryLock(lock *flock.Flock) (bool, error) {
	ok, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(j.dir, 0o700); err != nil {
			return false, err
		}
		ok, err = lock.TryLock()
	}
	if err != nil || !ok {
		return false, err
	}
	if j.current(lock) {
		return true, nil
	}
	return false, lock.Unlock()
}

// current reports whether the file that was locked is still the one that others
// will lock: between opening and locking it the directory may have been deleted
// and made again.
func (j *Journal) current(lock *flock.Flock) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(held, named)
}

// patiently calls try until it succeeds, fails or wait is over. Waiting starts at
// the time that a writer holds the lock, and has jitter so that processes that
// started together drift apart.
func patiently(wait time.Duration, try func() (bool, error)) (bool, error) {
	start := time.Now()
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		if ok, err := try(); ok || err != nil {
			return ok, err
		}
		if time.Since(start) > wait {
			return false, nil
		}
		time.Sleep(pause/2 + rand.N(pause))
	}
}
