package session

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/session/queue"
)

func newQueueRetry() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "retry SESSION",
		Short: "Type a queue's command that waits, or what the last queue left",
		Long: `Go on with a session's queue: type the command that waits now, also where the client was
busy when it was last heard of. Where the session has no queue, make one of what its last one
left undone; the results that there are stay.

A command that the client works on is not typed again.

Exit code 1: there is nothing to go on with, or it cannot be typed now. 3: there is no tmux.`,
		Example: `  stopgate queue retry main`,
		Args:    term.OneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			desk, err := newDesk()
			if err != nil {
				return err
			}
			return desk.retry(cmd, args[0], asJSON)
		},
		ValidArgsFunction: sessionNames(queue.Store.Sessions),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (d *desk) retry(cmd *cobra.Command, session string, asJSON bool) error {
	if q, err := d.queues.Load(session); err == nil {
		if active := q.Active(); active != nil && active.Confirmed() {
			return term.WithHint(
				&driver.RefusedError{Err: fmt.Errorf("session %s: the client has command %d already", term.Shown(session), active.ID)},
				"see how far it is with: stopgate queue show "+term.ShellWord(session),
			)
		}
	}
	ctx, stop := term.UntilSignal(cmd)
	defer stop()
	q, err := d.driver.Retry(ctx, session)
	return d.report(cmd, session, q, err, asJSON)
}
