package send

import (
	"os"
	"os/exec"
	"syscall"
)

// outlive makes the program outlive us. No lock outlives us here.
func outlive(cmd *exec.Cmd, _ *os.File) {
	const detachedProcess = 0x8
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

func tryLock(*os.File) bool { return true }
