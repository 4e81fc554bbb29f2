//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// asksNext waits for the next decision after one, and wants its source.
func (m *managed) asksNext(d daemonapi.Decision, source string) daemonapi.Decision {
	m.t.Helper()
	o := m.until(d.Owner, "another decision", func(o daemonapi.Owner) bool { return o.Decision != nil && o.Decision.ID != d.ID })
	if o.Decision.Source != source {
		m.t.Fatalf("a decision from %s, want %s: %s", o.Decision.Source, source, o.Decision.Context)
	}
	return *o.Decision
}

// wantResults compares what came of the model's tool calls, of which the first so many are looked
// at, by a part of each.
func (m *managed) wantResults(want ...claudeapi.ToolResult) {
	m.t.Helper()
	requests := m.API.Requests()
	got := requests[len(requests)-1].ToolResults()
	if len(got) < len(want) {
		m.t.Fatalf("%d results, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if !strings.Contains(got[i].Text, w.Text) || got[i].IsError != w.IsError {
			m.t.Errorf("result %d is %+v, want %+v", i+1, got[i], w)
		}
	}
}

// Whatever the client asks a person is answered from the shell, and the model sees the answer.
func TestQuestionsAreAnsweredFromTheShell(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	colours := question("Which colour?", "Colour", false, "Red", "Blue")
	fruits := question("Which fruits?", "Fruits", true, "Apple", "Pear", "Plum")
	m.API.Script(
		ask(colours), ask(fruits), ask(colours), ask(colours, fruits),
		bash("touch approved"), bash("touch denied"), claudeapi.Text("I am finished."), obey,
	)
	o := m.Go()
	first := m.asks(o.ID, "question")
	m.wantOptions(first, "Red", "Blue", "cancel")
	if first.Ask == nil || len(first.Ask.Questions) != 1 || first.Ask.Questions[0].Options[1].Description != "choose Blue" {
		t.Errorf("what is asked: %+v", first.Ask)
	}
	m.wantTold(1)
	if out := m.Stopgate("agent", "send", o.Agent.ID, "Never mind."); out.Code == 0 || !strings.Contains(out.Stderr, first.ID) {
		t.Errorf("send: exit %d: %s", out.Code, out.Stderr)
	}
	m.answers(first, "Blue")
	if out := m.Stopgate("decision", "answer", first.ID, "Red"); out.Code != 1 || !strings.Contains(out.Stderr, `was answered with "Blue"`) {
		t.Errorf("a second answer: exit %d: %s", out.Code, out.Stderr)
	}

	d := m.asksNext(first, "question")
	m.answers(d, "1,3")

	// The daemon is killed and started again while the question waits.
	d = m.asksNext(d, "question")
	m.restart()
	m.answers(d, "-m", "A green one.")

	d = m.asksNext(d, "question")
	m.answers(d, "Red", "only on Mondays")

	d = m.asksNext(d, "approval")
	m.wantOptions(d, "approve", "deny", "cancel")
	if !strings.Contains(d.Context, "touch approved") {
		t.Errorf("the decision says %q", d.Context)
	}
	m.answers(d, "approve")
	d = m.asksNext(d, "approval")
	m.answers(d, "deny", "-m", "Use the Makefile.")

	m.done(o.ID)
	m.wantResults(
		claudeapi.ToolResult{Text: `"Which colour?"="Blue"`},
		claudeapi.ToolResult{Text: `"Which fruits?"="Apple, Plum"`},
		claudeapi.ToolResult{Text: `"Which colour?"="A green one."`},
		claudeapi.ToolResult{Text: `"Which colour?"="Red", "Which fruits?"="only on Mondays"`},
		claudeapi.ToolResult{},
		claudeapi.ToolResult{Text: "Use the Makefile.", IsError: true},
	)
	for name, want := range map[string]bool{"approved": true, "denied": false} {
		if _, err := os.Stat(filepath.Join(m.Project, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.wantDecisions(o.ID, "question", "question", "question", "question", "approval", "approval")
}

func TestPlanIsRevisedAndAccepted(t *testing.T) {
	t.Parallel()
	m := newManaged(t, strings.ReplaceAll(pipeline(""), "--permission-mode default", "--permission-mode plan"))
	m.API.Script(
		claudeapi.Tool("ExitPlanMode", map[string]any{"plan": "# Everything at once"}),
		claudeapi.Tool("ExitPlanMode", map[string]any{"plan": "# One after the other"}),
		claudeapi.Text("I am finished."), obey,
	)
	o := m.Go()
	d := m.asks(o.ID, "plan")
	m.wantOptions(d, "accept", "revise", "cancel")
	m.answers(d, "revise", "-m", "Smaller steps.")
	d = m.asksNext(d, "plan")
	m.answers(d, "accept")
	m.done(o.ID)
	m.wantResults(claudeapi.ToolResult{Text: "Smaller steps.", IsError: true}, claudeapi.ToolResult{Text: "User has approved"})
	m.wantDecisions(o.ID, "plan", "plan")
}

// A person may as well answer in the client's own dialog, or send it away. Then nobody is asked any
// more.
func TestQuestionsAreAnsweredInTheTerminal(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	colours := question("Which colour?", "Colour", false, "Red", "Blue")
	m.API.On(claudeapi.Last("Decide yourself."), claudeapi.Text("I am finished."))
	m.API.On(claudeapi.Last("You must explicitly signal"), obey)
	m.API.Script(ask(colours), bash("touch approved"), ask(colours))
	o := m.Go()
	d := m.asks(o.ID, "question")
	s := m.Attach(o.Agent.ID)
	s.Keys("2")
	if d = m.settled(d); d.Closed == "" {
		t.Errorf("the question: %+v", d)
	}
	d = m.asksNext(d, "approval")
	s.waitStill()
	s.Keys("Enter")
	if d = m.settled(d); d.Closed == "" {
		t.Errorf("the permission: %+v", d)
	}
	d = m.asksNext(d, "question")
	m.wantResults(claudeapi.ToolResult{Text: `"Which colour?"="Blue"`}, claudeapi.ToolResult{})
	s.waitStill()
	s.Keys("Escape")
	if d = m.settled(d); d.Closed == "" {
		t.Errorf("the last question: %+v", d)
	}

	// No hook tells that the client waits now. What it is sent arrives all the same.
	m.Stopgate("agent", "send", o.Agent.ID, "Decide yourself.").mustPass(t)
	m.done(o.ID)
	if prompts := m.all(received("UserPromptSubmit")); len(prompts) != 2 {
		t.Errorf("%d prompts, want 2", len(prompts))
	}
	m.wantDecisions(o.ID, "question", "approval", "question")
}

// Two things that are asked at once are answered one after the other: that the first has its
// answer says nothing about the second, however alike they are.
func TestTwoThingsAreAskedAtOnce(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	m.API.Script(
		claudeapi.Join(ask(question("Which colour?", "Colour", false, "Red", "Blue")), ask(question("Which fruit?", "Fruit", false, "Apple", "Plum"))),
		claudeapi.Join(bash("echo once >> twice"), bash("echo once >> twice")),
		claudeapi.Text("I am finished."), obey,
	)
	o := m.Go()
	// answerLast answers what is asked last. Its hook is not to take the answer to the other for
	// its own, which it would do within a second.
	answerLast := func(d daemonapi.Decision, with ...string) {
		t.Helper()
		if poll(2*time.Second, func() bool {
			now, err := m.Daemon.Owner(t.Context(), o.ID)
			return err != nil || now.Decision == nil || now.Decision.ID != d.ID
		}) {
			t.Fatalf("%s is no longer open", d.Context)
		}
		m.answers(d, with...)
	}
	// Their hooks run at once, so either may be the first. The client tells the model of the
	// answers in the order in which it gets them.
	fits := map[string]string{"Which colour?": "Blue", "Which fruit?": "Plum"}
	var results []claudeapi.ToolResult
	reply := func(d daemonapi.Decision, answer func(daemonapi.Decision, ...string)) {
		t.Helper()
		asked := d.Ask.Questions[0].Question
		answer(d, fits[asked])
		results = append(results, claudeapi.ToolResult{Text: fmt.Sprintf("%q=%q", asked, fits[asked])})
		delete(fits, asked)
	}
	first := m.asks(o.ID, "question")
	reply(first, m.answers)
	second := m.asksNext(first, "question")
	reply(second, answerLast)

	first = m.asksNext(second, "approval")
	m.answers(first, "approve")
	second = m.asksNext(first, "approval")
	answerLast(second, "approve")
	m.done(o.ID)
	m.wantResults(append(results, claudeapi.ToolResult{}, claudeapi.ToolResult{})...)
	if text := m.file("twice"); text != "once\nonce\n" {
		t.Errorf("the command has written %q", text)
	}
	m.wantDecisions(o.ID, "question", "question", "approval", "approval")
}

// A question that nobody answers in time is answered as the runbook says.
func TestQuestionThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	m := newManaged(t, strings.Replace(pipeline(""), "[pipeline.go]\n", "[pipeline.go]\nexpire = { after = \"5s\", answer = \"go_on\" }\n", 1))
	m.API.Script(ask(question("Which colour?", "Colour", false, "Red", "Blue")), claudeapi.Text("I am finished."), obey)
	o := m.Go()
	d := m.asks(o.ID, "question")
	if d.Expires == nil || d.OnExpiry != "go_on" {
		t.Errorf("it expires at %v with %q", d.Expires, d.OnExpiry)
	}
	m.done(o.ID)
	m.wantResults(claudeapi.ToolResult{Text: "No answer in time: decide yourself."})
	if out := m.Stopgate("decision", "answer", d.ID, "Red"); out.Code != 1 || !strings.Contains(out.Stderr, "no answer in time") {
		t.Errorf("exit %d: %s", out.Code, out.Stderr)
	}
}
