package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

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
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, options, err := gauntletHere(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			ci, err := config.LoadCI(options.Project.ConfigDir, h.short(h.configDir()))
			live := filepath.Join(h.configDir(), config.CIFile)
			if errors.Is(err, fs.ErrNotExist) && isRegular(live) {
				return withCode(withHint(errors.New(h.short(live)+" was never approved"), "read it, then approve it with: stopgate trust"), exitCouldNotRun)
			}
			if err != nil {
				return showFaults(cmd.ErrOrStderr(), err)
			}
			plan, err := planCI(ci, options.Project)
			if err != nil {
				return err
			}
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetEscapeHTML(false)
			return enc.Encode(plan)
		},
	}
}
