//go:build unix

package people

import (
	"os/exec"
	"syscall"
)

// detach lets a command go on when we have ended.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
