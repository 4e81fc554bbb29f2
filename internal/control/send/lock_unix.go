//go:build unix

package send

import (
	"os"
	"os/exec"
	"syscall"
)

// inherit lets a program hold the lock, which belongs to the open file and ends with the last
// process that has it.
func inherit(cmd *exec.Cmd, lock *os.File) { cmd.ExtraFiles = []*os.File{lock} }

func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
