package entry

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/lifecycle"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// newAgentHook documents the command; Main runs it before the tree is built.
func NewAgentHook() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Answer a hook of an agent's client",
		Long: `Answer a hook of an agent's client by the agent's lifecycle alone, for settings that you write
yourself. The daemon gives the agents that it starts "stopgate hook", which does the same, after
the gates.`,
		Example: `  stopgate agent hook stop ID < payload.json`,
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "stop ID",
		Short: "Answer a stop by the agent's lifecycle alone (payload on stdin, answer on stdout)",
		Long: `Answer the client's Stop hook by the lifecycle of one agent: it may stop when it has signalled;
otherwise its on_stop says what follows. An agent that the daemon did not start may stop, and so
may every agent whose daemon does not run, unless lifecycle.when_daemon_down is block.

Exit code: always 0.`,
		Example:               "  stopgate agent hook stop ID < payload.json",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// To the client 2 means block.
			return term.WithCode(term.WithHint(errors.New("the agent's id is missing"), "usage: "+cmd.UseLine()), term.ExitFailed)
		},
	})
	return cmd
}

// agentHookCall recognises "stopgate agent hook stop ID", whatever follows it: the client
// must get an answer.
func AgentHookCall(args []string) (agent string, is bool) {
	if len(args) < 5 || args[1] != "agent" || args[2] != "hook" || args[3] != "stop" {
		return "", false
	}
	return args[4], !strings.HasPrefix(args[4], "-")
}

func RunAgentHook(agent string) int {
	service, err := newService()
	if err != nil {
		text, _ := json.Marshal("stopgate: the agent was not held: " + err.Error()) // a string always encodes
		_, _ = os.Stdout.WriteString(`{"systemMessage":` + string(text) + "}\n")
		return term.ExitOK
	}
	reply := service.AgentStop(context.Background(), agent, os.Stdin)
	_, _ = os.Stdout.Write(reply.Stdout) // a client that is gone needs no answer
	return term.ExitOK
}

// signalProgram is by which agents signal.
func signalProgram() string {
	self, err := program.Stopgate()
	if err != nil {
		return "stopgate"
	}
	return lifecycle.SignalProgram(self, os.Environ())
}
