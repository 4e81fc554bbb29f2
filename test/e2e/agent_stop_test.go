//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	events "github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/test/claudeapi"
)

var pasteable = regexp.MustCompile(`You must explicitly signal completion before stopping\. Run: (.*)`)

// obey is a model that runs the very command it is told to run, once.
var obey = claudeapi.Func(func(r claudeapi.Request) claudeapi.Answer {
	for _, result := range r.ToolResults() {
		if strings.HasPrefix(result.Text, "signalled complete") {
			return claudeapi.Text("I have signalled.")
		}
	}
	found := pasteable.FindStringSubmatch(r.LastUserText())
	if found == nil {
		return claudeapi.Text("Nobody told me how to signal.")
	}
	return bash(found[1])
})

// The pipeline's default: the agent may stop when it has signalled. Nobody is asked for the permission.
func TestAgentIsHeldUntilItSignals(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	m.API.Script(claudeapi.Text("I am finished."), obey)
	o := m.Go()
	m.done(o.ID)
	if m.file("next") != "here\n" {
		t.Error("the next step did not run")
	}
	requests := m.API.Requests()
	feedback := requests[1].LastUserText()
	if !strings.HasPrefix(feedback, "Stop hook feedback:\nYou must explicitly signal completion before stopping. Run: /") || !strings.Contains(feedback, " emit agent:signal --agent "+o.Agent.ID+" complete") {
		t.Errorf("the agent was told %q", feedback)
	}
	if got := requests[0].LastUserText(); got != "Do it." {
		t.Errorf("the agent was given %q", got)
	}
	if slices.ContainsFunc(m.records(), received("PermissionRequest")) {
		t.Error("a person was asked for permission")
	}
	m.wantDecisions(o.ID)
}

// An agent that signals that it needs a person may stop, and is told what the person says. After that
// it has to signal anew.
func TestAgentSignalsThatItNeedsAPerson(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	escalate := claudeapi.Func(func(r claudeapi.Request) claudeapi.Answer {
		command := pasteable.FindStringSubmatch(r.LastUserText())[1]
		return bash(strings.TrimSuffix(command, "complete") + `'{"kind":"escalate","message":"Which database?"}'`)
	})
	m.API.On(claudeapi.Last("You must explicitly signal"), escalate, claudeapi.Text("I wait."), obey)
	m.API.On(claudeapi.Last("The small one."), claudeapi.Text("I am finished."))
	m.API.Script(claudeapi.Text("I do not know how."))
	o := m.Go()
	d := m.asks(o.ID, "signal")
	if d.Context != "Which database?" {
		t.Errorf("the decision says %q", d.Context)
	}
	m.wantStops("block not_signaled", "allow blocked_before")
	if out := m.Stopgate("agent", "logs", o.Agent.ID).mustPass(t); !strings.Contains(out.Stdout, "I do not know how.") || !strings.Contains(out.Stdout, "Do it.") {
		t.Errorf("agent logs:\n%s", out.Stdout)
	}
	m.answers(d, "-m", "The small one.")
	m.done(o.ID)
	m.wantStops("block not_signaled", "allow blocked_before", "block not_signaled")
	m.wantDecisions(o.ID, "signal")
}

// An agent that does not signal although it was told to is let go once its turn. Then it is idle.
func TestAgentThatDoesNotSignalIsIdleInTheEnd(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	m.API.Script(claudeapi.Text("I am finished."), claudeapi.Text("I am finished, I say."))
	m.API.On(claudeapi.Last("Signal it, then."), claudeapi.Text("Oh."))
	o := m.Go()
	d := m.asks(o.ID, "idle")
	m.wantStops("block not_signaled", "allow blocked_before")
	m.heard(1, received("Notification"))
	m.wantTold(1)

	// A person's words are the next prompt, in which it is held anew.
	m.API.On(claudeapi.Last("You must explicitly signal completion"), obey)
	m.answers(d, "-m", "Signal it, then.")
	m.done(o.ID)
	m.wantStops("block not_signaled", "allow blocked_before", "block not_signaled")
	m.wantDecisions(o.ID, "idle")
}

// A stop that counts as idle, and on_idle is done: the pipeline goes on without the agent.
func TestStopThatIsIdleIsDone(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_stop = \"idle\"\non_idle = \"done\"\n"))
	held := make(chan struct{})
	defer close(held)
	m.API.Script(claudeapi.Text("I am finished."), claudeapi.Hold(held, claudeapi.Text("never")))
	o := m.Go()
	m.done(o.ID)
	m.wantStops("block idle")
	if m.file("next") != "here\n" {
		t.Error("the next step did not run")
	}
	m.wantDecisions(o.ID)
	if !poll(patience, func() bool { return len(m.sessions()) == 0 }) {
		t.Errorf("the agent still runs: %v", m.sessions())
	}

	// Whatever is left of it may stop: nobody needs it any more.
	hook := m.Command("stopgate", "agent", "hook", "stop", o.Agent.ID)
	hook.Stdin = strings.NewReader(`{"stop_hook_active":false}`)
	if out, err := hook.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestStopThatIsIdleIsNudged(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_stop = \"idle\"\non_idle = { action = \"nudge\", message = \"Have you tested it?\", attempts = 2 }\n"))
	m.API.Script(claudeapi.Always(claudeapi.Text("I am finished.")))
	o := m.Go()
	d := m.asks(o.ID, "idle")
	if !strings.Contains(d.Context, "2") {
		t.Errorf("the decision says %q", d.Context)
	}
	m.wantPrompted("Do it.", "Have you tested it?", "Have you tested it?")
	for _, r := range m.all(func(r events.Record) bool { return r.Kind == events.Received }) {
		if r.Session != o.Agent.ID {
			t.Errorf("%s of another session, %s", r.Event, r.Session)
		}
	}
	m.answers(d, "done")
	m.done(o.ID)
	m.wantDecisions(o.ID, "idle")
}

