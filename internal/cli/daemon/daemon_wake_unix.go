//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"syscall"
)

// startDaemon starts the daemon in a session of its own. It says on ready when it can be
// asked; ended waits for its end and says how it was.
func startDaemon(program string, args, env []string, log *os.File) (ready *os.File, ended func() string, err error) {
	ready, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir = "/" // no file system is kept from being unmounted
	cmd.Env = append(env, "STOPGATED_READY_FD=3")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{theirs} // becomes 3
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = ready.Close()
		return nil, nil, err
	}
	return ready, func() string {
		_ = cmd.Wait() // its state says more
		return cmd.ProcessState.String()
	}, nil
}

// become replaces this process by another program.
func become(program string, args, env []string) error {
	return syscall.Exec(program, append([]string{program}, args...), env)
}
