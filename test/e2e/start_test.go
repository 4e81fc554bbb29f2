//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
	"github.com/stopgate/stopgate/test/docs"
)

// A person who copies the commands of docs/start.md sees a stop that is blocked and then allowed.
func TestStartPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.API.Script(
		bash("echo 'discount() { echo $(($1 * 9 / 10)); }' >> shop.sh"),
		claudeapi.Text("I have added discount."), // and the test fails, as it did before
		bash("sed -i 's/ - / + /' shop.sh"),
		claudeapi.Text("Now total adds."),
	)

	commands, quoted := startPage(t)
	out := b.Exec("sh", "-e", "-c", "cd "+b.Tmp+"\n"+commands).mustPass(t).Stdout

	inOrder(t, out, "enforcement is live", "Now total adds.", "Stop", "block", "Stop", "allow")
	b.wantFeedback("total 2 3 is -1, want 5")
	b.wantFeedback(quoted)
}

// startPage gives the blocks of the page that can be run here, all but the one that clones, and what it says that the agent
// is told.
func startPage(t *testing.T) (script, quoted string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "start.md"))
	check(t, err)
	var commands []string
	for _, b := range docs.Read("docs/start.md", string(page)).Blocks {
		switch {
		case b.IsShell() && !b.NotRun():
			commands = append(commands, b.Script())
		case b.Language == "text":
			quoted = strings.TrimSpace(b.Text)
		}
	}
	if len(commands) != 4 || quoted == "" {
		t.Fatalf("%d blocks of commands, want 4: %q; quoted %q", len(commands), commands, quoted)
	}
	return strings.Join(commands, ""), quoted
}
