// Package cli is the command line: each command is its options and a run.
package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// The exit codes. What the client calls never uses exitUsage: to it 2 means
// block.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitCouldNotRun = 3
	exitInterrupted = 130
)

// Main runs the command line and returns the exit code. Hooks come first, before
// the command tree is even built: the client waits for them.
func Main(args []string) int {
	if rest, isLaunch := launchCall(args); isLaunch {
		return runLaunch(args[0], rest)
	}
	if isForeignCall(args) {
		return exitOK
	}
	if call, isHook := parseHookCall(args); isHook {
		return runHook(call)
	}
	if isStopHook(args) {
		return runStopHook()
	}
	if isSupervisorHook(args) {
		return runSupervisorHook()
	}
	if agent, is := agentHookCall(args); is {
		return runAgentHook(agent)
	}
	if isErrand(args) {
		return runErrand(args[2:])
	}
	if program.Called(args[0]) == "agent-gauntlet" && slices.Equal(args[1:], []string{"--version"}) {
		fmt.Println(program.Version()) // bare, as that tool does
		return exitOK
	}
	root := newProgram(args)
	root.SetArgs(args[1:])
	code := complainAs(root.Name(), root.Execute())
	if code == exitUsage && forClient(args) {
		return exitFailed
	}
	return code
}

// complain tells a person why a command failed and what to do about it.
func complain(err error) int { return complainAs("stopgate", err) }

// complainAs names the commands as the program has them that was called by that name. What
// stands in an error may come from anywhere, and must not steer the terminal.
func complainAs(name string, err error) int {
	say := func(text string) {
		if name == oddjobs {
			text = inOddjobs(text)
		}
		fmt.Fprintln(os.Stderr, tame(text))
	}
	var silent silentError
	if err == nil {
		return exitOK
	}
	if errors.As(err, &silent) {
		return exitFailed
	}
	var coded codeError
	if errors.As(err, &coded) && coded.error == nil {
		return coded.code
	}
	say("stopgate: " + err.Error())
	var usage usageError
	if errors.As(err, &usage) {
		say(usage.hint)
		return exitUsage
	}
	var hinted hintError
	if errors.As(err, &hinted) {
		say(hinted.hint)
	}
	if coded.error != nil {
		return coded.code
	}
	return exitFailed
}

// tame makes each line of a text plain, and leaves its white space at the beginning.
func tame(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = line[:len(line)-len(rest)] + plain.Line(rest)
	}
	return strings.Join(lines, "\n")
}

// isStopHook recognises "stopgate stop-hook", whatever follows it: the client must
// get an answer.
func isStopHook(args []string) bool {
	if len(args) < 2 || args[1] != "stop-hook" {
		return false
	}
	return len(args) == 2 || args[2] != "-h" && args[2] != "--help"
}

// isEventName tells events, also those of a newer client, from commands.
func isEventName(word string) bool {
	return word != "" && 'A' <= word[0] && word[0] <= 'Z'
}

// forClient reports whether the command line is one that stands in the client's
// settings.
func forClient(args []string) bool {
	return program.Called(args[0]) == "conclaude" || len(args) > 1 && args[1] == "hook" || len(args) > 2 && args[1] == "agent" && args[2] == "hook"
}

// silentError fails a command that has said everything already.
type silentError struct{}

func (silentError) Error() string { return "failed" }

// codeError ends a command with an exit code of its own. Without an error inside
// it, everything has been said already.
type codeError struct {
	error
	code int
}

func (e codeError) Unwrap() error { return e.error }

func (e codeError) Error() string {
	if e.error == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.error.Error()
}

// hintError adds a line that says what to do.
type hintError struct {
	error
	hint string
}

// usageError is a command line that cannot be understood.
type usageError struct {
	error
	hint string
}

// newProgram is the command tree under the name that the program was called by.
func newProgram(args []string) *cobra.Command {
	switch {
	case isTUIDriver(args):
		return newTUIDriver()
	case program.Called(args[0]) == oddjobs:
		return newOddjobs()
	}
	return newRoot(program.Called(args[0]))
}

func newRoot(name string) *cobra.Command {
	root := newTop(name)
	root.Short = "Decides whether a coding agent may stop"
	root.Long = `stopgate answers Claude Code's hooks: an agent may stop when the work is done,
and anyone can see why.

Exit codes of all commands but hooks: 0 done, 1 failed, 2 the command line or a
configuration was not understood, 3 could not run, 4 failed too often or was cancelled, 130
interrupted.`
	root.Example = `  stopgate init        set this project up
  stopgate doctor      prove that a block blocks
  stopgate log -f      watch what is decided
  stopgate start       see what this project's runbooks can do`
	root.AddCommand(
		newInit(), newHooks(), newTrust(), newApprove(), newDoctor(), newStatus(), newValidate(), newOff(), newOn(), newLog(),
		newRun(), newCheck(), newReview(), newDetect(), newList(), newHealth(), newViolations(), newClean(), newCI(),
		newClaude(), newProvider(), newSupervisor(), newQueue(), newRegistry(),
		newStart(), newPipeline(), newAgent(), newDecision(), newEmit(), newRunbook(), newDaemon(),
		newSchema(), newHook(), newStopHook(), newSupervisorHook(), newUninstall(), newVersion(),
	)
	return root
}

// newTop is the top of a command tree.
func newTop(name string) *cobra.Command {
	root := &cobra.Command{
		Use:           name,
		Version:       program.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	filterOutput(root)
	cobra.EnableCommandSorting = false // they stand in the order in which one needs them
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.SetFlagErrorFunc(flagError)
	return root
}

func flagError(cmd *cobra.Command, err error) error {
	return usageError{err, "see: " + cmd.CommandPath() + " --help"}
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]",
		Short:                 "Explain a command",
		Example:               "  stopgate help hooks install",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := noArgs(about, rest); err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// noArgs refuses arguments, and guesses the command that was meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see: " + cmd.CommandPath() + " --help"
	if !cmd.HasSubCommands() {
		return usageError{fmt.Errorf("%s takes no argument, got %q", cmd.CommandPath(), args[0]), hint}
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2 // letters
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return usageError{err, hint}
}

// atMostOne refuses flags that exclude each other.
func atMostOne(cmd *cobra.Command, names ...string) error {
	var set []string
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			set = append(set, "--"+name)
		}
	}
	if len(set) < 2 {
		return nil
	}
	return usageError{errors.New(strings.Join(set, " and ") + " exclude each other"), "see: " + cmd.CommandPath() + " --help"}
}

// oneArg wants exactly one argument.
func oneArg(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usageError{fmt.Errorf("%s takes one argument, got %d", cmd.CommandPath(), len(args)), "usage: " + cmd.UseLine()}
}
