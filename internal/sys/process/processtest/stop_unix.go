//go:build unix

package processtest

import (
	"os"
	"syscall"
)

// Stop stops this process until it is killed. Another thread may be the one that takes the signal:
// until then the kernel lets this one run on.
func Stop() error {
	for {
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return err
		}
	}
}
