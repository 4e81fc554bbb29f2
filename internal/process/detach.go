package process

import (
	"os"
	"os/exec"
)

// Detach starts a command that goes on after this process has ended. Its output
// goes to log, or nowhere if that is nil: the client waits for every process
// that holds a hook's own output open.
func Detach(args, env []string, log *os.File) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	if log != nil {
		cmd.Stdout, cmd.Stderr = log, log
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
