package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// docs/reference/commands.md is what --help prints. go test -run CommandsPage -update writes it.
func TestCommandsPage(t *testing.T) {
	goldentest.CheckFile(t, "../../docs/reference/commands.md", commandsReference(newRoot("stopgate")))
}

func commandsReference(root *cobra.Command) string {
	var page strings.Builder
	page.WriteString("# Commands\n\nMade from the help texts of the program, by a test. `stopgate COMMAND --help` prints the same.\n")
	describeCommands(&page, root)
	return page.String()
}

func describeCommands(page *strings.Builder, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		describeCommand(page, cmd)
		describeCommands(page, cmd)
	}
}

func describeCommand(page *strings.Builder, cmd *cobra.Command) {
	level := "## "
	if cmd.Parent().HasParent() {
		level = "### "
	}
	page.WriteString("\n" + level + cmd.CommandPath() + "\n\n" + cmd.Short + ".\n")
	page.WriteString("\n```text\n" + term.HelpText(cmd, 80) + "```\n")
}
