package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/setup"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/program"
)

func newVersion() *cobra.Command {
	var check bool
	cmd := term.Shows(&cobra.Command{
		Use:   "version",
		Short: "Print the version, or find other copies",
		Long: `Print the version.

With --check-install, list every copy that can be called on this machine and what calls one:
programs and links on the PATH, the daemon that runs, the systemd service, and the hooks in
Claude Code's settings, here and in the projects that you approved. Those that are not this
version, or lead to another copy, are listed with the command that fixes it.

Exit code 0: shown. 1: a copy is stale (with --check-install).`,
		Example: `  stopgate version
  stopgate version --check-install
  stopgate version --json | jq -r .version`,
		Args: term.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (term.View, error) {
		if check {
			return setup.FindCopies(cmd.Context())
		}
		return build{program.Version(), program.Commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}, nil
	})
	cmd.Flags().BoolVar(&check, "check-install", false, "find copies of other versions, and what calls them")
	return cmd
}

// build is which program this is.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"` // unknown where the source is not a repository
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Print implements term.View.
func (build) Print(out io.Writer) { fmt.Fprintln(out, "stopgate "+program.Description()) }
