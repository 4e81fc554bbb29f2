package session

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// sessionNames completes the name of a session, as the first argument.
func sessionNames(names func(context.Context, queue.Store) []string) cobra.CompletionFunc {
	return term.Completion(1, func(ctx context.Context, _ []string) []string { return stored(ctx, names) })
}

// sessionFlag completes a flag that names a tmux session.
func sessionFlag(cmd *cobra.Command, flag string) {
	term.CompleteFlag(cmd, flag, func(ctx context.Context) []string { return stored(ctx, tmuxSessions) })
}

func stored(ctx context.Context, names func(context.Context, queue.Store) []string) []string {
	state, err := paths.StateDir()
	if err != nil {
		return nil
	}
	return names(ctx, queue.NewStore(state))
}

// known are the sessions that have a queue, or had one.
func known(_ context.Context, s queue.Store) []string { return s.Sessions() }

// withQueue are the sessions that have a queue.
func withQueue(_ context.Context, s queue.Store) []string {
	all, _ := s.List() // then there is nothing to complete
	var names []string
	for _, l := range all {
		names = append(names, l.Session)
	}
	return names
}

// tmuxSessions are the sessions of tmux, and those that have a queue: they may be of another
// tmux server.
func tmuxSessions(ctx context.Context, s queue.Store) []string {
	names, _ := terminal.Server{Environ: os.Environ()}.Sessions(ctx) // then only the queues are completed
	names = append(names, withQueue(ctx, s)...)
	slices.Sort(names)
	return slices.Compact(names)
}
