package plane

import (
	"errors"
	"os"
	"os/exec"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// startDaemon cannot hand a pipe to a process that outlives this one.
func startDaemon(string, []string, []string, *os.File) (ready *os.File, ended func() string, err error) {
	return nil, nil, term.WithHint(errors.New("the daemon cannot be started in the background on this system"), "run it in the foreground with: stopgate daemon run")
}

// become runs another program in place of this one.
func become(program string, args, env []string) error {
	cmd := exec.Command(program, args...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return term.WithCode(nil, exit.ExitCode())
	}
	return err
}
