package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// What the script exit_codes walks through are all the situations that have a code, each with
// that code.
func TestEverySituationHasOneExitCode(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("testdata/script/exit_codes.txtar"))
	check(t, err)

	walked := map[string]bool{}
	situation := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "# situation: "); ok {
			situation = title
			continue
		}
		if !strings.HasPrefix(line, "exit ") || situation == "" {
			continue
		}
		var code int
		_, err := fmt.Sscanf(line, "exit %d", &code)
		check(t, err)
		if !slices.Contains(term.Situations, term.Situation{Code: code, What: situation}) {
			t.Errorf("%q: %s", situation, line)
		}
		walked[situation] = true
	}
	for _, s := range term.Situations {
		if !walked[s.What] {
			t.Errorf("the script does not walk through %q", s.What)
		}
	}
}

// A flag that a command does not have ends it with the same code everywhere, before it does
// anything.
func TestUnknownFlagsOfEveryCommand(t *testing.T) {
	tried := 0
	for _, words := range commandLines(newRoot("stopgate")) {
		root := newRoot("stopgate")
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		root.SetArgs(append(words, "--no-such-flag"))
		if code := term.Explain(root.Execute()).Code; code != term.ExitUsage {
			t.Errorf("%q: exit %d", words, code)
		}
		tried++
	}
	if tried < 50 {
		t.Errorf("only %d commands", tried)
	}
}

// commandLines are the words of all commands that read their flags in the tree.
func commandLines(cmd *cobra.Command) (all [][]string) {
	for _, sub := range cmd.Commands() {
		all = append(all, commandLines(sub)...)
	}
	readsFlags := !cmd.DisableFlagParsing && !cmd.FParseErrWhitelist.UnknownFlags
	if cmd.Runnable() && readsFlags && cmd.HasParent() {
		all = append(all, strings.Fields(cmd.CommandPath())[1:])
	}
	return all
}
