//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// The real client runs the status line, and shows it: before the first stop, and after one.
func TestTheStatusLineInTheTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Gates(oneCheck(`test -e fixed`, verifying))
	b.Settings["statusLine"] = map[string]any{"type": "command", "command": "stopgate statusline"}
	b.API.Script(working, claudeapi.Text("Finished."), bash("touch fixed"), claudeapi.Text("Fixed."), claudeapi.Text("Hello."))
	tui := b.TUI()
	shows := func(want string) {
		t.Helper()
		if !poll(patience, func() bool { return strings.Contains(tui.Screen(), want) }) {
			t.Fatalf("no %q on the screen:\n%s", want, tui.Screen())
		}
	}
	shows("stopgate no stop yet")

	tui.Send("do it")
	b.WaitEvent("Stop", after(b.WaitEvent("Stop")))
	if !poll(patience, func() bool { return len(b.Answers("Stop")) == 2 }) {
		t.Fatal("two answers were expected")
	}
	tui.Send("thanks") // the client draws the line again when a message comes
	shows("stopgate ✓ ")
}
