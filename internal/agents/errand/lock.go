package errand

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/sys/pause"
)

// errBusy says that somebody else starts, runs or ends the errand.
var errBusy = errors.New("another process holds the command's lock")

func (d directory) openLock(flags int) (*os.File, error) {
	return os.OpenFile(d.path("lock"), os.O_RDWR|flags, 0o600)
}

// take takes the lock, which closing the file frees, or fails with errBusy.
func (d directory) take() (*os.File, error) {
	f, err := d.openLock(os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// takeSoon takes the lock from those that hold it for a moment only.
func (d directory) takeSoon(patience time.Duration) (lock *os.File, err error) {
	err = soon(context.Background(), patience, func() (bool, error) {
		lock, err = d.take()
		if errors.Is(err, errBusy) && !d.begun() {
			return false, nil
		}
		return true, err
	})
	return lock, err
}

// awaitFree waits until nobody runs the errand, and gives the lock, shared with others
// that wait. To wait for the lock itself would take a thread for each errand that runs: it
// waits for the end of the runner, and then asks.
func (d directory) awaitFree(ctx context.Context) (*os.File, error) {
	for rest := time.Duration(0); ; rest = min(2*rest+time.Millisecond, lookAgain) {
		lock, err := d.tryFree(ctx)
		if !errors.Is(err, errBusy) {
			return lock, err
		}
		// Nothing is to be waited for where it is not known who the runner is, or the system does
		// not tell, or another process holds the lock for a moment.
		err = d.runner().AwaitEnd(ctx)
		if err == nil || errors.Is(err, errors.ErrUnsupported) {
			err = pause.For(ctx, rest)
		}
		if err != nil {
			return nil, err
		}
	}
}

// lookAgain is how late the end of an errand may be noticed where the system does not tell.
const lookAgain = 500 * time.Millisecond

// looks has room for as many as look at locks at once: each takes a thread for a moment, and Go
// keeps the threads that it has.
var looks = make(chan struct{}, 16)

// tryFree gives the lock of an errand that does not run, shared with others.
func (d directory) tryFree(ctx context.Context) (*os.File, error) {
	select {
	case looks <- struct{}{}:
		defer func() { <-looks }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	lock, err := d.openLock(0)
	if err != nil {
		return nil, err
	}
	if err := tryShare(lock); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return lock, nil
}

// soon tries until it succeeds or patience is over. It is for what others do in a few
// milliseconds, and looks often.
func soon(ctx context.Context, patience time.Duration, try func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errBusy)
	defer cancel()
	for range pause.Doubling(ctx, time.Millisecond, 50*time.Millisecond) {
		if done, err := try(); done || err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
