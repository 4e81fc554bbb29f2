package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// The states of owners.
const (
	ownerQueued    = "queued" // until there is room in its group
	ownerRunning   = "running"
	ownerWaiting   = "waiting"
	ownerDone      = "done"
	ownerFailed    = "failed"
	ownerCancelled = "cancelled"
	ownerHeld      = "held" // its record is damaged
)

func ownerStates() []string {
	return []string{ownerQueued, ownerRunning, ownerWaiting, ownerDone, ownerFailed, ownerCancelled, ownerHeld}
}

// atEnd reports whether nothing moves the owner any more.
func atEnd(o *daemonapi.Owner) bool { return !underWay(o) && o.Status != ownerWaiting }

// underWay reports whether the owner goes on by itself.
func underWay(o *daemonapi.Owner) bool { return o.Status == ownerRunning || o.Status == ownerQueued }

// shortID is enough of an id for people.
func shortID(id string) string { return id[:min(len(id), 8)] }

// groupWord is the command that is about such owners.
func groupWord(o *daemonapi.Owner) string {
	if o.Kind == "run" {
		return "agent"
	}
	return "pipeline"
}

// title is what people are told of an owner: "pipeline 3f9a12bc build".
func title(o *daemonapi.Owner) string {
	return daemonapi.KindWord(o.Kind) + " " + shortID(o.ID) + " " + plain.Line(o.Name) + o.On()
}

// owners are all pipelines and agent runs, the newest first.
func (p *Daemon) owners(ctx context.Context) ([]daemonapi.Owner, error) {
	pipelines, err := p.Pipelines(ctx, daemonapi.Filter{})
	if err != nil {
		return nil, err
	}
	runs, err := p.Runs(ctx, daemonapi.Filter{})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(pipelines, runs)
	slices.SortStableFunc(all, func(a, b daemonapi.Owner) int { return b.Created.Compare(a.Created) })
	return all, nil
}

// meaning is what a person means by an id: a pipeline or agent run, or one of its agents.
type meaning struct {
	owner daemonapi.Owner  // without an id where only the agent is known
	agent *daemonapi.Agent // where the id is that of an agent
}

// ownerID is that of the pipeline or agent run.
func (m *meaning) ownerID() string {
	if m.agent != nil {
		return m.agent.Owner
	}
	return m.owner.ID
}

// away is the machine that it is on.
func (m *meaning) away() daemonapi.Away {
	if m.agent != nil {
		return m.agent.Away
	}
	return m.owner.Away
}

// meant is what is meant by an id or a prefix of one. It is the same for all commands: one that
// begins the ids of different pipelines, agent runs and agents is refused by all of them.
func (p *Daemon) meant(ctx context.Context, id string) (meaning, error) {
	if err := checkID(id); err != nil {
		return meaning{}, err
	}
	o, ownerErr := p.Owner(ctx, id)
	if ownerErr == nil && o.ID == id {
		return meaning{owner: o}, nil
	}
	a, agentErr := p.Agent(ctx, id)
	if agentErr == nil && (a.ID == id || ownerErr == nil && a.Owner == o.ID) {
		return meaning{owner: o, agent: &a}, nil
	}

	var lines []string
	for _, err := range []error{ownerErr, agentErr} {
		switch daemonapi.Code(err) {
		case "conflict":
			lines = append(lines, candidates(err)...)
		case "not_found":
		default:
			if err != nil {
				return meaning{}, err
			}
		}
	}
	switch {
	case ownerErr == nil && agentErr == nil:
		lines = []string{o.Line(), a.Line()}
	case ownerErr == nil && len(lines) > 0:
		lines = append(lines, o.Line())
	case agentErr == nil && len(lines) > 0:
		lines = append(lines, a.Line())
	case ownerErr == nil:
		return meaning{owner: o}, nil
	case agentErr == nil:
		return meaning{agent: &a}, nil
	case len(lines) == 0:
		return meaning{}, term.Unknown("pipeline or agent", id, "list them with: stopgate pipeline list --all, stopgate agent list --all")
	}
	return meaning{}, term.Ambiguous(id, lines)
}

// candidates are the lines in which the daemon lists what begins with a prefix.
func candidates(err error) []string {
	refusal, ok := errors.AsType[*daemonapi.Error](err)
	switch {
	case !ok:
		return nil
	case refusal.Hint == "":
		return []string{"  " + refusal.Error()} // an older daemon only counts them
	}
	return strings.Split(refusal.Hint, "\n")
}

// resolve finds the pipeline or agent run that an id stands for: its own, a prefix of it, or that of
// one of its agents.
func (p *Daemon) resolve(ctx context.Context, id string) (string, error) {
	m, err := p.meant(ctx, id)
	if err != nil {
		return "", err
	}
	return m.ownerID(), nil
}

// checkID refuses what can be no id, before anybody is asked.
func checkID(id string) error {
	if !daemonapi.IsID(id) {
		return term.BadUsage(fmt.Errorf("invalid id %s", term.Shown(cmp.Or(id, `""`))), "an id consists of the characters 0-9 and a-f; a prefix is enough")
	}
	return nil
}

// ids wants arguments that a check lets through, and of these the first ones to be ids. What
// cannot be an id starts no daemon.
func ids(check cobra.PositionalArgs, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return err
		}
		for _, id := range args[:min(len(args), most)] {
			if err := checkID(id); err != nil {
				return err
			}
		}
		return nil
	}
}

// someArgs wants at least one argument.
func someArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return term.BadUsage(fmt.Errorf("%s needs at least one argument", term.Words(cmd)), "usage: "+cmd.UseLine())
}

// inState colours a text by the state of an owner or a step.
func inState(p term.Paint, state, text string) string {
	switch state {
	case ownerDone, "completed":
		return p.Green(text)
	case ownerFailed, ownerHeld:
		return p.Red(text)
	case ownerWaiting:
		return p.Yellow(text)
	case ownerCancelled, "exited":
		return p.Faint(text)
	}
	return text
}

// ownerIDs completes the ids of owners, in at most so many arguments.
func ownerIDs(kind string, live bool, most int) cobra.CompletionFunc {
	return completing(most, func(ctx context.Context, p *Daemon, _ []string) (ids []string) {
		all, _ := p.owners(ctx)
		for i := range all {
			o := &all[i]
			if o.Kind == kind && (!live || !atEnd(o)) {
				ids = append(ids, shortID(o.ID)+"\t"+plain.Line(o.Name)+" "+o.Status+o.On())
			}
		}
		return ids
	})
}

// each does something for every argument, also after one of them failed. The first failure is the
// command's exit code.
func (p *Daemon) each(ctx context.Context, args []string, do func(arg string) error) error {
	if len(args) == 1 {
		return do(args[0])
	}
	code := term.ExitOK
	for _, arg := range args {
		err := do(arg)
		if IsDown(err) || ctx.Err() != nil {
			return err
		}
		if err == nil {
			continue
		}
		c := term.Explain(p.explain(ctx, err))
		fmt.Fprintf(p.errOut, "stopgate: %s: %s\n", term.Shown(arg), term.Tame(c.Message))
		if c.Hint != "" {
			fmt.Fprintln(p.errOut, term.Tame(c.Hint))
		}
		code = cmp.Or(code, c.Code)
	}
	if code != term.ExitOK {
		return term.WithCode(nil, code)
	}
	return nil
}
