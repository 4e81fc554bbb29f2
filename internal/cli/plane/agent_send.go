package plane

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
)

func newAgentSend() *cobra.Command {
	cmd := acts(&cobra.Command{
		Use:   "send ID TEXT…",
		Short: "Write to an agent",
		Long: `Write to an agent, as if you typed it at its terminal. A client gets it as soon as it is free; one
that has ended is started again in its session. Where the agent waits for a decision that takes
words, this is the answer. What stands behind the id is all for the agent.

An agent is refused: it must not decide about others' work.

Exit code 0: it will be told. 1: there is no such agent, or it waits for another answer. 2: there
is nothing to say. 3: the daemon could not be started, or this is an agent's shell.`,
		Example: `  stopgate agent send 3f9a12bc use the staging database
  stopgate agent send 3f9a12bc --verbose is wanted too`,
		Args: ids(func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || strings.TrimSpace(strings.Join(args[1:], " ")) == "" {
				return term.BadUsage(fmt.Errorf("%s takes an id and what to say", cmd.CommandPath()), "usage: "+cmd.UseLine())
			}
			return nil
		}, 1),
		PreRunE:           forPeople,
		ValidArgsFunction: agentIDs(),
	}, func(ctx context.Context, p *Plane, args []string) error {
		a, err := p.someAgent(ctx, args[0])
		if err != nil {
			return err
		}
		request := daemonapi.Send{ID: daemonapi.NewID(), Message: strings.Join(args[1:], " ")}
		a, err = insist(ctx, p, func() (daemonapi.Agent, error) { return p.Client.Send(ctx, a.ID, request) })
		if err != nil {
			return err
		}
		return p.tell(a, agentTitle(&a)+" "+willHear(&a))
	})
	cmd.Flags().SetInterspersed(false) // what is said may be about flags
	return cmd
}

// willHear is when an agent hears of what was sent.
func willHear(a *daemonapi.Agent) string {
	switch {
	case !a.Client:
		return "has it in its inbox"
	case a.Status == "queued" || !a.Ready:
		return "is told when it has started"
	}
	return "is told as soon as it is free"
}

func newAgentKill() *cobra.Command {
	return acts(&cobra.Command{
		Use:   "kill ID…",
		Short: "End an agent's process; what follows is its on_dead",
		Long: `End an agent's process, with its terminal. The pipeline or the agent run goes on as its runbook says
for an agent that died: on_dead. To end all of it: stopgate pipeline cancel, stopgate agent cancel.

An agent is refused: it must not decide about others' work.

Exit code 0: it is being ended. 1: there is no such agent, or it has ended; the others are ended all
the same. 3: the daemon could not be started, or this is an agent's shell.`,
		Example:           `  stopgate agent kill 3f9a12bc`,
		Args:              ids(someArgs, math.MaxInt),
		PreRunE:           forPeople,
		ValidArgsFunction: agentIDs(),
	}, func(ctx context.Context, p *Plane, args []string) error {
		return p.each(ctx, args, func(arg string) error { return p.kill(ctx, arg) })
	})
}

func (p *Plane) kill(ctx context.Context, id string) error {
	a, err := p.someAgent(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case a.Status == "exited":
		return term.WithHint(fmt.Errorf("%s has ended already", agentTitle(&a)), "see those there are with: stopgate agent list")
	case !strings.HasPrefix(a.ID, id) && !strings.HasPrefix(a.Owner, id):
		return term.WithHint(fmt.Errorf("agent %s is there no longer: %s is in its place", shortID(id), agentTitle(&a)), "to end that one: stopgate agent kill "+shortID(a.ID))
	}
	request := daemonapi.Kill{ID: daemonapi.NewID()}
	ending, err := insist(ctx, p, func() (daemonapi.Agent, error) { return p.Client.Kill(ctx, a.ID, request) })
	if err != nil {
		return err
	}
	return p.tell(ending, agentTitle(&a)+" is being ended")
}
