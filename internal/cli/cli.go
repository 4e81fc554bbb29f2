// Package cli is the command line: each command is its options and a run.
package cli

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/entry"
	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/cli/plane"
	"github.com/stopgate/stopgate/internal/cli/session"
	"github.com/stopgate/stopgate/internal/cli/setup"
	"github.com/stopgate/stopgate/internal/cli/status"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// Main runs the command line and returns the exit code. Hooks come first, before
// the command tree is even built: the client waits for them.
func Main(args []string) int {
	if rest, isLaunch := launcher.LaunchCall(args); isLaunch {
		return launcher.RunLaunch(args[0], rest, func() error {
			root := newRoot(program.Called(args[0]))
			root.SetArgs([]string{"help", "claude"})
			return root.Execute()
		})
	}
	if code, isHook := entry.Answer(args); isHook {
		return code
	}
	if plane.IsErrand(args) {
		return plane.RunErrand(args[2:])
	}
	if program.Called(args[0]) == "agent-gauntlet" && slices.Equal(args[1:], []string{"--version"}) {
		fmt.Println(program.Version()) // bare, as that tool does
		return term.ExitOK
	}
	root := newProgram(args)
	root.SetArgs(args[1:])
	code := complainAs(root.Name(), root.Execute())
	if code == term.ExitUsage && forClient(args) {
		return term.ExitFailed
	}
	return code
}

// complainAs is complain that names the commands as the program has them that was called by that
// name.
func complainAs(name string, err error) int {
	if name != oddjobs {
		return term.Complain(err)
	}
	lines, code := term.Explain(err)
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, term.Tame(inOddjobs(line)))
	}
	return code
}

// forClient reports whether the command line is one that stands in the client's
// settings.
func forClient(args []string) bool {
	return program.Called(args[0]) == "conclaude" || len(args) > 1 && args[1] == "hook" || len(args) > 2 && args[1] == "agent" && args[2] == "hook"
}

// newProgram is the command tree under the name that the program was called by.
func newProgram(args []string) *cobra.Command {
	switch {
	case session.IsTUIDriver(args):
		return session.NewTUIDriver()
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
		setup.NewInit(), setup.NewHooks(), setup.NewTrust(), setup.NewApprove(), setup.NewDoctor(), status.NewStatus(), setup.NewValidate(), setup.NewOff(), setup.NewOn(), status.NewLog(),
		gates.NewRun(), gates.NewCheck(), gates.NewReview(), gates.NewDetect(), gates.NewList(), gates.NewHealth(), gates.NewViolations(), gates.NewClean(), gates.NewCI(),
		launcher.NewClaude(), launcher.NewProvider(), launcher.NewSupervisor(), session.NewQueue(), session.NewRegistry(),
		plane.NewStart(), plane.NewPipeline(), plane.NewAgent(entry.NewAgentHook()), plane.NewDecision(), plane.NewEmit(), plane.NewRunbook(), plane.NewDaemon(),
		setup.NewSchema(), entry.NewHook(), entry.NewStopHook(), entry.NewSupervisorHook(), setup.NewUninstall(), newVersion(),
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
		Args:          term.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	term.FilterOutput(root)
	cobra.EnableCommandSorting = false // they stand in the order in which one needs them
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.SetFlagErrorFunc(term.FlagError)
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
			if err := term.NoArgs(about, rest); err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:                   "version",
		Short:                 "Print the version",
		Example:               "  stopgate version",
		DisableFlagsInUseLine: true,
		Args:                  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "stopgate %s %s/%s %s\n", program.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}
