package plane

import (
	"cmp"
	"context"
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
	ownerRunning   = "running"
	ownerWaiting   = "waiting"
	ownerDone      = "done"
	ownerFailed    = "failed"
	ownerCancelled = "cancelled"
)

func ownerStates() []string {
	return []string{ownerRunning, ownerWaiting, ownerDone, ownerFailed, ownerCancelled}
}

// atEnd reports whether nothing moves the owner any more.
func atEnd(o *daemonapi.Owner) bool { return o.Status != ownerRunning && o.Status != ownerWaiting }

// shortID is enough of an id for people.
func shortID(id string) string { return id[:min(len(id), 8)] }

// kindWord is what people call an owner.
func kindWord(o *daemonapi.Owner) string {
	if o.Kind == "run" {
		return "agent run"
	}
	return "pipeline"
}

// groupWord is the command that is about such owners.
func groupWord(o *daemonapi.Owner) string {
	if o.Kind == "run" {
		return "agent"
	}
	return "pipeline"
}

// title is what people are told of an owner: "pipeline 3f9a12bc build".
func title(o *daemonapi.Owner) string {
	return kindWord(o) + " " + shortID(o.ID) + " " + plain.Line(o.Name)
}

// owners are all pipelines and agent runs, the newest first.
func (p *Plane) owners(ctx context.Context) ([]daemonapi.Owner, error) {
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

// resolve finds the owner that somebody means by an id, the beginning of one, or that of
// one of its agents.
func (p *Plane) resolve(ctx context.Context, id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	if daemonapi.IsOwnerID(id) {
		return id, nil
	}
	o, err := p.Owner(ctx, id)
	found := map[string]string{} // id → what it is
	switch daemonapi.Code(err) {
	case "conflict":
		err = p.ownersLike(ctx, id, found)
	case "not_found":
		err = p.agentsLike(ctx, id, found)
	default:
		return o.ID, err
	}
	if err != nil {
		return "", err
	}
	return onlyOne(id, found, "pipeline or agent", "see those there are with: stopgate pipeline list --all, stopgate agent list --all")
}

// ownersLike finds those whose id begins so.
func (p *Plane) ownersLike(ctx context.Context, id string, found map[string]string) error {
	all, err := p.owners(ctx)
	for i := range all {
		if strings.HasPrefix(all[i].ID, id) {
			found[all[i].ID] = fmt.Sprintf("%s %s, %s", kindWord(&all[i]), plain.Line(all[i].Name), all[i].Status)
		}
	}
	return err
}

// agentsLike finds the owners of agents whose id begins so.
func (p *Plane) agentsLike(ctx context.Context, id string, found map[string]string) error {
	agents, err := p.Agents(ctx)
	for _, a := range agents {
		if strings.HasPrefix(a.ID, id) {
			found[a.Owner] = "of agent " + plain.Line(a.Name)
		}
	}
	if err != nil || len(found) > 0 {
		return err
	}
	a, err := p.Agent(ctx, id) // also one that is no more
	switch {
	case err == nil:
		found[a.Owner] = "of agent " + plain.Line(a.Name)
	case daemonapi.Code(err) == "not_found":
		return nil
	}
	return err
}

// onlyOne is the id that was meant.
func onlyOne(id string, found map[string]string, what, hint string) (string, error) {
	switch len(found) {
	case 0:
		return "", term.WithHint(fmt.Errorf("there is no %s %s", what, id), hint)
	case 1:
		for only := range found {
			return only, nil
		}
	}
	lines := []string{}
	for one, words := range found {
		lines = append(lines, "  "+one+"  "+words)
	}
	slices.Sort(lines)
	return "", term.WithHint(fmt.Errorf("%s could be any of %d", id, len(found)), strings.Join(lines, "\n"))
}

// checkID refuses what can be no id, before anybody is asked.
func checkID(id string) error {
	if !daemonapi.IsID(id) {
		return term.BadUsage(fmt.Errorf("%s is no id", term.Shown(cmp.Or(id, `""`))), "an id has the digits 0 to 9 and a to f; its beginning will do")
	}
	return nil
}

// ids wants arguments that a check lets through, the first of which are ids. Nobody is
// asked, and no daemon started, because of what can be none.
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
	return term.BadUsage(fmt.Errorf("%s takes at least one argument", cmd.CommandPath()), "usage: "+cmd.UseLine())
}

// inState colours a text by the state of an owner or a step.
func inState(p term.Paint, state, text string) string {
	switch state {
	case ownerDone, "completed":
		return p.Green(text)
	case ownerFailed:
		return p.Red(text)
	case ownerWaiting:
		return p.Yellow(text)
	case ownerCancelled, "exited":
		return p.Faint(text)
	}
	return text
}

// ownerIDs completes the ids of owners.
func ownerIDs(kind string, live bool) cobra.CompletionFunc {
	return completing(func(ctx context.Context, p *Plane, _ []string, begun string) (ids []string) {
		all, _ := p.owners(ctx)
		for i := range all {
			o := &all[i]
			if o.Kind == kind && strings.HasPrefix(o.ID, begun) && (!live || !atEnd(o)) {
				ids = append(ids, shortID(o.ID)+"\t"+plain.Line(o.Name)+" "+o.Status)
			}
		}
		return ids
	})
}

// each does something for every argument, also after one of them failed.
func (p *Plane) each(ctx context.Context, args []string, do func(arg string) error) error {
	if len(args) == 1 {
		return do(args[0])
	}
	failed := 0
	for _, arg := range args {
		err := do(arg)
		if IsDown(err) || ctx.Err() != nil {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintf(p.errOut, "stopgate: %s: %s\n", term.Shown(arg), term.Tame(err.Error()))
		}
	}
	if failed > 0 {
		return term.ErrSilent
	}
	return nil
}
