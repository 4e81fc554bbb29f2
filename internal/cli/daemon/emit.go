package daemon

import (
	"context"
	"errors"
	"fmt"
	"math"
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
		Short: "Report an event of an agent to the daemon",
		Long: `Report an event of an agent to the daemon. Agents call this themselves. Events are written to the
journal, so none is lost while the daemon is not running. This does not start the daemon.`,
		Example: `  stopgate emit agent:signal --agent ID complete
  stopgate emit agent:idle --agent ID`,
	}, newEmitSignal(), newEmitIdle(), newEmitPrompt())
	cmd.FParseErrWhitelist.UnknownFlags = true // an event that there is not is what to complain about
	return cmd
}

func newEmitSignal() *cobra.Command {
	return emits(&cobra.Command{
		Use:   event.AgentSignal + " --agent ID [SIGNAL]",
		Short: "Signal that the work is complete, has failed or needs a person",
		Long: `Signal the state of the work. SIGNAL is one of

  complete     the work is done; completes the step
  fail         the work cannot be done; fails the step
  escalate     a person has to decide something
  continue     still working; only logged

or JSON: {"kind": "complete", "message": "what a person should know", "data": {"pr": "12"}}.
Later steps see the message as ${steps.STEP.signal} and the data as ${steps.STEP.output.pr}.
"action" is accepted instead of "kind". "-" reads SIGNAL from standard input, and so does leaving
it out unless standard input is a terminal.

Exit code 0: recorded. 1: it could not be written, or it is about another agent than the one that
runs this. 2: invalid signal, or no such agent; nothing was written.`,
		Example: `  stopgate emit agent:signal --agent ID complete
  stopgate emit agent:signal --agent ID \
    '{"kind": "escalate", "message": "Which database?"}'
  echo complete | stopgate emit agent:signal --agent ID -`,
		Args:              term.AtMostOneArg,
		ValidArgsFunction: term.Completion(1, func(context.Context, []string) []string { return signals() }),
	}, func(args []string) (event.Word, string, error) {
		text, err := signalText(args)
		if err != nil {
			return event.Word{}, "", err
		}
		s, err := parseSignal(text)
		if err != nil {
			return event.Word{}, "", err
		}
		return event.Word{Kind: s.kind, Message: s.message, Data: s.data}, "signalled " + s.kind, nil
	})
}

func newEmitIdle() *cobra.Command {
	var prompt string
	cmd := emits(&cobra.Command{
		Use:   event.AgentIdle + " --agent ID",
		Short: "Report that an agent is idle",
		Long: `Report that an agent is idle, which triggers the runbook's on_idle action.

Exit code 0: recorded. 1: it could not be written, or it is about another agent than the one that
runs this. 2: invalid command line, or no such agent; nothing was written.`,
		Example: `  stopgate emit agent:idle --agent ID`,
		Args:    term.NoArgs,
	}, func([]string) (word event.Word, said string, err error) {
		if prompt != "" && !isToken(prompt) {
			err = term.BadUsage(fmt.Errorf("invalid --prompt %s", term.Shown(prompt)), "it is the prompt_id that Claude Code passes to hooks")
		}
		return event.Word{Prompt: prompt}, "recorded: idle", err
	})
	cmd.Flags().StringVar(&prompt, "prompt", "", "prompt_id of Claude Code; repeated reports for one prompt count once")
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
		Short: "Report that an agent is asking for something",
		Long: `Report that an agent asks for something and waits, which triggers the runbook's on_prompt
action. TYPE is ` + strings.Join(promptTypes(), ", ") + `.

Exit code 0: recorded. 1: it could not be written, or it is about another agent than the one that
runs this. 2: invalid command line, or no such agent; nothing was written.`,
		Example: `  stopgate emit agent:prompt --agent ID --type permission`,
		Args:    term.NoArgs,
	}, func([]string) (word event.Word, said string, err error) {
		return event.Word{Type: kind}, "recorded: " + kind + " prompt", oneOf("--type", kind, promptTypes())
	})
	cmd.Flags().StringVar(&kind, "type", "other", "what it asks for")
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(promptTypes(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// emits makes a command that puts a word about an agent on record: an event of the command's
// name. said is what its caller reads then.
func emits(cmd *cobra.Command, say func(args []string) (word event.Word, said string, err error)) *cobra.Command {
	agent := cmd.Flags().String("agent", "", "the agent's id (an id prefix is enough)")
	_ = cmd.RegisterFlagCompletionFunc("agent", agentIDs(math.MaxInt)) // the flag is there
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
	hint := document.Hint(value, words, "use one of: "+strings.Join(words, ", "))
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
		return "", misspelt(errors.New("the signal is missing"))
	}
	text, err := hook.Read(os.Stdin, stdinPatience)
	if err != nil {
		return "", misspelt(fmt.Errorf("standard input: %w", err))
	}
	return string(text), nil
}

// emit puts a word about an agent on record, and says so.
func emit(cmd *cobra.Command, name string, word event.Word, said string) error {
	switch {
	case word.Agent == "":
		return term.BadUsage(errors.New("--agent is missing"), "it is the agent's id; in an agent's shell: $STOPGATE_AGENT_ID")
	case !isToken(word.Agent):
		return term.BadUsage(fmt.Errorf("invalid --agent %s", term.Shown(word.Agent)), "list agents with: stopgate agent list")
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
	if !daemonRuns(cmd.Context(), state) {
		fmt.Fprintln(cmd.ErrOrStderr(), "stopgate: the daemon is not running; it reads this when it starts")
	}
	return nil
}

// daemonRuns reports whether a daemon answers on the socket.
func daemonRuns(ctx context.Context, stateDir string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := daemonapi.At(stateDir).Version(ctx)
	return !IsDown(err)
}
