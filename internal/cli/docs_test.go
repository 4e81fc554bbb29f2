package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/test/docs"
)

var check = checktest.OK

// Every command line that a page shows is one that we have: in blocks, run by test/docs or not, and in the text.
func TestDocumentedCommands(t *testing.T) {
	pages, err := docs.Pages("../..")
	check(t, err)
	found := 0
	for _, page := range pages {
		if strings.HasPrefix(page.Name, "docs/adr/") {
			continue // decisions of their time, about commands that users never see
		}
		commands, err := page.Commands("stopgate", launcher.ShortName)
		check(t, err)
		for _, c := range commands {
			found++
			checkCommand(t, fmt.Sprintf("%s:%d", page.Name, c.Line), c.Words)
		}
	}
	if found < 100 {
		t.Errorf("only %d command lines found", found)
	}
}

func checkCommand(t *testing.T, page string, words []string) {
	t.Helper()
	if rest, ok := launcher.LaunchCall(words); ok {
		if len(rest) > 0 && rest[0] == "claude" {
			t.Errorf("%s: %q", page, words)
		}
		return // the rest is the client's
	}
	asked := words[1:]
	topic := len(asked) > 1 && asked[0] == "help" // also of something that is not a command
	if topic {
		asked = asked[1:]
	}
	cmd, rest, err := newProgram(words).Find(asked)
	if err != nil || !cmd.Runnable() && !topic || cmd == cmd.Root() {
		t.Errorf("%s: %q is not a command: %v", page, words, err)
		return
	}
	if cmd.DisableFlagParsing {
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: %q: %v", page, words, err)
		return
	}
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		t.Errorf("%s: %q: no such sub-command", page, words)
	}
}
