// Package cli is the command line: each command is its options and a run.
package cli

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/daemon"
	"github.com/stopgate/stopgate/internal/cli/entry"
	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/cli/session"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// Main runs the command line and returns the exit code. Hooks come first, before
// the command tree is even built: Claude Code waits for them.
func Main(args []string) int {
	growStack(len(args))
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
	if code, isErrand := daemon.RunErrand(args); isErrand {
		return code
	}
	if program.Called(args[0]) == "agent-gauntlet" && slices.Equal(args[1:], []string{"--version"}) {
		fmt.Println(program.Version()) // bare, as that tool does
		return term.ExitOK
	}
	root := newProgram(args)
	if len(args) > 1 && strings.HasPrefix(args[1], cobra.ShellCompRequestCmd) {
		completeFiles(root) // it takes every other command a millisecond
	}
	root.SetArgs(args[1:])
	cmd, err := root.ExecuteC()
	complaint := explainAs(root.Name(), err)
	complaint.Print(os.Stderr)
	if forClaude(args) {
		if complaint.Code == term.ExitUsage {
			return term.ExitFailed
		}
		return complaint.Code
	}

	if complaint.Message != "" && asksForJSON(cmd, args[1:], err) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a reader that is gone shall not end us: the exit code tells
		_ = complaint.PrintJSON(cmd.OutOrStdout())
	}
	return complaint.Code
}

// growStack grows the stack while there is next to nothing on it. A hook needs this much, and would
// get there in four steps: each copies all frames and loads the tables that describe them.
//
//go:noinline
func growStack(i int) byte {
	var room [20 << 10]byte
	return room[i%len(room)]
}

// explainAs is term.Explain with the commands by the names that the program has them by.
func explainAs(name string, err error) term.Complaint {
	complaint := term.Explain(err)
	if name == oddjobs {
		complaint.Name = oddjobs
		complaint.Message, complaint.Hint = inOddjobs(complaint.Message), inOddjobs(complaint.Hint)
	}
	return complaint
}

// asksForJSON reports whether the command that failed was called with --json. Where it is the
// flags that were not understood, the words tell.
func asksForJSON(cmd *cobra.Command, words []string, err error) bool {
	flag := cmd.Flags().Lookup("json")
	if flag != nil && !term.IsFlagError(err) {
		return flag.Value.String() == "true"
	}
	if flag == nil && !cmd.HasSubCommands() {
		return false
	}
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	return slices.Contains(words, "--json")
}

// forClaude reports whether the command line is one that stands in Claude Code's
// settings.
func forClaude(args []string) bool {
	return program.Called(args[0]) == "conclaude" || len(args) > 1 && args[1] == "hook" || len(args) > 2 && args[1] == "agent" && args[2] == "hook"
}

// newProgram is the command tree under the name that the program was called by.
func newProgram(args []string) *cobra.Command {
	switch {
	case session.IsTUIDriver(args):
		return session.NewTUIDriver()
	case program.Called(args[0]) == oddjobs:
		return newOddjobs()
	case program.Called(args[0]) == launcher.ShortName:
		return newCCC()
	}
	return newRoot(program.Called(args[0]))
}

// Tree is the command tree, for what describes it.
func Tree() *cobra.Command { return newRoot("stopgate") }

func newRoot(name string) *cobra.Command {
	root := newTop(name)
	root.Short = "Decides whether a coding agent may stop"
	root.Long = whatItIs
	root.Example = "  stopgate init"
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newExitCodes())
	addCompletion(root, groupTools)
	addGuesses(root)
	fitSystem(root)
	showFirstScreen(root)
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
	term.FitHelp(root)
	cobra.EnableCommandSorting = false // they stand in the order in which one needs them
	root.CompletionOptions.HiddenDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp) // but see completeFiles
	root.SetHelpCommand(newHelp())
	root.SetFlagErrorFunc(term.FlagError)
	return root
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]",
		Short:                 "Show the help of a command",
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
