package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newAgentAttach() *cobra.Command {
	var readOnly bool
	cmd := &cobra.Command{
		Use:   "attach ID",
		Short: "Attach to an agent's terminal",
		Long: `Attach to the tmux session in which an agent runs: watch it, type to it, answer its questions.
Detach with Ctrl-b d (inside your own tmux: Ctrl-b Ctrl-b d); the agent keeps running. With
--read-only, nothing you type reaches the agent. For an agent on another machine of the fleet, it
prints the ssh command that attaches to it there.

Exit code 0: you detached. 1: the agent has ended or has no terminal, or this is an agent's shell.
2: no such agent. 3: this is not a terminal, tmux is not installed, the agent is on another machine,
or the daemon is not running.`,
		Example: `  stopgate agent attach 3f9a12bc
  stopgate agent attach 3f9a12bc --read-only`,
		Args: ids(term.OneArg, 1),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if !readOnly {
				if err := forPeople(cmd, args); err != nil {
					return err
				}
			}
			return needsTerminal(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var where daemonapi.Terminal
			err := Asking(func(ctx context.Context, p *Daemon, args []string) (err error) {
				where, err = p.terminalOf(ctx, args[0])
				return err
			})(cmd, args)
			if err != nil {
				return err
			}
			return attach(where, readOnly, os.Environ())
		},
		ValidArgsFunction: agentIDs(1),
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "watch only; ignore what is typed")
	return cmd
}

// needsTerminal refuses to go to a terminal from where there is none.
func needsTerminal(cmd *cobra.Command, id string) error {
	if xterm.IsTerminal(int(os.Stdin.Fd())) && xterm.IsTerminal(int(os.Stdout.Fd())) {
		return nil
	}
	err := fmt.Errorf("%s needs a terminal", term.Words(cmd))
	return term.CannotRun(err, "follow the agent with: stopgate agent logs "+id+" -f")
}

// terminalOf is where the agent that somebody means is to be seen. One that has ended has
// said something before, which people want to know then.
func (p *Daemon) terminalOf(ctx context.Context, id string) (daemonapi.Terminal, error) {
	a, err := p.someAgent(ctx, id)
	if err != nil {
		return daemonapi.Terminal{}, err
	}

	logs := "see what it did: stopgate agent logs " + shortID(a.ID)
	switch {
	case a.Host != "":
		err := fmt.Errorf("%s cannot be attached to from here", agentTitle(&a))
		return daemonapi.Terminal{}, term.CannotRun(err, "attach to it there with: "+p.elsewhere(ctx, a.Host, "stopgate agent attach "+shortID(a.ID)))
	case !a.ClaudeCode:
		return daemonapi.Terminal{}, term.WithHint(fmt.Errorf("%s has no terminal: it is not Claude Code", agentTitle(&a)), logs)
	case a.Status == "queued":
		return daemonapi.Terminal{}, term.WithHint(fmt.Errorf("%s has not started yet: it is queued until another agent ends", agentTitle(&a)), "list agents with: stopgate agent list")
	case a.Terminal != nil:
		server := terminal.Server{Socket: a.Terminal.Socket, Environ: os.Environ()}
		there, err := server.HasSession(ctx, a.Terminal.Session)
		if errors.Is(err, terminal.ErrNotInstalled) {
			return daemonapi.Terminal{}, term.CannotRun(err, "install tmux, or add it to PATH")
		}
		if there || err != nil {
			return *a.Terminal, err
		}
	}

	p.tellLast(&a)
	return daemonapi.Terminal{}, term.WithHint(fmt.Errorf("%s has ended", agentTitle(&a)), logs)
}

// tellLast says what an agent said last, as far as that is known.
func (p *Daemon) tellLast(a *daemonapi.Agent) {
	dir, err := agentdir.At(p.stateDir, a.ID)
	if err != nil {
		return
	}
	last, err := dir.Last()
	if err != nil || last.Message == "" {
		return
	}
	fmt.Fprintln(p.out, term.PaintFor(p.out).Faint("its last message:"))
	for _, line := range term.Wrapped("  ", last.Message, term.WidthOf(p.out)) {
		fmt.Fprintln(p.out, line)
	}
	if last.Error != "" {
		fmt.Fprintln(p.out, term.PaintFor(p.out).Red("  ✗ "+plain.Line(last.Error)))
	}
}

// attach becomes tmux. Ours is a server of its own, so that it can be looked at from
// within another tmux.
func attach(where daemonapi.Terminal, readOnly bool, env []string) error {
	program, found := environ.LookPath(env, "tmux")
	if !found {
		return term.CannotRun(terminal.ErrNotInstalled, "install tmux, or add it to PATH")
	}
	err := become(program, attachArgs(where, readOnly, environ.Get(env, "TMUX") != ""), withoutTmux(env))
	var coded term.CodeError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return term.WithCode(fmt.Errorf("start tmux: %w", err), term.ExitCouldNotRun)
}

// attachArgs are tmux's: it says for a while how to leave.
func attachArgs(where daemonapi.Terminal, readOnly, inside bool) []string {
	target, leave := "="+where.Session+":", "Ctrl-b d"
	if inside {
		leave = "Ctrl-b Ctrl-b d"
	}
	args := []string{"-u", "-S", where.Socket, "set-option", "-q", "-t", target, "display-time", "5000", ";", "attach-session", "-t", target}
	if readOnly {
		args = append(args, "-r")
	}
	return append(args, ";", "display-message", leave+" detaches; the agent keeps running")
}

// withoutTmux is an environment in which tmux does not know that it is inside another.
func withoutTmux(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return strings.HasPrefix(entry, "TMUX=") || strings.HasPrefix(entry, "TMUX_PANE=")
	})
}
