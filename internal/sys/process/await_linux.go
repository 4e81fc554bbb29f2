package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// awaitEnd has Go's poller wait for a process, as it does for sockets.
func awaitEnd(ctx context.Context, pid int, lives func() bool) error {
	defer waited.Add(-1)
	if waited.Add(1) > mostWaited() { // files have to be opened as well
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, unix.EMFILE)
	}
	f, err := openProcess(ctx, pid, lives)
	if f == nil || err != nil {
		return err
	}
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })()
	if err := conn.Read(hasEnded); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return ctx.Err()
}

// waited counts the processes that are waited for: each takes a descriptor.
var waited atomic.Int64

// mostWaited is half of the descriptors that this process may have.
var mostWaited = sync.OnceValue(func() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 512
	}
	return int64(min(limit.Cur, 1<<20) / 2)
})

// opens has room for as many as are opened at once: each takes a thread for a moment, and Go
// keeps the threads that it has.
var opens = make(chan struct{}, 16)

// openProcess is a descriptor of a process, nil where that has ended. Whether it is the one that
// is meant is asked once its number can become no other's unnoticed.
func openProcess(ctx context.Context, pid int, lives func() bool) (*os.File, error) {
	select {
	case opens <- struct{}{}:
		defer func() { <-opens }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err != nil { // an old kernel, or too many open files
		return nil, fmt.Errorf("%w: pidfd_open: %w", errors.ErrUnsupported, err)
	}
	if !lives() {
		return nil, unix.Close(fd)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // else os takes it for a file that cannot be polled
		return nil, errors.Join(errors.ErrUnsupported, err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// hasEnded reports whether the process behind a descriptor has ended.
func hasEnded(fd uintptr) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// Reap leaves nothing of a child once that has ended. How it ended is lost. It returns at once,
// and takes no thread.
func Reap(child *os.Process) {
	pid := child.Pid
	_ = child.Release() // it has a descriptor of its own
	go func() {
		_ = awaitEnd(context.Background(), pid, func() bool { return true }) // or we look now and then
		for {
			dead, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
			if dead == pid || err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
			time.Sleep(time.Second)
		}
	}()
}
