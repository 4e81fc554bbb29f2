package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/program"
)

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
