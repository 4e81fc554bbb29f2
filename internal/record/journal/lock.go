package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// errLocked says that another process has held the journal's lock for too long.
var errLocked = errors.New("locked by another process")

const lockName = "lock"

// lock takes the writers' lock. A flock ends with its process, so only a process
// that lives and stands still can keep it.
func (j *Journal) lock() (unlock func(), err error) {
	unlock, err = lockfile.Acquire(context.Background(), j.path(lockName), j.lockWait)
	if errors.Is(err, lockfile.ErrBusy) {
		return nil, fmt.Errorf("%s: %w for %v: %s", j.path(lockName), errLocked, j.lockWait, findHolder(j.path(lockName)))
	}
	return unlock, err
}
