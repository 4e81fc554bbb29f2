//go:build unix

package process

import (
	"cmp"
	"os"
	"os/exec"
	"syscall"
)

// Outlive lets a command go on when we have ended: in a session of its own.
func Outlive(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// start starts a command in a session of its own, without a terminal. It asks the
// kernel itself: package os would start another process first, only to learn whether
// it can have a descriptor of this one, and nobody waits for this one.
func start(args, env []string, stdin, log *os.File) error {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}

	outlivesUs := stdin != nil
	if stdin == nil || log == nil {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer null.Close()
		stdin, log = cmp.Or(stdin, null), cmp.Or(log, null)
	}

	pid, err := syscall.ForkExec(program, args, &syscall.ProcAttr{
		Env:   env,
		Files: []uintptr{stdin.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return &os.PathError{Op: "fork/exec", Path: program, Err: err}
	}

	if !outlivesUs {
		// If it ends before we do, nothing is left of it. This takes a thread.
		go func() { _, _ = syscall.Wait4(pid, nil, 0, nil) }()
	}
	return nil
}

// endsWithUs is something to read that is empty, and at its end when this process is.
// Nobody writes into the pipe. The end for that is no os.File, which the garbage
// collector would close.
func endsWithUs() (*os.File, error) {
	var pipe [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(pipe[:]); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	syscall.CloseOnExec(pipe[0])
	syscall.CloseOnExec(pipe[1])
	return os.NewFile(uintptr(pipe[0]), "pipe"), nil
}
