package plane

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/cli/term"
)

func newAgentKill() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "kill ID…",
		Short: "End an agent's process; what follows is its on_dead",
		Long: `End an agent's process, with its terminal. The pipeline or the agent run goes on as its runbook says
for an agent that died: on_dead. To end all of it: stopgate pipeline cancel, stopgate agent cancel.

An agent is refused: it must not decide about others' work.

Exit code 0: it is being ended. 1: there is no such agent, or it has ended; the others are ended all
the same. 3: the daemon could not be started, or this is an agent's shell.`,
		Example: `  stopgate agent kill 3f9a12bc`,
		Args:    ids(someArgs, math.MaxInt),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return forPeople(cmd, os.Environ()) },
		RunE: acting(func(ctx context.Context, p *Plane, args []string) error {
			return p.each(ctx, args, func(arg string) error { return p.kill(ctx, arg, asJSON) })
		}),
		ValidArgsFunction: agentIDs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *Plane) kill(ctx context.Context, id string, asJSON bool) error {
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
	request := client.Kill{ID: client.NewID()}
	ending, err := insist(ctx, p, func() (client.Agent, error) { return p.Client.Kill(ctx, a.ID, request) })
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(p.out, ending)
	}
	_, err = fmt.Fprintln(p.out, agentTitle(&a)+" is being ended")
	return err
}
