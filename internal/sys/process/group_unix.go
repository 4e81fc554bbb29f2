//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
}

func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// endGroup ends what a command left behind in its group: Claude Code waits for
// everything that a hook started.
func endGroup(p *os.Process) { _ = killGroup(p) }

func signalOf(state *os.ProcessState) syscall.Signal {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}

// killed reports whether the process ended the way killGroup ends it.
func killed(state *os.ProcessState) bool { return signalOf(state) == syscall.SIGKILL }

// exists reports whether there is a process of that number.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// askGroup asks the group to end by itself.
func askGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }
