package daemon

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
		Short: "Send a message to an agent",
		Long: `Send a message to an agent, as if you typed it in its terminal. Claude Code gets it when it is
idle; an agent that has ended is restarted in its session. If the agent waits for a decision that
takes free text, the message is the answer. Everything after the id belongs to the message.

Agents cannot run this command: they must not decide about other agents' work.

Exit code 0: the message will be delivered. 1: the agent waits for a different kind of answer, or
this is an agent's shell. 2: no such agent, or the message is empty. 3: the daemon could not be
started, or the machine of the fleet that the agent is on does not answer.`,
		Example: `  stopgate agent send 3f9a12bc use the staging database
  stopgate agent send 3f9a12bc --verbose should work too`,
		Args: ids(func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || strings.TrimSpace(strings.Join(args[1:], " ")) == "" {
				return term.BadUsage(fmt.Errorf("%s needs an id and a message", term.Words(cmd)), "usage: "+cmd.UseLine())
			}
			return nil
		}, 1),
		PreRunE:           forPeople,
		ValidArgsFunction: agentIDs(1),
	}, func(ctx context.Context, p *Daemon, args []string) error {
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
	case !a.ClaudeCode:
		return "has the message in its inbox"
	case a.Status == "queued" || !a.Ready:
		return "gets the message when it has started"
	}
	return "gets the message when it is idle"
}

func newAgentKill() *cobra.Command {
	return acts(&cobra.Command{
		Use:   "kill ID…",
		Short: "Kill an agent's process",
		Long: `Kill an agent's process and its terminal. The pipeline or agent run continues with the runbook's
on_dead action. To end the whole run, use stopgate pipeline cancel or stopgate agent cancel.

Agents cannot run this command: they must not decide about other agents' work.

Exit code 0: being killed, or it had already ended. 1: it has been replaced, or this is an agent's shell. 2: no such agent. Others
are killed anyway. 3: the daemon could not be started, or the machine of the fleet that the agent is
on does not answer.`,
		Example:           `  stopgate agent kill 3f9a12bc`,
		Args:              ids(someArgs, math.MaxInt),
		PreRunE:           forPeople,
		ValidArgsFunction: agentIDs(math.MaxInt),
	}, func(ctx context.Context, p *Daemon, args []string) error {
		return p.each(ctx, args, func(arg string) error { return p.kill(ctx, arg) })
	})
}

func (p *Daemon) kill(ctx context.Context, id string) error {
	a, err := p.someAgent(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case a.Status == "exited":
		return p.tell(a, agentTitle(&a)+" had already ended")
	case !strings.HasPrefix(a.ID, id) && !strings.HasPrefix(a.Owner, id):
		return term.WithHint(fmt.Errorf("agent %s has been replaced by %s", shortID(id), agentTitle(&a)), "kill that one with: stopgate agent kill "+shortID(a.ID))
	}
	request := daemonapi.Kill{ID: daemonapi.NewID()}
	ending, err := insist(ctx, p, func() (daemonapi.Agent, error) { return p.Client.Kill(ctx, a.ID, request) })
	if err != nil {
		return err
	}
	return p.tell(ending, agentTitle(&a)+" is being killed")
}
