//go:build unix

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// Work in the background ends with a prompt of the client's own, and another Stop. Neither is a
// command's.
func TestBackgroundTaskLeavesTheQueueAlone(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	over := filepath.Join(d.Tmp, "over")
	d.API.On(claudeapi.Last("begin"), claudeapi.Tool("Bash", map[string]any{
		"command": "while test ! -e " + over + "; do sleep 0.1; done; echo finished", "run_in_background": true,
	}), claudeapi.Text("begun"))
	answer := make(chan struct{})
	d.API.On(claudeapi.Last("second"), claudeapi.Hold(answer, claudeapi.Text("second result")))
	d.Session("main")
	d.Create("main", "begin", "second", "third")
	d.API.WaitRequest(t, claudeapi.Last("second"))
	d.Write(over, "")
	close(answer)
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", "begun", "second result", answerTo("third"))
	told := d.WaitEvent("UserPromptSubmit", func(e event) bool { return strings.HasPrefix(e.Str("prompt"), "<task-notification>") })
	d.WaitEvent("Stop", after(told))
	d.wantPrompts("begin", "second", "third")
}

// Subagents, and clients that a command of the session starts, have hooks of their own.
func TestOtherAgentsInThePaneLeaveTheQueueAlone(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.API.On(claudeapi.Prompt("Count the files."), claudeapi.Text("3"))
	d.API.On(claudeapi.Last("ask another"), claudeapi.Agent("Count", "Count the files."), claudeapi.Text("three files"))
	d.API.On(claudeapi.Prompt("hello, nested"), claudeapi.Text("inner result"))
	d.API.On(claudeapi.Last("start another"), bash("claude -p 'hello, nested' </dev/null"), claudeapi.Text("outer result"))
	d.Session("main")
	d.Create("main", "ask another", "start another", "the end")
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", "three files", "outer result", answerTo("the end"))
	d.wantPrompts("ask another", "start another", "the end")
	d.wantLetters("queue_complete")
	nested := d.API.WaitRequest(t, claudeapi.Prompt("hello, nested"))
	if !slices.ContainsFunc(d.Answers("Stop"), func(r record) bool { return r.Session == nested.SessionID }) {
		t.Error("stopgate was not told of the nested client's stop")
	}
	d.WaitEvent("SubagentStop")
}

func TestCompactionInAQueue(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Session("main")
	d.Create("main", "one", "two", "three", "four", "/compact", "after it")
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", answerTo("one"), answerTo("two"), answerTo("three"), answerTo("four"), "", answerTo("after it"))
	d.WaitEvent("SessionStart", with("source", "compact"))
	d.wantPrompts("one", "two", "three", "four", "after it")
	d.wantLetters("queue_complete")

	// Of nothing there is nothing to make less of: the client says so on its screen only.
	d.Create("main", "/clear", "/compact", "never")
	wake := d.waitLetter("queue_failed", 1)
	d.waitStale("main", "done", "failed", "pending")
	if !strings.Contains(wake.Headline, "command 2 failed") {
		t.Errorf("the wake says %q", wake.Headline)
	}
	d.wantPrompts("one", "two", "three", "four", "after it")
}

// A stop that is blocked is none: the queue goes on with the one that is not.
func TestQueueWaitsForAStopThatNobodyBlocks(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Guard(untilFixed)
	d.API.On(claudeapi.Last("do it"), claudeapi.Text("Finished."))
	d.API.On(claudeapi.Last("Stop hook feedback"), bash("touch fixed"), claudeapi.Text("Fixed."))
	d.Session("main")
	d.Create("main", "do it", "next")
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", "Fixed.", answerTo("next"))
	d.wantPrompts("do it", "next")
	d.wantAnswers("Stop", "block guard:failed", "allow guard:passed", "allow guard:passed")
	d.wantLetters("queue_complete")
}
