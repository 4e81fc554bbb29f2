package session

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// newQueueWatch is started by the command that makes a queue, which does not wait for it. Standard
// error is its log.
func newQueueWatch() *cobra.Command {
	return &cobra.Command{
		Use:    "watch",
		Short:  "Resume or fail queues that would wait for ever",
		Hidden: true,
		Args:   term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			desk, err := newDesk()
			if err != nil {
				return err
			}
			desk.driver.Log = logTo(cmd.ErrOrStderr(), "")
			ctx, stop := term.UntilSignal(cmd)
			defer stop()
			if err := desk.driver.Watch(ctx); err != nil && !errors.Is(err, context.Canceled) {
				desk.driver.Log("%v", err)
				return term.ErrSilent
			}
			return nil
		},
	}
}
