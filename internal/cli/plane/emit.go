package plane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewEmit() *cobra.Command {
	cmd := term.Group(&cobra.Command{
		Use:   "emit",
		Short: "Tell the daemon something about an agent",
		Long: `Tell the daemon something about an agent that it started. Agents call this themselves. What
is told goes into the journal, so that nothing is lost where no daemon runs; none is started.`,
		Example: `  stopgate emit agent:signal --agent ID complete
  stopgate emit agent:idle --agent ID`,
	}, newEmitSignal(), newEmitIdle(), newEmitPrompt())
	cmd.FParseErrWhitelist.UnknownFlags = true // an event that there is not is what to complain about
	return cmd
}

func newEmitSignal() *cobra.Command {
	return emits(&cobra.Command{
		Use:   event.AgentSignal + " --agent ID [SIGNAL]",
		Short: "Say that the work is complete, or that a person is needed",
		Long: `Say how the work stands. SIGNAL is one of

  complete     the work is done: the step is completed
  escalate     a person has to decide something
  continue     it goes on; this is only logged

or JSON: {"kind": "complete", "message": "what a person should know"}; "action" may stand
for "kind". "-" means standard input, and so does no SIGNAL where that is no terminal.

Exit code 0: it is on record. 1: it could not be written. 2: it was not understood; nothing
was written.`,
		Example: `  stopgate emit agent:signal --agent ID complete
  stopgate emit agent:signal --agent ID '{"kind": "escalate", "message": "Which database?"}'
  echo complete | stopgate emit agent:signal --agent ID -`,
		Args: term.AtMostOneArg,
	}, func(args []string) (event.Word, string, error) {
		text, err := signalText(args)
		if err != nil {
			return event.Word{}, "", err
		}
		s, err := parseSignal(text)
		if err != nil {
			return event.Word{}, "", term.BadUsage(err, signalForms)
		}
		return event.Word{Kind: s.kind, Message: s.message}, "signalled " + s.kind, nil
	})
}

func newEmitIdle() *cobra.Command {
	var prompt string
	cmd := emits(&cobra.Command{
		Use:   event.AgentIdle + " --agent ID",
		Short: "Say that an agent has nothing to do",
		Long: `Say that an agent has nothing to do: what its runbook has for on_idle is done.

Exit code 0: it is on record. 1: it could not be written. 2: the command line was not understood.`,
		Example: `  stopgate emit agent:idle --agent ID`,
		Args:    term.NoArgs,
	}, func([]string) (word event.Word, said string, err error) {
		if prompt != "" && !isToken(prompt) {
			err = term.BadUsage(fmt.Errorf("--prompt %s is no id of a prompt", term.Shown(prompt)), "it is what the client calls prompt_id")
		}
		return event.Word{Prompt: prompt}, "told: idle", err
	})
	cmd.Flags().StringVar(&prompt, "prompt", "", "the client's prompt_id: several for one prompt count once")
	return cmd
}

// promptTypes are what a client can ask for.
func promptTypes() []string {
	return []string{"permission", "idle", "plan_approval", "question", "other"}
}

func newEmitPrompt() *cobra.Command {
	var kind string
	cmd := emits(&cobra.Command{
		Use:   event.AgentPrompt + " --agent ID --type TYPE",
		Short: "Say that an agent's client asks for something",
		Long: `Say that an agent's client asks for something and waits: what its runbook has for on_prompt
is done. TYPE is ` + strings.Join(promptTypes(), ", ") + `.

Exit code 0: it is on record. 1: it could not be written. 2: the command line was not understood.`,
		Example: `  stopgate emit agent:prompt --agent ID --type permission`,
		Args:    term.NoArgs,
	}, func([]string) (word event.Word, said string, err error) {
		return event.Word{Type: kind}, "told: " + kind + " prompt", oneOf("--type", kind, promptTypes())
	})
	cmd.Flags().StringVar(&kind, "type", "other", "what it asks for")
	return cmd
}

// emits makes a command that puts a word about an agent on record: an event of the command's
// name. said is what its caller reads then.
func emits(cmd *cobra.Command, say func(args []string) (word event.Word, said string, err error)) *cobra.Command {
	agent := cmd.Flags().String("agent", "", "the agent's id")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		word, said, err := say(args)
		if err != nil {
			return err
		}
		word.Agent = *agent
		return emit(cmd, cmd.Name(), word, said)
	}
	return cmd
}

// oneOf refuses a flag's value that is none of a few words, and guesses which was meant.
func oneOf(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	hint := document.Hint(value, words, "it is one of: "+strings.Join(words, ", "))
	return term.BadUsage(fmt.Errorf("unknown %s %s", flag, term.Shown(value)), hint)
}

// isToken reports whether a word can be an id: short, and nothing that a shell, a path
// or a line of text could take for something else.
func isToken(word string) bool { return plain.IsWord(word, ".:", 128) && word[0] != '-' }

// stdinPatience is the longest wait for a signal on standard input: an agent's shell may
// leave it open for ever.
const stdinPatience = 10 * time.Second

// signalText is what was given as the signal.
func signalText(args []string) (string, error) {
	if len(args) == 1 && args[0] != "-" {
		return args[0], nil
	}
	if len(args) == 0 && xterm.IsTerminal(int(os.Stdin.Fd())) {
		return "", term.BadUsage(errors.New("there is no signal"), signalForms)
	}
	text, err := hook.Read(os.Stdin, stdinPatience)
	if err != nil {
		return "", term.BadUsage(fmt.Errorf("standard input: %w", err), signalForms)
	}
	return string(text), nil
}

// emit puts a word about an agent on record, and says so.
func emit(cmd *cobra.Command, name string, word event.Word, said string) error {
	switch {
	case word.Agent == "":
		return term.BadUsage(errors.New("--agent is missing"), "it is the id of the agent, as in STOPGATE_AGENT_ID")
	case !isToken(word.Agent):
		return term.BadUsage(fmt.Errorf("--agent %s is no id of an agent", term.Shown(word.Agent)), "see: stopgate agent list")
	}
	state, err := paths.StateDir()
	if err != nil {
		return err
	}
	agents := emitters{state: state, own: agentdir.FromEnviron(os.Environ())}
	if word.Agent, err = agents.meant(word.Agent); err != nil {
		return err
	}
	path, _ := paths.GlobalConfig()      // without a home there is none
	global, _ := config.LoadGlobal(path) // what it cannot read is at its default
	record := event.Record{Call: journal.NewID(), Kind: event.Emitted, Event: name, Word: &word}
	if _, err := stop.Journal(state, global).Append(&record); err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), said)
	if !agents.known(word.Agent) {
		fmt.Fprintf(cmd.ErrOrStderr(), "stopgate: no agent %s is known here\n", word.Agent)
	}
	if !daemonRuns(cmd.Context(), state) {
		fmt.Fprintln(cmd.ErrOrStderr(), "stopgate: no daemon is running; it will be read when one does")
	}
	return nil
}

// daemonRuns reports whether somebody answers on the socket.
func daemonRuns(ctx context.Context, stateDir string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := daemonapi.At(stateDir).Version(ctx)
	return !IsDown(err)
}
