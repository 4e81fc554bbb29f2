package plane

import (
	"context"
	"errors"
	"fmt"
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
		Short: "Look after pipelines: list, show, logs, cancel, resume, wait",
		Long: `Look after pipelines, which stopgate start starts. An id may be cut: its beginning will do.
Wherever a pipeline can be named, so can an agent run, or an agent for the pipeline that it
works for.`,
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

func newOwnerShow(group string) *cobra.Command {
	var follow bool
	cmd := asks(&cobra.Command{
		Use:   "show ID",
		Short: "Show its steps, its agent, and what it waits for",
		Long: `Show the steps that it went through and how long they took, its agent, the decision that it
waits for, why it failed, and its variables. With --watch it is shown until it is at its end.

Exit code 0: shown; with --watch: it is done. 1: there is none, or with --watch: it failed.
3: the daemon does not run. 4: with --watch, it was cancelled.`,
		Example: fmt.Sprintf(`  stopgate %[1]s show 3f9a12bc
  stopgate %[1]s show 3f9a12bc --watch
  stopgate %[1]s show 3f9a12bc --json | jq -r .status`, group),
		Args:              term.OneArg,
		ValidArgsFunction: ownerIDs(kindOf(group), false),
	}, func(ctx context.Context, p *Plane, args []string) error {
		id, err := p.resolve(ctx, args[0])
		if err != nil {
			return err
		}
		if follow {
			return p.watchOwner(ctx, id)
		}
		return p.showOwner(ctx, id)
	})
	cmd.Flags().BoolVar(&follow, "watch", false, "go on as it changes, until it is at its end")
	return cmd
}

func newOwnerLogs(group string) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs ID",
		Short: "Print what its steps have printed",
		Long: `Print what its steps have printed, and what happened to it, each line with its time and its
step.

Exit code 0: printed. 1: there is no such pipeline or agent. 3: the daemon does not run.`,
		Example: fmt.Sprintf(`  stopgate %[1]s logs 3f9a12bc
  stopgate %[1]s logs 3f9a12bc --follow`, group),
		Args: term.OneArg,
		RunE: Asking(func(ctx context.Context, p *Plane, args []string) error {
			id, err := p.resolve(ctx, args[0])
			if err != nil {
				return err
			}
			return p.printLog(ctx, id, follow)
		}),
		ValidArgsFunction: ownerIDs(kindOf(group), false),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as lines come, until it is at its end")
	return cmd
}

// printLog prints a log. On a terminal, commands must not steer that.
func (p *Plane) printLog(ctx context.Context, id string, follow bool) error {
	_, terminal := term.IsScreen(p.out)
	for line, err := range p.Log(ctx, id, follow) {
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
	switch {
	case ctx.Err() != nil:
		return term.WithCode(nil, term.ExitInterrupted)
	case follow:
		return p.ended(ctx, id)
	}
	return nil
}

// ended tells a log that came to its end from one whose daemon did.
func (p *Plane) ended(ctx context.Context, id string) error {
	o, err := p.Owner(ctx, id)
	if IsDown(err) || err == nil && !atEnd(&o) {
		return gone()
	}
	return err
}

func newOwnerCancel(group string) *cobra.Command {
	return acts(&cobra.Command{
		Use:   "cancel ID…",
		Short: "End what it does, and let it go no further",
		Long: `End what it does now and let it go no further, except to the step that its runbook has for
on_cancel. One that is at its end stays as it is. The daemon's own agents may not do it.

Exit code 0: it is cancelled, or was at its end. 1: there is none of that id; the others are
cancelled all the same. 3: the daemon could not be started, or this is an agent's shell.`,
		Example:           fmt.Sprintf("  stopgate %s cancel 3f9a12bc", group),
		Args:              ids(someArgs, math.MaxInt),
		PreRunE:           notForAgents,
		ValidArgsFunction: ownerIDs(kindOf(group), true),
	}, func(ctx context.Context, p *Plane, args []string) error {
		return p.each(ctx, args, func(arg string) error {
			id, err := p.resolve(ctx, arg)
			if err == nil && group == "agent" {
				err = p.runsAlone(ctx, id)
			}
			if err != nil {
				return err
			}
			return p.cancel(ctx, id)
		})
	})
}

// runsAlone refuses a pipeline where an agent was meant.
func (p *Plane) runsAlone(ctx context.Context, id string) error {
	o, err := p.Owner(ctx, id)
	if err == nil && o.Kind != "run" {
		err = term.WithHint(fmt.Errorf("the agent works for %s", title(&o)), "cancel that with: stopgate pipeline cancel "+shortID(o.ID))
	}
	return err
}

func (p *Plane) cancel(ctx context.Context, id string) error {
	before, err := p.Owner(ctx, id)
	if err != nil {
		return err
	}
	word := "was at its end already: " + before.Status
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
		Short: "Let it go on: after a failure, or with an answer",
		Long: `Let it go on. One that failed goes on with the step that failed. One that waits for a person
takes this as the answer; with -m the words go to its agent.

An agent is refused: it must not decide about its own work.

Exit code 0: it goes on. 1: it cannot, since it runs, is done or was cancelled. 2: the command
line was not understood. 3: the daemon could not be started, or this is an agent's shell.`,
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
		ValidArgsFunction: ownerIDs(kindOf(group), false),
	}, func(ctx context.Context, p *Plane, args []string) error {
		id, err := p.resolve(ctx, args[0])
		if err != nil {
			return err
		}
		o, err := insist(ctx, p, func() (daemonapi.Owner, error) { return p.Client.Resume(ctx, id, request) })
		if err != nil {
			return err
		}
		return p.tell(o, title(&o)+" goes on at "+plain.Line(o.Step))
	})
	cmd.Flags().StringVarP(&request.Message, "message", "m", "", "words for its agent")
	cmd.Flags().StringArrayVar(&vars, "var", nil, "set a variable: NAME=VALUE; may be given again")
	return cmd
}

// varsOf reads variables.
func varsOf(pairs []string) (map[string]string, error) {
	vars := map[string]string{}
	for _, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		if !found || name == "" {
			return nil, term.BadUsage(fmt.Errorf("--var %s is no variable", term.Shown(pair)), "write: --var NAME=VALUE")
		}
		if _, twice := vars[name]; twice {
			return nil, term.BadUsage(fmt.Errorf("--var sets %s twice", term.Shown(name)), "leave one of them out")
		}
		vars[name] = value
	}
	return vars, nil
}
