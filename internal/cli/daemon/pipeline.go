package daemon

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewPipeline() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "pipeline",
		Short: "List, show, cancel and resume pipelines",
		Long: `List, show, cancel and resume the pipelines that stopgate start starts. An id prefix is enough.
The id of an agent run is accepted too, and so is that of an agent: it means the agent's pipeline.`,
		Example: `  stopgate pipeline list --watch
  stopgate pipeline show 3f9a12bc
  stopgate pipeline logs 3f9a12bc -f`,
	}, newPipelineList(), newOwnerShow("pipeline"), newOwnerLogs("pipeline"), newOwnerWait("pipeline"), newOwnerCancel("pipeline"), newOwnerResume("pipeline"))
}

// kindOf is the kind of owners that a group of commands is about.
func kindOf(group string) string {
	if group == "agent" {
		return "run"
	}
	return "pipeline"
}

// anOwner is how help names what a group of commands is about.
func anOwner(group string) string {
	if group == "agent" {
		return "an agent run"
	}
	return "a pipeline"
}

func newOwnerShow(group string) *cobra.Command {
	var follow bool
	cmd := asks(&cobra.Command{
		Use:   "show ID",
		Short: "Show the steps, agent and open decision of " + anOwner(group),
		Long: `Show the steps of ` + anOwner(group) + ` and how long they took, the agent, the open decision, the error, and the
variables. With --watch, keep showing them until it has ended.

Exit code 0: shown; with --watch: done. 1: with --watch: failed. 2: not found. 3: the daemon is not
running. 4: with --watch: cancelled.`,
		Example: fmt.Sprintf(`  stopgate %[1]s show 3f9a12bc
  stopgate %[1]s show 3f9a12bc --watch
  stopgate %[1]s show 3f9a12bc --json | jq -r .status`, group),
		Args:              term.OneArg,
		ValidArgsFunction: ownerIDs(kindOf(group), false, 1),
	}, func(ctx context.Context, p *Daemon, args []string) error {
		id, err := p.resolve(ctx, args[0])
		if err != nil {
			return err
		}
		if follow {
			return p.watchOwner(ctx, id)
		}
		return p.showOwner(ctx, id)
	})
	cmd.Flags().BoolVar(&follow, "watch", false, "keep showing changes until it has ended")
	return cmd
}

func newOwnerLogs(group string) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs ID",
		Short: "Print the output of the steps of " + anOwner(group),
		Long: `Print the output of the steps and what happened, each line with its time and step. A log on
another machine of the fleet cannot be followed: with --follow, print its last lines.

Exit code 0: printed. 2: no such pipeline or agent. 3: the daemon is not running.`,
		Example: fmt.Sprintf(`  stopgate %[1]s logs 3f9a12bc
  stopgate %[1]s logs 3f9a12bc --follow`, group),
		Args: term.OneArg,
		RunE: Asking(func(ctx context.Context, p *Daemon, args []string) error {
			m, err := p.meant(ctx, args[0])
			if err != nil {
				return err
			}
			return p.printLogOf(ctx, m.ownerID(), m.away(), follow)
		}),
		ValidArgsFunction: ownerIDs(kindOf(group), false, 1),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing until it has ended")
	return cmd
}

// tailLines is how much is printed of a log that cannot be followed.
const tailLines = 500

// printLogOf prints a log, wherever it is. One on another machine comes in one answer, and has no end to wait for.
func (p *Daemon) printLogOf(ctx context.Context, id string, away daemonapi.Away, follow bool) error {
	if away.Host == "" || !follow {
		return p.printLog(ctx, id, follow)
	}
	fmt.Fprintf(p.errOut, "stopgate: a log%s cannot be followed from here; these are its last lines\n", away.On())
	return p.printLines(p.Tail(ctx, id, tailLines, false))
}

// printLog prints a log.
func (p *Daemon) printLog(ctx context.Context, id string, follow bool) error {
	err := p.printLines(p.Log(ctx, id, follow))
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return term.WithCode(nil, term.ExitInterrupted)
	case follow:
		return p.ended(ctx, id)
	}
	return nil
}

// printLines prints lines of a log. On a terminal, commands must not steer that.
func (p *Daemon) printLines(lines iter.Seq2[string, error]) error {
	_, terminal := term.IsScreen(p.out)
	for line, err := range lines {
		if errors.Is(err, daemonapi.ErrCut) {
			return gone()
		}
		if err != nil {
			return err
		}
		if terminal {
			line = plain.Line(line)
		}
		if _, err := fmt.Fprintln(p.out, line); err != nil {
			return err
		}
	}
	return nil
}

// ended tells a log that came to its end from one whose daemon did.
func (p *Daemon) ended(ctx context.Context, id string) error {
	o, err := p.Owner(ctx, id)
	if IsDown(err) || err == nil && !atEnd(&o) {
		return gone()
	}
	return err
}

