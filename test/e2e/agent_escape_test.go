//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// A person interrupts the client in the middle of a message that it was sent, of which no hook
// tells. What it is sent next arrives all the same. The message's queue ends with the agent.
func TestMessageAfterAnEscape(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_stop = \"escalate\"\n"))
	m.Allow("Bash")
	m.API.On(claudeapi.Last("Take your time."), bash("echo here > begun; tail -f begun"))
	m.API.On(claudeapi.Last("Something else."), ask(question("Which colour?", "Colour", false, "Red", "Blue")))
	m.API.Script(claudeapi.Always(claudeapi.Text("I am finished.")))
	o := m.Go()
	d := m.asks(o.ID, "stop")
	m.answers(d, "nudge", "-m", "Take your time.")
	if !poll(patience, func() bool { return m.file("begun") != "" }) {
		t.Fatal("it does not begin")
	}
	prompts := func() int { return len(m.all(received("UserPromptSubmit"))) }
	m.Stopgate("agent", "send", o.Agent.ID, "Something else.").mustPass(t)
	if _, err := m.tmux("send-keys", "-t", "="+m.sessions()[0]+":", "Escape"); err != nil {
		t.Fatal(err)
	}
	d = m.asksNext(d, "question")
	if n := prompts(); n != 3 {
		t.Errorf("%d prompts, want 3", n)
	}
	queued := func() bool { return strings.Contains(m.Stopgate("queue", "list").Stdout, "stopgate-worker") }
	if !queued() {
		t.Error("it has no queue")
	}
	m.answers(d, "cancel")
	m.reaches(o.ID, "cancelled", "cancelled")
	if !poll(patience, func() bool { return !queued() }) {
		t.Error("its queue is still there")
	}
}
