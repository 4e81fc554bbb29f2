package session

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newQueueAdd() *cobra.Command {
	return atDesk(&cobra.Command{
		Use:   "add SESSION COMMAND…",
		Short: "Add commands to a session's queue",
		Long: `Add commands to the queue of a tmux session, one argument per command. A session without a
queue gets one, and its first command is typed as soon as Claude Code is idle.

A command is a slash command or a prompt. Quote it, so that it is one argument.

Exit code 1: refused; there is no such session, Claude Code does not run in it, or a command
cannot be typed. 2: invalid command line. 3: tmux is not installed.`,
		Example: `  stopgate queue add main /clear "/gsd:plan-phase 3"
  stopgate queue add main "Run the tests and fix what fails"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return term.BadUsage(fmt.Errorf("%s needs a session and at least one command", term.Words(cmd)), "usage: "+cmd.UseLine())
			}
			return nil
		},
		ValidArgsFunction: sessionNames(tmuxSessions),
	}, (*desk).add)
}

func (d *desk) add(cmd *cobra.Command, args []string, asJSON bool) error {
	order := driver.Order{Session: args[0], Commands: args[1:]}
	ctx, stop := term.UntilSignal(cmd)
	defer stop()

	settled := comfort(cmd.ErrOrStderr(), order.Session)
	q, added, err := d.driver.Add(ctx, order)
	settled()
	if err != nil || !added {
		return d.report(cmd, order.Session, q, err, asJSON)
	}

	v, err := d.find(order.Session, q.Stopgate.ID)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(cmd.OutOrStdout(), v)
	}
	fmt.Fprintf(term.Prose(cmd.OutOrStdout()), "session %s: added %s to its queue (%d of %d done)\nwatch it with: stopgate queue show %s --watch\n",
		term.Shown(order.Session), plain.Count(len(order.Commands), "command"), v.Completed, v.Total, term.ShellWord(order.Session))
	return nil
}
