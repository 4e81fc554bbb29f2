// Package session has the commands for clients in tmux: queues, and who is woken for which.
package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewQueue() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "queue",
		Short: "Type commands into a client's tmux session, one after the other",
		Long: `Give the client in a tmux session commands to work off. The first is typed at once, each
other when the client's hooks say that the one before it is done. Somebody who types a prompt
of their own in between ends the queue.

A session is called by its name in tmux. Its agent in the registry is woken when the queue
ends, however that is.`,
		Example: `  stopgate queue create --session main '["/clear", "/gsd:plan-phase 3"]'
  stopgate queue list --watch
  stopgate queue cancel main`,
	}, newQueueCreate("stopgate queue create"), newQueueList(), newQueueShow(), newQueueCancel(), newQueueRetry(), newQueueDrive())
}

// desk is where a person looks after queues.
type desk struct {
	stateDir string
	driver   *driver.Driver
	queues   queue.Store
}

func newDesk() (*desk, error) {
	state, err := paths.StateDir()
	if err != nil {
		return nil, err
	}
	global, err := paths.GlobalConfig()
	if err != nil {
		return nil, err
	}
	return &desk{stateDir: state, driver: driver.Outside(state, global, term.LogToStderr), queues: queue.NewStore(state)}, nil
}

// atDesk makes a command about queues, which takes --json.
func atDesk(cmd *cobra.Command, run func(d *desk, cmd *cobra.Command, args []string, asJSON bool) error) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := newDesk()
		if err != nil {
			return err
		}
		return run(d, cmd, args, *asJSON)
	}
	return cmd
}

// forQueue says what to do about what a session's queue failed of, and gives the exit
// code for it.
func forQueue(err error, session string) error {
	name := term.ShellWord(session)
	switch {
	case errors.Is(err, context.Canceled):
		return term.WithCode(err, term.ExitInterrupted)
	case errors.Is(err, terminal.ErrNotInstalled):
		return term.CannotRun(err, "install tmux, or add it to the PATH")
	case errors.Is(err, queue.ErrExists):
		return term.WithHint(fmt.Errorf("session %s has a queue already", term.Shown(session)), "see it with: stopgate queue show "+name+"\nput yours in its place with: --replace")
	case errors.Is(err, queue.ErrNone):
		return term.WithHint(fmt.Errorf("session %s has no queue", term.Shown(session)), "see those there are with: stopgate queue list")
	case errors.Is(err, terminal.ErrNoSession):
		return term.WithHint(fmt.Errorf("there is no tmux session %s", term.Shown(session)), otherName(session))
	}
	return err
}

// otherName is the name that a session may have instead.
func otherName(session string) string {
	if name := registry.TmuxName(session); name != session {
		return fmt.Sprintf("tmux calls it %q", name)
	}
	return "see those there are with: tmux list-sessions"
}

// sessionNames completes the name of a session.
func sessionNames(names func(queue.Store) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		state, err := paths.StateDir()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		fits := slices.DeleteFunc(names(queue.NewStore(state)), func(name string) bool { return !strings.HasPrefix(name, begun) })
		return fits, cobra.ShellCompDirectiveNoFileComp
	}
}

// underWay are the sessions that have a queue.
func underWay(s queue.Store) []string {
	all, _ := s.List() // then there is nothing to complete
	var names []string
	for _, l := range all {
		names = append(names, l.Session)
	}
	return names
}

func newQueueCancel() *cobra.Command {
	return atDesk(&cobra.Command{
		Use:   "cancel SESSION",
		Short: "End a session's queue",
		Long: `End a session's queue: nothing more of it is typed, its agent is told, and its file gets
another name. What the client works on now, it goes on with.

Exit code 1: there is no queue.`,
		Example:           `  stopgate queue cancel main`,
		Args:              term.OneArg,
		ValidArgsFunction: sessionNames(underWay),
	}, (*desk).cancel)
}

func (d *desk) cancel(cmd *cobra.Command, args []string, asJSON bool) error {
	session := args[0]
	q, err := d.driver.Cancel(session, "stopgate queue cancel")
	if err != nil {
		return forQueue(err, session)
	}
	v, err := d.find(session, q.Stopgate.ID)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(cmd.OutOrStdout(), v)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "cancelled the queue of session %s with %d of %s done%s\nits file is now %s; what is left can be typed with: stopgate queue retry %s\n",
		term.Shown(session), v.Completed, plain.Count(v.Total, "command"), goesOn(q), v.Path, term.ShellWord(session))
	return nil
}

// goesOn tells of what a cancelled queue's client still works on.
func goesOn(q queue.Queue) string {
	if active := q.Active(); active != nil && active.Confirmed() {
		return fmt.Sprintf("; the client goes on with command %d", active.ID)
	}
	return ""
}

func newQueueRetry() *cobra.Command {
	return atDesk(&cobra.Command{
		Use:   "retry SESSION",
		Short: "Type a queue's command that waits, or what the last queue left",
		Long: `Go on with a session's queue: type the command that waits now, also where the client was
busy when it was last heard of. Where the session has no queue, make one of what its last one
left undone; the results that there are stay.

A command that the client works on is not typed again.

Exit code 1: there is nothing to go on with, or it cannot be typed now. 3: there is no tmux.`,
		Example:           `  stopgate queue retry main`,
		Args:              term.OneArg,
		ValidArgsFunction: sessionNames(queue.Store.Sessions),
	}, (*desk).retry)
}

func (d *desk) retry(cmd *cobra.Command, args []string, asJSON bool) error {
	session := args[0]
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
