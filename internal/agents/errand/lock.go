package errand

import (
	"context"
	"errors"
	"os"
	"time"
)

// errBusy says that somebody else starts, runs or ends the errand.
var errBusy = errors.New("another process holds the errand's lock")

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
// that wait. A lock that is waited for cannot be left in peace: when the context ends,
// the goroutine that waits stays, until it has the lock.
func awaitFree(ctx context.Context, lock *os.File) error {
	free := make(chan error)
	go func() {
		err := share(lock)
		select {
		case free <- err:
		case <-ctx.Done():
			_ = lock.Close()
		}
	}()
	select {
	case err := <-free:
		if err != nil {
			_ = lock.Close()
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// soon tries until it succeeds or patience is over. It is for what others do in a few
// milliseconds, and looks often.
func soon(ctx context.Context, patience time.Duration, try func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errBusy)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if done, err := try(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
