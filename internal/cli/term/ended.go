package term

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
)

// errBrokenPipe ends a command whose output has lost its reader.
var errBrokenPipe = errors.New("broken pipe")

// BrokenPipe reports whether the context of UntilEnded ended because the reader of our output is gone.
func BrokenPipe(ended context.Context) bool { return errors.Is(context.Cause(ended), errBrokenPipe) }

// Ended is how a command ends whose context has ended before it had a result.
func Ended(ctx context.Context) error {
	if BrokenPipe(ctx) {
		return WithCode(nil, ExitBrokenPipe)
	}
	return Interrupted()
}

// UntilEnded gives a context that ends when the program is to end: by Ctrl-C,
// kill, closing the terminal, or closing the pipe that we write to. Further
// signals do nothing until stop is called, so that a second Ctrl-C does not leave
// behind what the run has started. What we were started to ignore, as by nohup,
// stays ignored.
func UntilEnded(ctx context.Context) (ended context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP}
	ended, cancel := signal.NotifyContext(ctx, slices.DeleteFunc(signals, signal.Ignored)...)
	if signal.Ignored(syscall.SIGPIPE) {
		return ended, cancel
	}

	ended, giveUp := context.WithCancelCause(ended)
	// The signal itself says nothing: a command that ends before it has read its input
	// sends it too, and one who reads no more sends it only when we write.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)

	stopped := make(chan struct{})
	go func() {
		for readersStay(stopped, os.Stdout, os.Stderr) {
			select {
			case <-stopped:
				return
			default:
			}
		}
		giveUp(errBrokenPipe)
	}()

	return ended, sync.OnceFunc(func() {
		signal.Stop(broken)
		close(stopped)
		cancel()
	})
}

// UntilShown has a command run until it is interrupted, or until what it found is shown.
func UntilShown(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := UntilEnded(cmd.Context())
		defer stop()
		cmd.SetContext(ctx)
		err := run(cmd, args)
		if errors.Is(err, syscall.EPIPE) {
			return WithCode(nil, ExitBrokenPipe) // the writer noticed first
		}
		return err
	}
	return cmd
}
