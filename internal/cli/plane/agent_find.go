package plane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// agentTitle is what people are told of an agent: "agent 0d9a4d52 worker".
func agentTitle(a *client.Agent) string {
	return strings.TrimSpace("agent " + shortID(a.ID) + " " + plain.Line(a.Name))
}

// findAgent finds the agent that somebody means: by its id or the beginning of it, or by
// the pipeline or agent run that has it, or had it last. One that never had any gives an
// agent without an id.
func (p *Plane) findAgent(ctx context.Context, id string) (client.Agent, error) {
	if err := checkID(id); err != nil {
		return client.Agent{}, err
	}
	if !client.IsOwnerID(id) {
		if a, err := p.Agent(ctx, id); client.Code(err) != "not_found" {
			return a, err
		}
	}
	owner, err := p.resolve(ctx, id)
	if err != nil {
		return client.Agent{}, err
	}
	o, err := p.Owner(ctx, owner)
	if err != nil || o.Agent != nil {
		return *cmp.Or(o.Agent, &client.Agent{}), err
	}
	for _, visit := range slices.Backward(o.Steps) {
		if visit.Agent != "" {
			return p.Agent(ctx, visit.Agent)
		}
	}
	return client.Agent{Owner: o.ID}, nil
}

// errNoAgent says that somebody meant a pipeline that has no agent.
var errNoAgent = errors.New("it has no agent")

// someAgent finds the agent that somebody means, where there is one.
func (p *Plane) someAgent(ctx context.Context, id string) (client.Agent, error) {
	a, err := p.findAgent(ctx, id)
	if err == nil && a.ID == "" {
		err = term.WithHint(fmt.Errorf("%s: %w", id, errNoAgent), "see those there are with: stopgate agent list")
	}
	return a, err
}

// agentIDs completes the ids of agents. It starts no daemon.
func agentIDs(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	p, err := newPlane(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := p.Agents(cmd.Context()) // then there is nothing to complete
	var words []string
	for i := range all {
		if strings.HasPrefix(all[i].ID, begun) {
			words = append(words, shortID(all[i].ID)+"\t"+plain.Line(all[i].Name)+" "+all[i].Status)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
