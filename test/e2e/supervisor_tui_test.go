//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

func TestAgentInTheTerminalGoesOnToo(t *testing.T) {
	eachEntry(t, func(t *testing.T, b *bench) {
		b.API.On(byReviewer, undone("Write a test for it."), done)
		b.API.Script(claudeapi.Text("Finished."), bash("echo true > test.sh"), claudeapi.Text("Tested."))
		b.TUI().Send("write it")
		b.waitAnswers(2)
		b.wantSentBack("Write a test for it.")
		b.wantAnswers("Stop", "block supervisor:not_completed", "allow supervisor:completed")
		b.wantReviews(2)
	})
}

func TestClearedSessionIsSupervisedToo(t *testing.T) {
	eachEntry(t, func(t *testing.T, b *bench) {
		b.API.On(byReviewer, done, undone("Go on."), done)
		tui := b.TUI()
		tui.Send("one")
		b.waitAnswers(1)
		cleared := tui.Clear()
		tui.Send("two")
		b.waitAnswers(3)
		b.wantAnswers("Stop", "allow supervisor:completed", "block supervisor:not_completed", "allow supervisor:completed")
		b.wantReviews(3)
		if asked := b.reviews()[1].Texts(); slices.Contains(asked, "one") || !slices.Contains(asked, "two") {
			t.Errorf("the review after /clear is of %.200q", asked)
		}
		if _, err := os.Stat(b.claudeFile("ccc", "supervisor-"+cleared.Session()+".json")); err != nil {
			t.Error(err)
		}
	})
}

func TestPlainLaunchBesideATerminalLeavesItSupervised(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	b.API.On(byReviewer, done, done)
	tui := b.TUI()
	tui.Send("one")
	b.waitAnswers(1)

	b.Client = plainly
	b.Run("hello")
	b.wantReviews(1)
	b.wantEntry(true)

	tui.Send("two")
	b.waitAnswers(2)
	b.wantReviews(2)
	tui.Type("/exit")
	tui.WaitExit()

	b.Run("hello")
	b.wantReviews(2)
	b.wantEntry(false)
}

// The client ends a hook and all that it started, in no particular order.
func TestReviewThatIsEscapedFromLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	pids := b.Reviewer("")
	b.API.On(byReviewer, claudeapi.Hold(make(chan struct{}), done), done)
	tui := b.TUI()
	tui.Send("do it")
	b.API.WaitRequest(t, byReviewer)
	pid := waitPIDs(t, pids, 2)
	tui.Keys("Escape")
	wantGone(t, "the hook", pid[0])
	wantGone(t, "the reviewer", pid[1])
	tui.Send("go on")
	b.waitUntil(func(answers []string) bool { return slices.Contains(answers, "allow supervisor:completed") })
}

// spaced puts the program under test into a folder with a name that a shell would split.
func (b *bench) spaced() (program string) {
	b.t.Helper()
	program = filepath.Join(b.root, "it's a place", "stopgate")
	check(b.t, os.Mkdir(filepath.Dir(program), 0o700))
	// By another process: a file that one of our own children still has open for writing could
	// not be started.
	b.Exec("cp", filepath.Join(bin, "stopgate"), program).mustPass(b.t)
	return program
}

func TestPersonSwitchesReviewsOnAndOff(t *testing.T) {
	t.Parallel()
	switching := func(b *bench, send func(prompt string, stops int)) {
		send("hello", 1)
		b.wantReviews(0)
		send("/supervisor go on", 3)
		b.wantSentBack("Write a test for it.")
		b.wantReviews(2)
		b.wantAnswers("Stop", "allow", "block supervisor:not_completed", "allow supervisor:completed")
		if asked := b.reviews()[1].Texts(); !strings.Contains(strings.Join(asked, "\n"), "go on") {
			b.t.Errorf("the agent was asked %q", asked)
		}
		send("/supervisoroff", 4)
		send("one more", 5)
		b.wantReviews(2)
	}
	prepare := func(t *testing.T) *bench {
		t.Parallel()
		b := newBench(t)
		delete(b.Settings, "permissions") // the command has to bring its own
		program := b.spaced()
		b.Exec(program, "hooks", "install", "--user", "--slash-commands").mustPass(t)
		if text, _ := os.ReadFile(b.claudeFile("settings.json")); !strings.Contains(string(text), "s a place/stopgate") { // quoted for a shell
			t.Fatalf("another program is called:\n%s", text)
		}
		b.API.On(byReviewer, undone("Write a test for it."), done)
		return b
	}
	t.Run("headless", func(t *testing.T) {
		b := prepare(t)
		h := b.Start()
		switching(b, func(prompt string, stops int) {
			h.Send(prompt)
			h.WaitReply()
			b.waitAnswers(stops)
		})
		h.Close()
	})
	t.Run("in the terminal", func(t *testing.T) {
		b := prepare(t)
		tui := b.TUI()
		switching(b, func(prompt string, stops int) {
			tui.Send(prompt)
			b.waitAnswers(stops)
		})
	})
}