func newOwnerCancel(group string) *cobra.Command {
	var giveUp bool
	cmd := acts(&cobra.Command{
		Use:   "cancel ID…",
		Short: "Cancel " + anOwner(group),
		Long: `Cancel ` + anOwner(group) + `: stop the current step, then run only what the runbook defines as on_cancel. One that
has ended stays as it is. The daemon's own agents cannot run this command.

With --give-up, give up one that is held because its record is damaged: end what it runs, and
remove it from the list. Its workspace stays; see stopgate workspace list.

Exit code 0: cancelled, or it had already ended. 1: it is held, or this is an agent's shell. 2: no
such id; the others are cancelled anyway. 3: the daemon could not be started, or the machine of the
fleet that it is on does not answer.`,
		Example:           fmt.Sprintf("  stopgate %s cancel 3f9a12bc", group),
		Args:              ids(someArgs, math.MaxInt),
		PreRunE:           notForAgents,
		ValidArgsFunction: ownerIDs(kindOf(group), true, math.MaxInt),
	}, func(ctx context.Context, p *Daemon, args []string) error {
		return p.each(ctx, args, func(arg string) error {
			id, err := p.resolve(ctx, arg)
			if err == nil && group == "agent" {
				err = p.runsAlone(ctx, id)
			}
			switch {
			case err != nil:
				return err
			case giveUp:
				return p.giveUp(ctx, id)
			}
			return p.cancel(ctx, id)
		})
	})
	cmd.Flags().BoolVar(&giveUp, "give-up", false, "give up one that is held because its record is damaged")
	return cmd
}

// givesUp says what helps with an owner that is held.
func givesUp(o *daemonapi.Owner) string {
	return "give it up with: stopgate pipeline cancel --give-up " + shortID(o.ID)
}

// giveUp forgets an owner that is held.
func (p *Daemon) giveUp(ctx context.Context, id string) error {
	o, err := p.Client.Cancel(ctx, id, daemonapi.Cancel{ID: daemonapi.NewID(), GiveUp: true})
	if err != nil {
		return err
	}
	return p.tell(o, "gave up "+shortID(o.ID))
}

// runsAlone refuses a pipeline where an agent was meant.
func (p *Daemon) runsAlone(ctx context.Context, id string) error {
	o, err := p.Owner(ctx, id)
	if err == nil && o.Kind != "run" {
		err = term.WithHint(fmt.Errorf("the agent belongs to %s", title(&o)), "cancel the pipeline with: stopgate pipeline cancel "+shortID(o.ID))
	}
	return err
}

func (p *Daemon) cancel(ctx context.Context, id string) error {
	before, err := p.Owner(ctx, id)
	if err != nil {
		return err
	}
	if before.Status == ownerHeld {
		return term.WithHint(fmt.Errorf("%s is held because its record is damaged, and cannot be cancelled", title(&before)), givesUp(&before))
	}
	word := "had already ended: " + before.Status
	after := before
	if !atEnd(&before) {
		request := daemonapi.Cancel{ID: daemonapi.NewID()}
		after, err = insist(ctx, p, func() (daemonapi.Owner, error) { return p.Client.Cancel(ctx, id, request) })
		if err != nil {
			return err
		}
		word = "is being cancelled"
		if atEnd(&after) {
			word = after.Status
		}
	}
	return p.tell(after, title(&after)+" "+word)
}

func newOwnerResume(group string) *cobra.Command {
	var request daemonapi.Resume
	var vars []string
	cmd := acts(&cobra.Command{
		Use:   "resume ID",
		Short: "Resume " + anOwner(group) + " after a failure, or answer its decision",
		Long: `Resume ` + anOwner(group) + `. A failed one continues with the step that failed. If it waits for a decision, this
is the answer; the message of -m goes to its agent.

Agents cannot run this command: they must not decide about their own work.

Exit code 0: resumed. 1: it is running, done or cancelled, or this is an agent's shell. 2: not found,
or invalid command line. 3: the daemon could not be started, or the machine of the fleet that it is
on does not answer.`,
		Example: fmt.Sprintf(`  stopgate %[1]s resume 3f9a12bc
  stopgate %[1]s resume 3f9a12bc -m "use the staging database"
  stopgate %[1]s resume 3f9a12bc --var branch=main`, group),
		Args: ids(term.OneArg, 1),
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := forPeople(cmd, args); err != nil {
				return err
			}
			request.ID = daemonapi.NewID()
			request.Vars, err = varsOf(vars)
			return err
		},
		ValidArgsFunction: ownerIDs(kindOf(group), false, 1),
	}, func(ctx context.Context, p *Daemon, args []string) error {
		id, err := p.resolve(ctx, args[0])
		if err != nil {
			return err
		}
		o, err := insist(ctx, p, func() (daemonapi.Owner, error) { return p.Client.Resume(ctx, id, request) })
		if err != nil {
			return err
		}
		return p.tell(o, title(&o)+" resumed at "+plain.Line(o.Step))
	})
	cmd.Flags().StringVarP(&request.Message, "message", "m", "", "a message for its agent")
	cmd.Flags().StringArrayVar(&vars, "var", nil, "set a variable, as NAME=VALUE (repeatable)")
	return cmd
}

// varsOf reads variables.
func varsOf(pairs []string) (map[string]string, error) {
	vars := map[string]string{}
	for _, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		if !found || name == "" {
			return nil, term.BadUsage(fmt.Errorf("invalid --var %s", term.Shown(pair)), "use: --var NAME=VALUE")
		}
		if _, twice := vars[name]; twice {
			return nil, term.BadUsage(fmt.Errorf("--var sets %s twice", term.Shown(name)), "remove one of them")
		}
		vars[name] = value
	}
	return vars, nil
}
