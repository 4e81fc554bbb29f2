// Package demo plays a small fleet on a throw-away project, with a daemon of its own: what stopgate
// does can be seen without an agent that costs money.
package demo

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// New is the command.
func New() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Watch a small fleet work on a throw-away project",
		Long: `Watch a small fleet work on a throw-away project, with scripts in place of agents: gates fail and are
fixed, a review finds a secret, workers fix a queue of bugs, and a pipeline asks before it publishes.
Nothing of yours is read or changed, and nothing is left afterwards.

It prints a link to the web page of its daemon. On a terminal it stays until Ctrl-C, so that you can
look around and answer. In a pipe it plays once, answers automatically, and ends.

Exit code 0: played. 1: something went wrong. 3: it could not run. 130: interrupted. 141: broken pipe.`,
		Example: `  stopgate demo
  stopgate demo | cat    # without pauses and questions`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := term.UntilEnded(cmd.Context())
			defer stop()
			_, watched := term.IsScreen(cmd.OutOrStdout())
			return perform(ctx, cmd.OutOrStdout(), watched)
		},
	}
}

// perform plays everything, and leaves nothing. A person who watches gets pauses, and is asked.
func perform(ctx context.Context, out io.Writer, watched bool) (err error) {
	s, err := newStage(out, watched)
	if err != nil {
		return term.CannotRun(err, "")
	}
	defer func() { err = errors.Join(err, s.clear()) }()

	for _, play := range []func(context.Context) error{s.open, s.gates, s.review, s.work, s.release, s.summary} {
		err := play(ctx)
		switch {
		case ctx.Err() != nil:
			return term.Ended(ctx)
		case err != nil:
			return err
		}
	}
	if watched {
		s.say("Look around as long as you like. Ctrl-C ends the demo and removes everything. Another link to the page:")
		s.print("  STOPGATE_STATE_DIR=" + s.state + " stopgate ui")
		<-ctx.Done()
	}
	return nil
}
