package cli

import (
	"slices"
	"strings"

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

// The shell offers files only where one fits: elsewhere they look like an answer.
var (
	takeFiles = []string{"approve", "claude", "runbook check", "daemon backup"} // as arguments

	fileFlags = []string{"allowed-signers", "cert", "check", "command", "creds", "file", "from", "key", "report", "runbook", "svg"}
)

// completeFiles has the shell complete files below cmd where they fit.
func completeFiles(cmd *cobra.Command) {
	files := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	for _, sub := range cmd.Commands() {
		completeFiles(sub)
	}
	if _, words, _ := strings.Cut(cmd.CommandPath(), " "); slices.Contains(takeFiles, words) {
		cmd.ValidArgsFunction = files
	}
	for _, name := range fileFlags {
		if cmd.LocalFlags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, files) // the flag is there
		}
	}
}
