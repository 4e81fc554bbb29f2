package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// Whoever asks for help sees how each command is called, in lines that fit a terminal,
// and what its exit code means.
func TestEveryCommandExplainsItself(t *testing.T) {
	for _, root := range []*cobra.Command{newRoot("stopgate"), newOddjobs()} {
		explains(t, root)
	}
}

// All commands fit one screen of 80 columns and 50 lines.
func TestTheFirstScreenFits(t *testing.T) {
	root := newRoot("stopgate")
	var screen strings.Builder
	printFirstScreen(root, &screen)

	lines := strings.Split(strings.TrimRight(screen.String(), "\n"), "\n")
	if len(lines) > 49 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if term.Cells(line) > 80 {
			t.Errorf("%d columns: %s", term.Cells(line), line)
		}
	}
	for _, cmd := range root.Commands() {
		if cmd.Runnable() && cmd.Name() != "help" && !strings.Contains(screen.String(), cmd.Name()) {
			t.Errorf("%s is missing", cmd.Name())
		}
	}
}

func explains(t *testing.T, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		explains(t, sub)
	}
	path := cmd.CommandPath()
	if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
		return
	}
	if cmd.Example == "" || cmd.Short == "" {
		t.Errorf("%s has no example, or is not described", path)
	}
	for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
		if term.Cells(line) > 110 {
			t.Errorf("%s: %d columns: %s", path, term.Cells(line), line)
		}
	}
	if strings.HasPrefix(path, "oj ") {
		for line := range strings.Lines(cmd.Example) {
			if strings.Contains(line, "stopgate ") {
				t.Errorf("%s: %s", path, line)
			}
		}
	}
	groups := []string{"start", "run", "pipeline", "agent", "decision", "emit", "daemon", "runbook"}
	words := strings.Fields(path)
	for _, group := range groups {
		ours := len(words) > 1 && words[1] == group && !cmd.HasSubCommands() && (group != "run" || words[0] == oddjobs)
		if ours && !strings.Contains(cmd.Long, "Exit code") {
			t.Errorf("%s does not tell its exit codes", path)
		}
	}
}
