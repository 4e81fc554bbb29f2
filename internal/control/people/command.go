package people

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/project/notify"
	"github.com/stopgate/stopgate/internal/sys/logfile"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// glance is how long a command is looked at: one that fails does so at once.
const glance = 5 * time.Second

// command runs the person's own command. One that takes long, such as a window that waits
// for a click, has got the message and goes on; also when we do not.
func (n *Notifier) command(ctx context.Context, command string, m Message) error {
	log, err := logfile.Open(n.opts.StateDir, notify.Log)
	if err != nil {
		return err
	}
	defer log.Close()

	args := notify.Args(command, m.whole())
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = n.opts.Environ, log, log
	process.Outlive(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}

	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return fmt.Errorf("%v: see %s", exit.ProcessState, filepath.Join("logs", notify.Log))
		}
		return err
	case <-time.After(glance):
	case <-ctx.Done():
	}
	return nil
}
