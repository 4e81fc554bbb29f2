//go:build unix

package e2e

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

func TestFailingCheckBlocksInTheTerminalToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Gates(oneCheck(`test -e fixed || { echo "fixed is missing"; exit 1; }`, verifying))
	b.API.Script(working, claudeapi.Text("Finished."), bash("touch fixed"), claudeapi.Text("Fixed."))
	b.TUI().Send("do it")
	b.WaitEvent("Stop", after(b.WaitEvent("Stop")))
	if !poll(patience, func() bool { return len(b.Answers("Stop")) == 2 }) {
		t.Error("two answers were expected")
	}
	b.wantAnswers("Stop", "block gates:failed", "allow gates:passed")
	b.wantFeedback("fixed is missing")
}

// The client ends a hook and all that it started, in no particular order.
func TestGateThatIsEscapedFromHasNotFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pids := filepath.Join(b.Tmp, "pids")
	b.Gates(oneCheck(hangOnce(pids), verifying))
	b.API.Script(working, claudeapi.Always(claudeapi.Text("I am done.")))
	tui := b.TUI()
	tui.Send("do it")
	pid := waitPIDs(t, pids, 2)
	tui.Keys("Escape")
	wantGone(t, "the hook", pid[0])
	wantGone(t, "the check", pid[1])
	tui.Send("go on")
	passes := func(status string) bool { return status == "allow gates:passed" }
	if !poll(patience, func() bool { return slices.ContainsFunc(statuses(b.Answers("Stop")), passes) }) {
		t.Errorf("answers %q, want a plain pass in the end", statuses(b.Answers("Stop")))
	}
}
