//go:build unix

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// withoutStopgate is the machine of a teammate who has the project and not the program.
func (b *bench) withoutStopgate() {
	b.Env = append(b.Env, "PATH="+strings.Join([]string{filepath.Join(b.root, "bin"), "/usr/bin", "/bin"}, ":"))
}

// A teammate without stopgate sees one line, once, that says how to install it; nothing is blocked
// and no hook fails.
func TestE22ATeammateWithoutStopgate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Write(".gauntlet/config.yml", untilFixed)
	b.Stopgate("hooks", "install", "--project", "--yes").mustPass(t)
	b.withoutStopgate()
	b.API.Script(claudeapi.Text("Finished."), bash("ls"), claudeapi.Text("Finished again."))
	const line = "go install github.com/stopgate/stopgate"

	tui := b.TUI()
	shown := func() string { return strings.Join(strings.Fields(tui.Screen()), "") } // the terminal breaks lines
	if !poll(patience, func() bool { return strings.Contains(shown(), strings.ReplaceAll(line, " ", "")) }) {
		t.Errorf("the person is not told:\n%s", tui.Screen())
	}
	tui.Send("do it")
	b.WaitEvent("Stop")
	if n := strings.Count(shown(), strings.ReplaceAll(line, " ", "")); n != 1 {
		t.Errorf("told %d times:\n%s", n, tui.Screen())
	}

	h := b.Run("do it again")
	if h.Code != 0 || h.Reply().Text != "Finished again." {
		t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
	}
	for _, event := range append(lifeEvents, "PreToolUse", "PostToolUse", "Notification") {
		for _, run := range h.Hooks(event) {
			if run.Outcome != "success" || run.Stdout+run.Stderr != "" {
				t.Errorf("%+v", run)
			}
		}
	}
	if n := len(b.API.Requests()); n != 4 && n != 3 { // a terminal asks for a title too
		t.Errorf("%d requests: something was blocked", n)
	}
}

// While gates run, the terminal says who is at work.
func TestE14TheTerminalSaysWhoIsAtWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard("hooks:\n  Stop:\n    - run: while [ ! -e go ]; do sleep 0.05; done\n")
	b.API.Script(claudeapi.Text("Finished."))
	tui := b.TUI()
	tui.Send("do it")
	if !poll(patience, func() bool { return strings.Contains(tui.Screen(), "stopgate is checking the work") }) {
		t.Errorf("the terminal does not say it:\n%s", tui.Screen())
	}
	b.Write("go", "")
	if !poll(patience, func() bool { return len(b.Answers("Stop")) == 1 }) {
		t.Error("the stop was not answered")
	}
	b.wantAnswers("Stop", "allow guard:passed")
}
