package daemon

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
		Long: `Check and show this project's runbooks: the TOML and HCL files in .gauntlet/runbooks that define
commands, pipelines and agents, and those of oddjobs in .oj/runbooks.`,
		Example: `  stopgate runbook check
  stopgate runbook show build`,
	}, newRunbookCheck(), newRunbookShow())
}

func newRunbookCheck() *cobra.Command {
	return hands(&cobra.Command{
		Use:   "check [FILE…]",
		Short: "Check runbooks for errors",
		Long: `Check this project's runbooks, or the given files, and print all errors with their position and,
if there is one, the fix.

Exit code 0: no errors. 1: errors. 2: invalid command line.`,
		Example: `  stopgate runbook check
  stopgate runbook check build.toml --json`,
	})
}

func newRunbookShow() *cobra.Command {
	cmd := hands(&cobra.Command{
		Use:   "show [NAME]",
		Short: "Show commands, agents and the graphs of pipelines",
		Long: `Show everything in this project's runbooks, or only NAME: commands with their arguments,
pipelines as graphs of their steps, agents with their actions. With --svg, draw the pipelines,
or only the one called NAME, into an SVG file.

Lines show where a step leads when it fails or is cancelled. Without such a line, the pipeline fails or is cancelled.

Exit code 0: shown. 1: a runbook has errors, or there is no pipeline to draw. 2: invalid command
line, NAME does not exist, or there are no runbooks here.`,
		Example: `  stopgate runbook show
  stopgate runbook show build
  stopgate runbook show build --svg build.svg`,
		Args:              term.AtMostOneArg,
		ValidArgsFunction: completeDefinition,
	}, "svg")
	cmd.Flags().String("svg", "", "draw the pipelines into this `file`; - is standard output")
	return cmd
}

// hands makes a command that stopgated does, which can read runbooks. It hands on the named
// options.
func hands(cmd *cobra.Command, options ...string) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := term.AtMostOne(cmd, append(options, "json")...); err != nil {
			return err
		}
		program, err := here.FindProgram("stopgated", os.Environ())
		if err != nil {
			return err
		}

		words := []string{"runbook", cmd.Name()}
		if *asJSON {
			words = append(words, "--json")
		}
		for _, name := range options {
			if value, err := cmd.Flags().GetString(name); err == nil && value != "" {
				words = append(words, "--"+name+"="+value)
			}
		}
		if len(args) > 0 {
			words = append(append(words, "--"), args...) // one of them may begin with a dash
		}
		return become(program, words, os.Environ())
	}
	return cmd
}
