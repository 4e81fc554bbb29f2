package cli

import (
	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// addCompletion adds cobra's own command with our examples.
func addCompletion(root *cobra.Command, group string) {
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetCompletionCommandGroupID(group)
	root.InitDefaultCompletionCmd()

	examples := map[string]string{
		"bash":       "  source <(stopgate completion bash)",
		"zsh":        "  source <(stopgate completion zsh)",
		"fish":       "  stopgate completion fish | source",
		"powershell": "  stopgate completion powershell | Out-String | Invoke-Expression",
	}
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		term.Group(cmd)
		cmd.Short = "Print a script that completes commands in your shell"
		cmd.Example = examples["bash"]
		for _, shell := range cmd.Commands() {
			shell.Short = "Print the completion script for " + shell.Name()
			shell.Example = examples[shell.Name()]
		}
	}
}
