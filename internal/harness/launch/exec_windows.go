package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// Exec runs Claude Code on our own streams and returns its exit code: there is no
// becoming another program here. What is typed to interrupt is for Claude Code.
func (p *Plan) Exec() (code int, err error) {
	signal.Ignore(os.Interrupt)
	cmd := &exec.Cmd{Path: p.Path, Args: p.Args, Env: p.Env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	} else if err != nil {
		return 0, StartError{error: fmt.Errorf("start %s: %w", p.Path, err)}
	}
	return 0, nil
}
