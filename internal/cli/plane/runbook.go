package plane

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
)

func NewRunbook() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "runbook",
		Short: "Check and show this project's runbooks",
		Long: `Check and show the runbooks of this project: the files in .gauntlet/runbooks that say what
can be started, in TOML or HCL.`,
		Example: `  stopgate runbook check
  stopgate runbook show build`,
	}, newRunbookCheck(), newRunbookShow())
}

func newRunbookCheck() *cobra.Command {
	return hands(&cobra.Command{
		Use:   "check [FILE…]",
		Short: "Find every mistake in runbooks, before anything runs",
		Long: `Find every mistake in this project's runbooks, or in those files: each with its place and,
where there is one, what to write instead.

Exit code 0: there is none. 1: there are mistakes. 2: the command line was not understood.`,
		Example: `  stopgate runbook check
  stopgate runbook check build.toml --json`,
	})
}

func newRunbookShow() *cobra.Command {
	return hands(&cobra.Command{
		Use:   "show [NAME]",
		Short: "Show commands, pipelines and agents",
		Long: `Show what this project's runbooks hold, or what they have of that name: commands and how they
are called, pipelines with where their steps lead, agents with what happens to them.

Exit code 0: shown. 1: there are mistakes, or there is nothing of that name. 2: the command
line was not understood.`,
		Example: `  stopgate runbook show
  stopgate runbook show build`,
		Args: term.AtMostOneArg,
	})
}

// hands makes a command that stopgated does, which can read runbooks.
func hands(cmd *cobra.Command) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		program, err := here.FindProgram("stopgated", os.Environ())
		if err != nil {
			return err
		}
		words := []string{"runbook", cmd.Name()}
		if *asJSON {
			words = append(words, "--json")
		}
		if len(args) > 0 {
			words = append(append(words, "--"), args...) // one of them may begin with a dash
		}
		return become(program, words, os.Environ())
	}
	return cmd
}
