package gates

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/config"
)

func newCIListJobs() *cobra.Command {
	return &cobra.Command{
		Use:   "list-jobs",
		Short: "Print the jobs of a CI run as one line of JSON",
		Long: `Print one line of JSON: the matrix of jobs, one for each check of ci.yml at each
entry point that lists it, and the services and runtimes of ci.yml.

Exit code 0: printed. 2: the configuration is wrong.`,
		Example: `  stopgate ci list-jobs | jq -r '.matrix[].command'`,
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, options, err := gauntletHere(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			ci, err := config.LoadCI(options.Project.ConfigDir, h.Short(h.ConfigDir()))
			live := filepath.Join(h.ConfigDir(), config.CIFile)
			if errors.Is(err, fs.ErrNotExist) && here.IsRegular(live) {
				return term.WithCode(term.WithHint(errors.New(h.Short(live)+" was never approved"), "read it, then approve it with: stopgate trust"), term.ExitCouldNotRun)
			}
			if err != nil {
				return showFaults(cmd.ErrOrStderr(), err)
			}
			plan, err := planCI(ci, options.Project)
			if err != nil {
				return err
			}
			return term.PrintLine(cmd.OutOrStdout(), plan)
		},
	}
}
