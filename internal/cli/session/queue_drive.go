package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/queue"
)

// hookPatience is the longest wait for the end of the hook that started us. A client
// ends its hooks after a while; one that hangs longer must not keep a queue from going
// on.
const hookPatience = time.Minute

// newQueueDrive is what hooks start and nobody waits for. Standard error is its log.
func newQueueDrive() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:    "drive --session NAME",
		Short:  "Type a queue's active command and confirm it",
		Hidden: true,
		Args:   term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if session == "" {
				return term.BadUsage(errors.New("--session is missing"), "usage: "+cmd.UseLine())
			}
			return drive(cmd, session)
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "the tmux session")
	return cmd
}

func drive(cmd *cobra.Command, session string) error {
	desk, err := newDesk()
	if err != nil {
		return err
	}
	log := logTo(cmd.ErrOrStderr(), "session "+term.Shown(session)+": ")
	desk.driver.Log = log
	ctx, stop := term.UntilSignal(cmd)
	defer stop()
	awaitEnd(ctx, cmd.InOrStdin())
	err = desk.driver.Deliver(ctx, session)
	if err == nil || errors.Is(err, queue.ErrNone) {
		return nil // somebody ended the queue meanwhile
	}
	log("%v", err)
	if coded, ok := errors.AsType[term.CodeError](forQueue(err, session)); ok {
		return term.WithCode(nil, coded.Code)
	}
	return term.ErrSilent
}

// logTo writes lines with the time, and what they are about.
func logTo(out io.Writer, about string) func(format string, args ...any) {
	return func(format string, args ...any) {
		fmt.Fprintf(out, "%s %s%s\n", time.Now().UTC().Format(time.RFC3339), about, fmt.Sprintf(format, args...))
	}
}

// awaitEnd waits until whoever holds the other end of our input has ended: as long as a
// hook runs, its client is not ready for what is typed.
func awaitEnd(ctx context.Context, in io.Reader) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in) // an input that cannot be read has ended
	}()
	patience := time.NewTimer(hookPatience)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	case <-ctx.Done():
	}
}
