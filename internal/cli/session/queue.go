// Package session has the commands for clients in tmux: queues, and who is woken for which.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

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
		Short: "Queue commands for Claude Code in a tmux session",
		Long: `Queue commands for Claude Code in a tmux session. The first command is typed at once, each later
one when Claude Code's hooks report that the one before it is done. Typing your own prompt in the
session cancels the queue.

SESSION is the name of the tmux session. When the queue ends, the session's agent in the registry
is woken.`,
		Example: `  stopgate queue add main /clear "/gsd:plan-phase 3"
  stopgate queue list --watch
  stopgate queue cancel main`,
	}, newQueueAdd(), newQueueCreate("stopgate queue create"), newQueueList(), newQueueShow(), newQueueCancel(), newQueueRetry(), newQueueDrive(), newQueueWatch())
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
		return term.CannotRun(err, "install tmux, or add it to PATH")
	case errors.Is(err, queue.ErrExists):
		return term.WithHint(fmt.Errorf("session %s already has a queue", term.Shown(session)), "add to it with: stopgate queue add "+name+" COMMAND…\nshow it with: stopgate queue show "+name+"; replace it with: --replace")
	case errors.Is(err, queue.ErrNone):
		return term.WithHint(fmt.Errorf("session %s has no queue", term.Shown(session)), "list queues with: stopgate queue list")
	case errors.Is(err, driver.ErrNoClaude):
		return term.WithHint(err, "start Claude Code in that session, or name another one (tmux list-sessions)")
	case errors.Is(err, terminal.ErrNoSession):
		return term.WithHint(fmt.Errorf("there is no tmux session %s", term.Shown(session)), otherName(session))
	}
	return err
}

// comfort tells a person at a terminal what is waited for, unless it is there right away: Claude Code may just be
// starting. It is over with what it returns.
func comfort(errOut io.Writer, session string) (stop func() bool) {
	if _, ok := term.IsScreen(errOut); !ok {
		return func() bool { return true }
	}
	const soon = 500 * time.Millisecond
	return time.AfterFunc(soon, func() {
		fmt.Fprintf(errOut, "waiting for Claude Code in session %s …\n", term.Shown(session))
	}).Stop
}

// otherName is the name that a session may have instead.
func otherName(session string) string {
	if name := registry.TmuxName(session); name != session {
		return fmt.Sprintf("tmux calls it %q", name)
	}
	return "list sessions with: tmux list-sessions"
}

func newQueueCancel() *cobra.Command {
	return atDesk(&cobra.Command{
		Use:   "cancel SESSION",
		Short: "Cancel a session's queue",
		Long: `Cancel a session's queue: type no more of its commands, notify its agent, and archive its file.
Claude Code finishes what it is working on.

Exit code 1: the session has no queue.`,
		Example:           `  stopgate queue cancel main`,
		Args:              term.OneArg,
		ValidArgsFunction: sessionNames(withQueue),
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
	fmt.Fprintf(term.Prose(cmd.OutOrStdout()), "cancelled the queue of session %s with %d of %s done%s\nits file is now %s; resume it with: stopgate queue retry %s\n",
		term.Shown(session), v.Completed, plain.Count(v.Total, "command"), goesOn(q), v.Path, term.ShellWord(session))
	return nil
}

// goesOn tells of what a cancelled queue's client still works on.
func goesOn(q queue.Queue) string {
	if active := q.Active(); active != nil && active.Confirmed() {
		return fmt.Sprintf("; Claude Code still works on command %d", active.ID)
	}
	return ""
}

func newQueueRetry() *cobra.Command {
	return atDesk(&cobra.Command{
		Use:   "retry SESSION",
		Short: "Resume a session's queue",
		Long: `Resume a session's queue: type the waiting command now, even if Claude Code last reported that it
is busy. If the session has no queue, make one from the unfinished commands of its last queue and
keep the results.

A command that Claude Code is working on is not typed again.

Exit code 1: nothing to resume, or it cannot be typed now. 3: tmux is not installed.`,
		Example:           `  stopgate queue retry main`,
		Args:              term.OneArg,
		ValidArgsFunction: sessionNames(known),
	}, (*desk).retry)
}

func (d *desk) retry(cmd *cobra.Command, args []string, asJSON bool) error {
	session := args[0]
	if q, err := d.queues.Load(session); err == nil {
		if active := q.Active(); active != nil && active.Confirmed() {
			return term.WithHint(
				&driver.RefusedError{Err: fmt.Errorf("session %s: Claude Code is already working on command %d", term.Shown(session), active.ID)},
				"show it with: stopgate queue show "+term.ShellWord(session),
			)
		}
	}
	ctx, stop := term.UntilSignal(cmd)
	defer stop()
	q, err := d.driver.Retry(ctx, session)
	return d.report(cmd, session, q, err, asJSON)
}
