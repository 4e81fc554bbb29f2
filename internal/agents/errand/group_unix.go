//go:build unix

package errand

import (
	"errors"
	"os"
	"syscall"
)

func askGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGTERM) }

func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// groupLives reports whether anything is left of a group whose leader has ended. The dead
// that were left to us count until they are waited for.
func groupLives(pid int) bool {
	for {
		if dead, err := syscall.Wait4(-pid, nil, syscall.WNOHANG, nil); dead <= 0 && !errors.Is(err, syscall.EINTR) {
			return syscall.Kill(-pid, 0) == nil
		}
	}
}

func askRunner(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// exitCode is the shell's: 128 and the signal, where one ended it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok {
		return statusCode(status)
	}
	return state.ExitCode()
}

func statusCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
