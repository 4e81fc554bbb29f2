package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/program"
)

func newVersion() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  stopgate version
  stopgate version --json | jq -r .version`,
		Args: term.NoArgs,
	}, func(*cobra.Command, []string) (build, error) {
		return build{program.Version(), program.Commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}, nil
	})
}

// build is which program this is.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"` // unknown where the source is not a repository
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Print implements term.View.
func (b build) Print(out io.Writer) {
	commit := ""
	if b.Commit != "" {
		const short = 12
		commit = "commit " + b.Commit[:min(short, len(b.Commit))] + ", "
	}
	fmt.Fprintf(out, "stopgate %s (%s%s, %s)\n", b.Version, commit, b.Go, b.Platform)
}
