//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// readersStay waits for a while, and reports whether what we write there still has a
// reader. What is not a pipe always has one.
func readersStay(stopped <-chan struct{}, files ...*os.File) bool {
	const while = 100 // milliseconds
	fds := make([]unix.PollFd, len(files))
	for i, file := range files {
		fds[i].Fd = int32(file.Fd())
	}
	n, err := unix.Poll(fds, while)
	if n <= 0 || err != nil {
		return true
	}
	for _, fd := range fds {
		if fd.Revents&unix.POLLERR != 0 {
			return false
		}
	}
	<-stopped // closed, or a terminal that hung up, which has a signal of its own
	return true
}
