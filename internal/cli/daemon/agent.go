package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// NewAgent has hook as one of its commands.
func NewAgent(hook *cobra.Command) *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "agent",
		Short: "List, attach to, message and stop agents",
		Long: `List, attach to, message and stop the agents that the daemon started: those that work on a
step of a pipeline, and those that run alone. An id prefix is enough.`,
		Example: `  stopgate agent list
  stopgate agent attach 3f9a12bc
  stopgate agent send 3f9a12bc use the staging database`,
	}, newAgentList(), newOwnerShow("agent"), newAgentAttach(), newAgentLogs(), newAgentSend(), newAgentKill(), newOwnerWait("agent"), newOwnerCancel("agent"), newOwnerResume("agent"), hook)
}

func newAgentList() *cobra.Command {
	var n narrow
	var cmd *cobra.Command
	cmd = lists(&cobra.Command{
		Use:   "list",
		Short: "List agents and their status",
		Long: `List agents with the pipeline or agent run that they belong to. STATUS is running, starting
(Claude Code has not called a hook yet), parked (until the model's API works again), waiting (for
your decision), queued (until another agent ends) or exited. --all adds agent runs that have ended.
In a fleet, those of all machines are listed; HOST is . for this machine, and for one that does
not answer it includes the age of the entry.

Exit code 0: listed, or no daemon is running. 3: the daemon crashed or does not answer.`,
		Example: `  stopgate agent list
  stopgate agent list --all --since 1d
  stopgate agent list --host vps
  stopgate agent list --watch
  stopgate agent list --json | jq -r '.[].id'`,
		PreRunE: func(*cobra.Command, []string) error { return n.check(cmd) },
	}, "include agent runs that have ended", func(ctx context.Context, p *Daemon, all bool) (term.Glimpse, error) {
		if err := p.checkHost(ctx, n.host); err != nil {
			return nil, err
		}
		agents, err := p.agents(ctx, n.filter(), all)
		return agentList(agents, time.Now), err
	})
	n.flags(cmd, "agents that started", 0, "with --all, include at most this many agent runs")
	return cmd
}

// agents are those that there are; with all also the agent runs that are at their end.
func (p *Daemon) agents(ctx context.Context, f daemonapi.Filter, all bool) ([]daemonapi.Agent, error) {
	runsFilter := f
	f.Limit = 0
	agents, err := p.SomeAgents(ctx, f)
	listed := append([]daemonapi.Agent{}, agents...)
	if err != nil || !all {
		return listed, err
	}

	runs, err := p.Runs(ctx, runsFilter)
	if err != nil {
		return nil, err
	}

	for i := range runs {
		r := &runs[i]
		if slices.ContainsFunc(agents, func(a daemonapi.Agent) bool { return a.Owner == r.ID }) {
			continue
		}
		a := daemonapi.Agent{Name: r.Name, Owner: r.ID, Step: r.Step, Started: r.Created, Away: r.Away}
		if r.Agent != nil {
			a = agentOf(r)
		}
		a.Status = r.Status
		listed = append(listed, a)
	}
	return listed, nil
}

// agentList is agents at one moment.
func agentList(agents []daemonapi.Agent, now func() time.Time) term.Glimpse {
	return term.List[daemonapi.Agent]{
		All:  agents,
		Fact: func(a *daemonapi.Agent) string { return strings.Join(agentRow(a), "  ") + a.On() },
		Draw: func(p term.Paint, width, height int) []string { return agentLines(agents, now(), p, width, height) },
	}
}

// agentRow is the agent in the columns that do not change by themselves.
func agentRow(a *daemonapi.Agent) []string {
	id, signal := "-", "-"
	if a.ID != "" {
		id = shortID(a.ID)
	}
	if a.Signal != "" {
		signal = plain.Line(a.Signal)
	}
	return []string{id, plain.Line(a.Name), shortID(a.Owner), plain.Line(a.Step), a.State(), signal}
}

func agentLines(agents []daemonapi.Agent, now time.Time, p term.Paint, width, height int) []string {
	if len(agents) == 0 {
		return []string{term.Cut("no agents", width), p.Faint(term.Cut("list what you can start: stopgate start", width))}
	}

	head := []string{"ID", "NAME", "OWNER", "STEP", "STATUS", "SIGNAL", "AGE"}
	costs := slices.ContainsFunc(agents, func(a daemonapi.Agent) bool { return a.USD > 0 })
	if costs {
		head = append(head, "COST")
	}

	rows := [][]string{head}
	var away []daemonapi.Away
	for i := range agents {
		away = append(away, agents[i].Away)
		row := append(agentRow(&agents[i]), term.Age(agents[i].Started, now))
		if costs {
			row = append(row, cmp.Or(spent(agents[i].USD, 0), "-"))
		}
		rows = append(rows, row)
	}

	colour := withHosts(rows, 1, p, away, func(row, column int, text string) string {
		if column == 4 {
			return inState(p, agents[row].Status, text)
		}
		return text
	})
	return term.Fit(term.Table(rows, width, term.Headed(p, colour)), height)
}

// agentTitle is what people are told of an agent: "agent 0d9a4d52 worker".
func agentTitle(a *daemonapi.Agent) string {
	return strings.TrimSpace("agent "+shortID(a.ID)+" "+plain.Line(a.Name)) + a.On()
}

// findAgent finds the agent that somebody means: by its id or the beginning of it, or by
// the pipeline or agent run that has it, or had it last. One that never had any gives an
// agent without an id.
func (p *Daemon) findAgent(ctx context.Context, id string) (daemonapi.Agent, error) {
	m, err := p.meant(ctx, id)
	if err != nil {
		return daemonapi.Agent{}, err
	}
	if m.agent != nil {
		return *m.agent, nil
	}
	o := &m.owner
	if o.Agent != nil {
		return agentOf(o), nil
	}
	for _, visit := range slices.Backward(o.Steps) {
		if visit.Agent != "" {
			return p.Agent(ctx, visit.Agent)
		}
	}
	return daemonapi.Agent{Owner: o.ID, Away: o.Away}, nil
}

// agentOf is the agent that an owner has. It is where the owner is.
func agentOf(o *daemonapi.Owner) daemonapi.Agent {
	a := *o.Agent
	a.Away = o.Away
	return a
}

// errNoAgent says that somebody meant a pipeline that has no agent.
var errNoAgent = errors.New("it has no agent")

// someAgent finds the agent that somebody means, where there is one.
func (p *Daemon) someAgent(ctx context.Context, id string) (daemonapi.Agent, error) {
	a, err := p.findAgent(ctx, id)
	if err == nil && a.ID == "" {
		err = term.WithHint(fmt.Errorf("%s: %w", id, errNoAgent), "list agents with: stopgate agent list")
	}
	return a, err
}

// agentIDs completes the ids of agents, in at most so many arguments.
func agentIDs(most int) cobra.CompletionFunc {
	return completing(most, func(ctx context.Context, p *Daemon, _ []string) (words []string) {
		all, _ := p.Agents(ctx)
		for i := range all {
			words = append(words, shortID(all[i].ID)+"\t"+plain.Line(all[i].Name)+" "+all[i].Status+all[i].On())
		}
		return words
	})
}
