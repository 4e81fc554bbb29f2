package cli

import (
	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/entry"
	"github.com/stopgate/stopgate/internal/cli/launcher"
)

// newCCC is the command tree under the name ccc, by which the program only starts Claude Code: the
// commands of the older tool of that name, and ours about what it starts.
func newCCC() *cobra.Command {
	root := newTop(launcher.ShortName)
	root.Short = "Starts Claude Code with a provider"
	root.AddCommand(
		launcher.NewValidate(), launcher.NewPatch(), launcher.NewSupervisorMode(),
		launcher.NewProvider(), launcher.NewSupervisor(), entry.NewSupervisorHook(),
	)
	return root
}
