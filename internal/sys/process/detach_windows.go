package process

import (
	"os"
	"os/exec"
	"syscall"
)

// Outlive lets a command go on when we have ended.
func Outlive(cmd *exec.Cmd) {
	const detachedProcess = 0x8
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

func start(args, env []string, stdin, log *os.File) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if log != nil {
		cmd.Stdout, cmd.Stderr = log, log
	}
	Outlive(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// endsWithUs is something to read that is empty, and at its end when this process is.
// Nobody writes into the pipe.
func endsWithUs() (*os.File, error) {
	var pipe [2]syscall.Handle
	if err := syscall.Pipe(pipe[:]); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	return os.NewFile(uintptr(pipe[0]), "pipe"), nil
}
