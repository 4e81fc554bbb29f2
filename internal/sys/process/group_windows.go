package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup ends the process and all its descendants; Windows has no signal to
// a group.
func killGroup(p *os.Process) error {
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run(); err != nil {
		return p.Kill()
	}
	return nil
}

// endGroup does nothing: once the command itself has ended, Windows no longer
// tells which processes it started.
func endGroup(*os.Process) {}

func signalOf(*os.ProcessState) syscall.Signal { return 0 }

// killed cannot be told from an exit code of the command's own.
func killed(state *os.ProcessState) bool { return state.ExitCode() != 0 }

// exists reports whether there is a process of that number.
func exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}

// askGroup has no gentle form here.
func askGroup(p *os.Process) error { return killGroup(p) }
