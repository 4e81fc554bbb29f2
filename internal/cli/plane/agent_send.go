package plane

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/cli/term"
)

func newAgentSend() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
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
		PreRunE: func(cmd *cobra.Command, _ []string) error { return forPeople(cmd, os.Environ()) },
		RunE: acting(func(ctx context.Context, p *Plane, args []string) error {
			a, err := p.someAgent(ctx, args[0])
			if err != nil {
				return err
			}
			request := client.Send{ID: client.NewID(), Message: strings.Join(args[1:], " ")}
			a, err = insist(ctx, p, func() (client.Agent, error) { return p.Client.Send(ctx, a.ID, request) })
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(p.out, a)
			}
			_, err = fmt.Fprintln(p.out, agentTitle(&a)+" "+willHear(&a))
			return err
		}),
		ValidArgsFunction: agentIDs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().SetInterspersed(false) // what is said may be about flags
	return cmd
}

// willHear is when an agent hears of what was sent.
func willHear(a *client.Agent) string {
	switch {
	case !a.Client:
		return "has it in its inbox"
	case a.Status == "queued" || !a.Ready:
		return "is told when it has started"
	}
	return "is told as soon as it is free"
}
