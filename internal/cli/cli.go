// Package cli is the command line: each command is its options and a run.
package cli

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/sys/program"
)

// Main runs the command line and returns the exit code. Hooks come first, before
// the command tree is even built: the client waits for them.
func Main(args []string) int {
	if rest, isLaunch := launchCall(args); isLaunch {
		return runLaunch(args[0], rest, func() error {
			root := newRoot(program.Called(args[0]))
			root.SetArgs([]string{"help", "claude"})
			return root.Execute()
		})
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

// complainAs is complain that names the commands as the program has them that was called by that
// name.
func complainAs(name string, err error) int {
	if name != oddjobs {
		return complain(err)
	}
	lines, code := explain(err)
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, tame(inOddjobs(line)))
	}
	return code
}

// isStopHook recognises "stopgate stop-hook", whatever follows it: the client must
// get an answer.
func isStopHook(args []string) bool {
	if len(args) < 2 || args[1] != "stop-hook" {
		return false
	}
	return len(args) == 2 || args[2] != "-h" && args[2] != "--help"
}

// forClient reports whether the command line is one that stands in the client's
// settings.
func forClient(args []string) bool {
	return program.Called(args[0]) == "conclaude" || len(args) > 1 && args[1] == "hook" || len(args) > 2 && args[1] == "agent" && args[2] == "hook"
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
		newStart(), newPipeline(), newAgent(newAgentHook()), newDecision(), newEmit(), newRunbook(), newDaemon(),
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
