//go:build unix

package send

import (
	"os"
	"os/exec"
	"syscall"
)

// outlive makes the program outlive us, in a session of its own, and lets it hold the
// lock, which belongs to the open file and ends with the last process that has it.
func outlive(cmd *exec.Cmd, lock *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{lock}
}

func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
