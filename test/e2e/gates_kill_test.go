//go:build unix

package e2e

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// hangOnce is a command that, the first time, writes down who called it and who
// it is, and then hangs.
func hangOnce(pids string) string {
	return "test -e " + pids + " && exit 0; echo $PPID $$ >" + pids + "; exec sleep 300"
}

func TestKilledHookLeavesTheNextStopWorking(t *testing.T) {
	t.Parallel()
	for name, install := range entries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			pids := filepath.Join(b.Tmp, "pids")
			install(b, hangOnce(pids))
			b.API.Script(working, claudeapi.Always(claudeapi.Text("I am done.")))
			h := b.Start()
			h.Send("do it")
			pid := waitPIDs(t, pids, 2)
			check(t, syscall.Kill(pid[0], syscall.SIGKILL))
			if reply := h.WaitReply(); reply.IsError {
				t.Errorf("the client gave up: %+v", reply)
			}
			h.wantFailedHook()
			h.Send("go on")
			h.WaitReply()
			h.Close()
			b.wantAnswers("Stop", "allow gates:passed") // the first call never came to an answer
			wantGone(t, "the check of the killed hook", pid[1])
		})
	}
}

// wantFailedHook wants the client to have seen one Stop hook fail.
func (h *headless) wantFailedHook() {
	h.t.Helper()
	failed := 0
	for _, run := range h.Hooks("Stop") {
		if run.Outcome == "error" {
			failed++
		}
	}
	if failed != 1 {
		h.t.Errorf("%d hooks failed, want 1: %+v", failed, h.Hooks("Stop"))
	}
}

func TestKilledHookLeavesNoReviewerRunning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	hold := make(chan struct{})
	b.API.On(byReviewer, claudeapi.Hold(hold, approval), approval)
	b.Gates(oneReview + verifying)
	pids := b.Reviewer("")
	b.API.Script(bash("echo rm -rf / > code.sh"), claudeapi.Text("Finished."))
	h := b.Start()
	h.Send("do it")
	b.API.WaitRequest(t, byReviewer)
	pid := waitPIDs(t, pids, 2)
	check(t, syscall.Kill(pid[0], syscall.SIGKILL))
	h.WaitReply()
	h.wantFailedHook()
	wantGone(t, "the reviewer of the killed hook", pid[1])
	h.Send("go on")
	h.WaitReply()
	h.Close()
	b.wantAnswers("Stop", "allow gates:passed")
}