func TestStopThatIsIdleIsPutToAGate(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_stop = \"idle\"\non_idle = { action = \"gate\", run = \"cat fixed\" }\n"))
	m.Allow("Bash")
	m.API.On(claudeapi.Last("Fix it."), bash("echo fixed > fixed"), claudeapi.Text("Fixed."))
	m.API.Script(claudeapi.Always(claudeapi.Text("I am finished.")))
	o := m.Go()
	d := m.asks(o.ID, "gate")
	if !strings.Contains(d.Context, "fixed") {
		t.Errorf("the decision says %q", d.Context)
	}
	m.answers(d, "-m", "Fix it.")
	m.done(o.ID)
	m.wantDecisions(o.ID, "gate")
}

// However often an agent stops while a person is waited for, the person is asked once, and told
// once. Here it stops again when a task of its own is over.
func TestEscalatedStop(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_stop = \"escalate\"\n"))
	m.Allow("Bash")
	over := filepath.Join(m.Tmp, "over")
	m.API.On(claudeapi.Last("Try again."), claudeapi.Text("I did."))
	m.API.Script(
		claudeapi.Tool("Bash", map[string]any{"command": "until test -e " + over + "; do sleep 0.1; done", "run_in_background": true, "description": "wait"}),
		claudeapi.Always(claudeapi.Text("I am finished.")),
	)
	o := m.Go()
	d := m.asks(o.ID, "stop")
	if o := m.reaches(o.ID, "work", "waiting"); o.Decision.ID != d.ID {
		t.Errorf("%+v", o)
	}
	m.wantOptions(d, "nudge", "done", "fail", "cancel")
	m.wantStops("block escalated", "allow blocked_before")
	m.Write(over, "")
	m.wantStops("block escalated", "allow blocked_before", "block escalated", "allow blocked_before")
	m.heard(1, received("Notification")) // it is idle, too
	m.wantTold(1)
	m.wantDecisions(o.ID, "stop")
	feedback := m.feedback()
	if len(feedback) == 0 || feedback[0] != "A human has been notified. Wait for instructions or signal completion." {
		t.Errorf("the agent was told %q", feedback)
	}

	// Words reach the agent; then it stops anew.
	m.answers(d, "nudge", "-m", "Try again.")
	m.API.WaitRequest(t, claudeapi.Last("Try again."))
	again := m.until(o.ID, "it stops again", func(o daemonapi.Owner) bool { return o.Decision != nil && o.Decision.ID != d.ID })
	m.wantTold(2)
	m.answers(*again.Decision, "done")
	m.done(o.ID)
	if m.file("next") != "here\n" {
		t.Error("the next step did not run")
	}
	if out := m.Stopgate("decision", "answer", d.ID, "done"); out.Code == 0 || !strings.Contains(out.Stderr, `was answered with "nudge"`) {
		t.Errorf("exit %d: %s", out.Code, out.Stderr)
	}
	m.wantDecisions(o.ID, "stop", "stop")
}

// What an agent says before it has the words of a person, who was told that it gets them, is no
// answer to them.
func TestWordsOfAPersonComeBeforeTheEnd(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_stop = \"escalate\"\n"))
	m.Allow("Bash")
	signal := bash("stopgate emit agent:signal --agent $STOPGATE_AGENT_ID complete")
	busy := make(chan struct{})
	m.API.On(claudeapi.Last("A human has been notified"), claudeapi.Hold(busy, signal), claudeapi.Always(claudeapi.Text("I have signalled.")))
	m.API.On(claudeapi.Last("Use staging first."), signal, claudeapi.Always(claudeapi.Text("I have used it.")))
	m.API.Script(claudeapi.Always(claudeapi.Text("I am finished.")))
	o := m.Go()
	d := m.asks(o.ID, "stop")
	m.API.WaitRequest(t, claudeapi.Last("A human has been notified"))
	m.answers(d, "nudge", "-m", "Use staging first.")
	close(busy)
	m.API.WaitRequest(t, claudeapi.Last("Use staging first."))
	m.done(o.ID)
	m.wantDecisions(o.ID, "stop")
}

// An agent that runs alone escalates unless told otherwise.
func TestAgentThatRunsAloneEscalates(t *testing.T) {
	t.Parallel()
	m := newManaged(t, alone(""))
	m.API.Script(claudeapi.Always(claudeapi.Text("I am finished.")))
	o := m.Go()
	d := m.asks(o.ID, "stop")
	config, err := os.ReadFile(filepath.Join(m.State, "agents", o.Agent.ID, "config.json"))
	if err != nil || string(config) != `{"on_stop":"escalate"}` {
		t.Errorf("config.json holds %s, %v", config, err)
	}
	m.wantStops("block escalated", "allow blocked_before")
	m.wantTold(1)
	m.answers(d, "cancel")
	m.reaches(o.ID, "cancelled", "cancelled")
	if !poll(patience, func() bool { return len(m.sessions()) == 0 }) {
		t.Errorf("the agent still runs: %v", m.sessions())
	}
}
