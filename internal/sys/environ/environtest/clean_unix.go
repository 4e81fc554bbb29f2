//go:build unix

package environtest

import (
	"os"
	"os/signal"
	"syscall"
)

// noHome is the home directory of tests that have none of their own. There is nothing in it, and
// not even root can put something there.
const noHome = "/proc/no-home"

// cleanProcess sets what a process inherits besides variables. A signal that is ignored stays so in
// all children, and no shell can change it. One that is caught does not: we catch those, and go on
// ignoring them.
func cleanProcess() {
	syscall.Umask(0o022)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
