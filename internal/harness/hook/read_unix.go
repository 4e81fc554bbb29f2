//go:build unix

package hook

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// readAll reads a file by waiting for it in the kernel: a goroutine and a timer
// would cost a hook another thread, a tenth of a millisecond.
func readAll(r io.Reader, patience time.Duration) (data []byte, open bool, err error) {
	file, ok := r.(*os.File)
	if !ok {
		return readInBackground(r, patience)
	}

	fd := int(file.Fd())
	deadline := time.Now().Add(patience)
	data = make([]byte, 0, 16<<10)
	for len(data) <= MaxPayload {
		ready, err := waitReadable(fd, deadline)
		if err != nil || !ready {
			return data, !ready, err
		}
		if len(data) == cap(data) {
			data = append(data, make([]byte, len(data))...)[:len(data)]
		}

		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case err != nil:
			return data, false, err
		case n == 0:
			return data, false, nil
		default:
			data = data[:len(data)+n]
		}
	}
	return data, false, nil
}

// waitReadable waits until a read would not block; false when it still would at
// the deadline.
func waitReadable(fd int, deadline time.Time) (bool, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		left := max(0, time.Until(deadline))
		n, err := unix.Poll(fds, int(left.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0, err
		}
	}
}
