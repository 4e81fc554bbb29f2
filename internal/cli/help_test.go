package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/session"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/test/docs"
)

// A person who asks for help sees how each command is called, and what its exit code means.
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

// In a pipe no line of any help is wider than 80 columns, which is what a terminal has at least.
func TestHelpFitsATerminal(t *testing.T) {
	for _, root := range []*cobra.Command{newRoot("stopgate"), newOddjobs(), newCCC(), session.NewTUIDriver()} {
		helpFits(t, root)
	}
}

func helpFits(t *testing.T, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		helpFits(t, sub)
	}
	var help strings.Builder
	cmd.SetOut(&help)
	check(t, cmd.Help())
	for line := range strings.Lines(help.String()) {
		if n := term.Cells(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%s --help: %d columns: %s", cmd.CommandPath(), n, line)
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
	if strings.HasPrefix(path, "oj ") {
		for line := range strings.Lines(cmd.Example) {
			if strings.Contains(line, "stopgate ") {
				t.Errorf("%s: %s", path, line)
			}
		}
		commands, err := docs.Read(path, "```sh\n"+cmd.Example+"\n```\n").Commands(oddjobs)
		check(t, err)
		for _, c := range commands {
			checkCommand(t, path, c.Words)
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

// In a narrow terminal nothing of the first screen is broken in the middle of a word.
func TestTheFirstScreenFitsANarrowTerminal(t *testing.T) {
	for _, width := range []int{60, 80} {
		var out strings.Builder
		firstScreen(Tree(), &out, false, width)
		for line := range strings.Lines(out.String()) {
			if cells := term.Cells(strings.TrimRight(line, "\n")); cells > width {
				t.Errorf("%d columns, want at most %d: %q", cells, width, line)
			}
		}
	}
}
