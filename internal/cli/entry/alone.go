package entry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/stop"
)

// The commands here answer a stop by one keeper alone. Whatever stands behind their names, the
// client gets an answer, and the exit code is 0: to Claude Code 2 means block. So Answer runs them
// before the tree is built, which only documents them.

// NewStopHook documents the command.
func NewStopHook() *cobra.Command {
	return &cobra.Command{
		Use:   "stop-hook",
		Short: "Answer a stop with the gates alone (payload on stdin, answer on stdout)",
		Long: `Answer Claude Code's Stop hook with the gates alone. The answer is one JSON object on
one line for every outcome, with decision, status and message; a block also has
reason and stopReason.

Exit code: always 0.`,
		Example:               "  stopgate stop-hook < payload.json",
		DisableFlagsInUseLine: true,
		RunE:                  func(*cobra.Command, []string) error { return term.WithCode(nil, stopHook()) },
	}
}

func stopHook() int {
	return answerAlone("Stop hook error: ", stop.StopHookFailed,
		func(s *stop.Service) stop.Reply { return s.StopHook(context.Background(), os.Stdin) })
}

// NewSupervisorHook documents the command.
func NewSupervisorHook() *cobra.Command {
	return &cobra.Command{
		Use:   "supervisor-hook",
		Short: "Answer a stop with a supervisor review alone (payload on stdin, answer on stdout)",
		Long: `Answer Claude Code's Stop hook with the supervisor alone: a fork of the session reviews
the work and says whether it is complete. If it is not, the agent continues with the
feedback. "stopgate claude" with CCC_SUPERVISOR=1 installs this hook.

If "stopgate hook" is installed too, it runs the review after the gates, and this
command answers {}.

Exit code: always 0.`,
		Example:               "  ccc supervisor-hook < payload.json",
		DisableFlagsInUseLine: true,
		RunE:                  func(*cobra.Command, []string) error { return term.WithCode(nil, supervisorHook()) },
	}
}

func supervisorHook() int {
	return answerAlone("stopgate: supervisor: ", stop.Telling,
		func(s *stop.Service) stop.Reply { return s.SupervisorHook(context.Background(), os.Stdin) })
}

// NewAgentHook documents the command.
func NewAgentHook() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "hook",
		Short: "Answer a hook of an agent",
		Long: `Answer a hook of an agent with the agent's lifecycle alone, for settings that you write
yourself. The agents that the daemon starts call "stopgate hook", which does the same after the
gates.`,
		Example: `  stopgate agent hook stop ID < payload.json`,
	}, &cobra.Command{
		Use:   "stop ID",
		Short: "Answer a stop with the agent's lifecycle alone (payload on stdin, answer on stdout)",
		Long: `Answer Claude Code's Stop hook with the lifecycle of one agent. The stop is allowed once the
agent has signalled; until then on_stop decides. It is also allowed for an agent that the daemon
did not start, and while the daemon is not running, unless lifecycle.when_daemon_down is block. An
id prefix is enough.

Exit code: always 0.`,
		Example:               "  stopgate agent hook stop ID < payload.json",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// To Claude Code 2 means block.
			return term.WithCode(term.WithHint(errors.New("the agent's id is missing"), "usage: "+cmd.UseLine()), term.ExitFailed)
		},
	})
}

func agentHook(agent string) int {
	return answerAlone("stopgate: the stop was not checked: ", stop.Telling,
		func(s *stop.Service) stop.Reply {
			switch ids := agentdir.Find(s.StateDir, agent); len(ids) {
			case 0: // the daemon did not start it
			case 1:
				agent = ids[0]
			default:
				text := fmt.Sprintf("stopgate: the stop was not checked: agent %s is ambiguous (%d matches)", agent, len(ids))
				return stop.Telling(text)
			}
			return s.AgentStop(context.Background(), agent, os.Stdin)
		})
}

// answerAlone prints the answer of one keeper. Where it cannot even be asked, that is told in
// the form that its caller knows.
func answerAlone(failed string, telling func(message string) stop.Reply, answer func(*stop.Service) stop.Reply) int {
	var reply stop.Reply
	if service, err := newService(); err != nil {
		reply = telling(failed + err.Error())
	} else {
		reply = answer(service)
	}
	_, _ = os.Stdout.Write(reply.Stdout) // a client that is gone needs no answer
	return term.ExitOK
}

// isCall recognises a command by its name, unless help is asked for.
func isCall(args []string, name string) bool {
	return len(args) > 1 && args[1] == name && !asksForHelp(args[2:])
}

// agentHookCall recognises "stopgate agent hook stop ID".
func agentHookCall(args []string) (agent string, is bool) {
	if len(args) < 5 || args[1] != "agent" || args[2] != "hook" || args[3] != "stop" {
		return "", false
	}
	return args[4], !strings.HasPrefix(args[4], "-")
}
