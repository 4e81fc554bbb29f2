package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var check = checktest.OK

// Every command line that the documentation shows is one that we have.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	check(t, err)
	found := 0
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		for _, line := range shownCommands(t, page) {
			found++
			checkCommand(t, filepath.Base(page), line)
		}
	}
	if found < 10 {
		t.Errorf("only %d command lines found", found)
	}
}

// shownCommands are the words of our command lines in the blocks of a page that have
// no language, without variables in front and comments behind.
func shownCommands(t *testing.T, page string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	check(t, err)
	plain, fenced := false, false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			plain = fenced && strings.TrimSpace(line) == "```"
			continue
		}
		if !plain {
			continue
		}
		command, _, _ := strings.Cut(line, " #")
		words := strings.Fields(command)
		for len(words) > 0 && strings.Contains(words[0], "=") {
			words = words[1:]
		}
		if len(words) > 0 && (words[0] == "stopgate" || words[0] == launcher.ShortName) {
			all = append(all, words)
		}
	}
	return all
}

func checkCommand(t *testing.T, page string, words []string) {
	t.Helper()
	if rest, ok := launcher.LaunchCall(words); ok {
		if len(rest) > 0 && rest[0] == "claude" {
			t.Errorf("%s: %q", page, words)
		}
		return // the rest is the client's
	}
	cmd, rest, err := newRoot(words[0]).Find(words[1:])
	if err != nil || !cmd.Runnable() || cmd == cmd.Root() {
		t.Errorf("%s: %q is no command: %v", page, words, err)
		return
	}
	for _, word := range rest {
		name, long := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if long && cmd.Flags().Lookup(name) == nil {
			t.Errorf("%s: %q: there is no flag --%s", page, words, name)
		}
	}
	if cmd.HasSubCommands() && slices.ContainsFunc(rest, func(w string) bool { return !strings.HasPrefix(w, "-") }) {
		t.Errorf("%s: %q: no such sub-command", page, words)
	}
}
