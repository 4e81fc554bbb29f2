//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// What a person does at the keyboard fires no hook, and the queue goes on all the same: they clear
// the input box with Ctrl-C, or leave a dialog with Esc.
func TestP3QueueGoesOnWithoutAHook(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Settings["permissions"] = map[string]any{"allow": []string{"Read"}}
	d.API.On(claudeapi.Last("ask me"), claudeapi.Always(bash("echo ran >>ran")))
	tui := d.Session("main")
	tui.Send("hello")
	d.waitLetter("stop", 1)
	d.WaitEvent("Notification", with("notification_type", "idle_prompt")) // the last hook for long

	tui.Keys("h", "a", "l", "f")
	tui.waitStill()
	if out := d.Order("main", "after the text").mustPass(t); !strings.Contains(out.Stdout, "text in the input box") {
		t.Errorf("create said %q", out.Stdout)
	}
	d.wantPrompts("hello")
	tui.Keys("C-c")
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", answerTo("after the text"))

	tui.Send("ask me")
	d.WaitEvent("PermissionRequest")
	if out := d.Order("main", "after the dialog").mustPass(t); !strings.Contains(out.Stdout, "waits for an answer") {
		t.Errorf("create said %q", out.Stdout)
	}
	tui.waitStill() // the hook comes before the dialog: a key that is pressed between is lost
	tui.Keys("Escape")
	d.waitLetter("queue_complete", 2)
	d.waitDone("main", answerTo("after the dialog"))
	d.wantPrompts("hello", "after the text", "ask me", "after the dialog")
}

// A command that a person interrupts, in a dialog of its own, has failed, and its agent is told.
func TestP3InterruptedCommandFails(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Settings["permissions"] = map[string]any{"allow": []string{"Read"}}
	d.API.On(claudeapi.Last("ask me"), claudeapi.Always(bash("echo ran >>ran")))
	tui := d.Session("main")
	d.Create("main", "ask me", "and then")
	d.WaitEvent("PermissionRequest")
	tui.waitStill()
	tui.Keys("Escape")
	wake := d.waitLetter("queue_failed", 1)
	if !strings.Contains(wake.Headline, "it was interrupted") {
		t.Errorf("the wake says %q", wake.Headline)
	}
	d.waitStale("main", "failed", "pending")
	d.wantPrompts("ask me")
}

// While hooks judge a prompt, the client shows its input box with the prompt in it, and while they
// judge a stop, that it works. Neither is an interruption.
func TestSlowHooksAreNoInterruption(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.ProjectHook("UserPromptSubmit", "sleep 25")
	d.Guard("hooks:\n  Stop:\n    - run: sleep 50\n")
	d.Session("main")
	d.Create("main", "take your time")
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", answerTo("take your time"))
	d.wantLetters("queue_complete")
}
