package plane

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// newAgent has hook as one of its commands.
func NewAgent(hook *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Look after agents: those of pipelines, and those that run alone",
		Long: `Look after the agents that the daemon started: those that work on a step of a pipeline, and
those that run alone. An id may be cut: its beginning will do.`,
		Example: `  stopgate agent list
  stopgate agent attach 3f9a12bc
  stopgate agent send 3f9a12bc use the staging database`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAgentList(), newOwnerShow("agent"), newAgentAttach(), newAgentLogs(), newAgentSend(), newAgentKill(), newOwnerWait("agent"), newOwnerCancel("agent"), newOwnerResume("agent"), hook)
	return cmd
}

func newAgentList() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the agents that there are now",
		Long: `List the agents that there are now, with the pipeline that they work for, or the agent run.
STATUS is running, starting (its client was not heard of yet), parked (until an error of the API is
over), waiting (for a person), queued (until there is room for it) or exited. With --all also those
that ran alone and are at their end.

Exit code 0: listed. 3: the daemon does not run.`,
		Example: `  stopgate agent list
  stopgate agent list --watch
  stopgate agent list --json | jq -r '.[].id'`,
		Args: term.NoArgs,
		RunE: Asking(func(ctx context.Context, p *Plane, _ []string) error {
			return showList(ctx, p, o, func(ctx context.Context) (*agentList, error) { return p.agents(ctx, o.all) })
		}),
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "also those that ran alone and are at their end")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.follow, "watch", false, "go on as they change, until Ctrl-C")
	return cmd
}

// agents are those that there are; with all also the agent runs that are at their end.
func (p *Plane) agents(ctx context.Context, all bool) (*agentList, error) {
	agents, err := p.Agents(ctx)
	if err != nil {
		return nil, err
	}
	l := &agentList{agents: append([]client.Agent{}, agents...), now: time.Now}
	if !all {
		return l, nil
	}
	runs, err := p.Runs(ctx, client.Filter{})
	if err != nil {
		return nil, err
	}
	for i := range runs {
		r := &runs[i]
		if slices.ContainsFunc(agents, func(a client.Agent) bool { return a.Owner == r.ID }) {
			continue
		}
		a := client.Agent{Name: r.Name, Owner: r.ID, Step: r.Step, Started: r.Created}
		if r.Agent != nil {
			a = *r.Agent
		}
		a.Status = r.Status
		l.agents = append(l.agents, a)
	}
	return l, nil
}

// agentList is agents at one moment.
type agentList struct {
	agents []client.Agent
	now    func() time.Time
}

func (l *agentList) JSON() any { return l.agents }

func (l *agentList) Over() bool { return false }

func (l *agentList) Facts() []string {
	var all []string
	for i := range l.agents {
		all = append(all, strings.Join(agentRow(&l.agents[i]), "  "))
	}
	return all
}

// agentRow is the agent in the columns that do not change by themselves.
func agentRow(a *client.Agent) []string {
	id, signal := "-", "-"
	if a.ID != "" {
		id = shortID(a.ID)
	}
	if a.Signal != "" {
		signal = plain.Line(a.Signal)
	}
	return []string{id, plain.Line(a.Name), shortID(a.Owner), plain.Line(a.Step), agentState(a), signal}
}

func (l *agentList) Lines(p term.Paint, width, height int) []string {
	if len(l.agents) == 0 {
		return []string{term.Cut("no agents", width), p.Faint(term.Cut("see what can be started with: stopgate start", width))}
	}
	now := l.now()
	head := []string{"ID", "NAME", "OWNER", "STEP", "STATUS", "SIGNAL", "AGE"}
	costs := slices.ContainsFunc(l.agents, func(a client.Agent) bool { return a.USD > 0 })
	if costs {
		head = append(head, "COST")
	}
	rows := [][]string{head}
	for i := range l.agents {
		row := append(agentRow(&l.agents[i]), ageOf(l.agents[i].Started, now))
		if costs {
			row = append(row, cmp.Or(spent(l.agents[i].USD, 0), "-"))
		}
		rows = append(rows, row)
	}
	return term.Fit(term.Table(rows, width, func(row, column int, text string) string {
		switch {
		case row == 0:
			return p.Faint(text)
		case column == 4:
			return inState(p, l.agents[row-1].Status, text)
		}
		return text
	}), height)
}

// showOwner shows an owner once.
func (p *Plane) showOwner(ctx context.Context, id string, asJSON bool) error {
	o, err := p.Owner(ctx, id)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(p.out, o)
	}
	s := ownerShow{owner: o, now: time.Now}
	s.print(p)
	if d := o.Decision; d == nil && o.Status == ownerFailed {
		fmt.Fprintln(p.errOut, term.PaintFor(p.errOut).Faint("let it go on with: stopgate "+groupWord(&o)+" resume "+shortID(o.ID)))
	}
	return nil
}
