package gates

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/document"
)

func NewCI() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ci",
		Short: "Run the checks in GitHub Actions",
		Long: `Run the checks in GitHub Actions: init writes a workflow, which asks list-jobs for
the jobs of each run.`,
		Example: `  stopgate ci init
  stopgate ci list-jobs | jq -r '.matrix[].id'`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCIInit(), newCIListJobs())
	return cmd
}

// showFaults shows the faults of a configuration with their places and hints.
func showFaults(errOut io.Writer, err error) error {
	var faults *document.Faults
	if !errors.As(err, &faults) {
		return err
	}
	here.PrintFaults(errOut, nil, faults.All)
	return term.WithCode(nil, term.ExitUsage)
}
