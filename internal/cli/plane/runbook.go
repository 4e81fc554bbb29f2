package plane

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
)

func NewRunbook() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runbook",
		Short: "Check and show this project's runbooks",
		Long: `Check and show the runbooks of this project: the files in .gauntlet/runbooks that say what
can be started, in TOML or HCL.`,
		Example: `  stopgate runbook check
  stopgate runbook show build`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRunbookCheck(), newRunbookShow())
	return cmd
}

func newRunbookCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE…]",
		Short: "Find every mistake in runbooks, before anything runs",
		Long: `Find every mistake in this project's runbooks, or in those files: each with its place and,
where there is one, what to write instead.

Exit code 0: there is none. 1: there are mistakes. 2: the command line was not understood.`,
		Example: `  stopgate runbook check
  stopgate runbook check build.toml --json`,
		RunE: func(_ *cobra.Command, args []string) error { return hand("check", args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newRunbookShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show commands, pipelines and agents",
		Long: `Show what this project's runbooks hold, or what they have of that name: commands and how they
are called, pipelines with where their steps lead, agents with what happens to them.

Exit code 0: shown. 1: there are mistakes, or there is nothing of that name. 2: the command
line was not understood.`,
		Example: `  stopgate runbook show
  stopgate runbook show build`,
		Args: atMostOneArg,
		RunE: func(_ *cobra.Command, args []string) error { return hand("show", args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// hand has stopgated do it, which can read runbooks.
func hand(what string, args []string, asJSON bool) error {
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return err
	}
	words := []string{"runbook", what}
	if asJSON {
		words = append(words, "--json")
	}
	if len(args) > 0 {
		words = append(append(words, "--"), args...) // one of them may begin with a dash
	}
	return become(program, words, os.Environ())
}
