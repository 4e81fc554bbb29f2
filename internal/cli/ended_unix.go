//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// readerGone reports whether nobody reads any more what we write there.
func readerGone(file *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLOUT}}
	_, err := unix.Poll(fds, 0)
	return err == nil && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
