//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// Over the cap agents wait, and run when there is room.
func TestAgentsOverTheCapWait(t *testing.T) {
	t.Parallel()
	m := newManaged(t, "max_agents = 1\n"+pipeline(""))
	first := make(chan struct{})
	m.API.On(claudeapi.Last("You must explicitly signal"), claudeapi.Always(obey))
	m.API.Script(claudeapi.Hold(first, claudeapi.Text("I am finished.")), claudeapi.Always(claudeapi.Text("I am finished.")))
	one, two := m.Go(), m.Go()
	m.API.WaitRequest(t, claudeapi.Last("Do it."))
	if list := m.Stopgate("agent", "list").mustPass(t); strings.Count(list.Stdout, "queued") != 1 || len(m.sessions()) != 1 {
		t.Errorf("%v\n%s", m.sessions(), list.Stdout)
	}
	close(first)
	m.done(one.ID)
	m.done(two.ID)
}

// What is over its budget is ended, and goes on in its session when a person says so.
func TestAgentOverItsBudgetIsEnded(t *testing.T) {
	t.Parallel()
	m := newManaged(t, strings.Replace(pipeline(""), "[pipeline.go]\n", "[pipeline.go]\nbudget = { usd = 35.0 }\n", 1))
	// A message of the fake model has ten tokens of input.
	m.Global("prices:\n  - { model: \"*\", input: 1000000, output: 0 }\n")
	m.Allow("Bash")
	forever := make(chan struct{})
	defer close(forever)
	m.API.On(claudeapi.Last("Please continue"), claudeapi.Text("I am finished."))
	m.API.On(claudeapi.Last("You must explicitly signal"), obey)
	m.API.Script(bash("true"), bash("true"), bash("true"), bash("true"), claudeapi.Hold(forever, claudeapi.Text("never")))
	o := m.Go()
	d := m.asks(o.ID, "budget")
	m.wantOptions(d, "extend", "done", "cancel")
	if !strings.Contains(d.Context, "$40.00 of $35.00") {
		t.Errorf("the decision says %q", d.Context)
	}
	if !poll(patience, func() bool { return len(m.sessions()) == 0 }) {
		t.Errorf("the agent still runs: %v", m.sessions())
	}
	m.answers(d, "extend")
	again := m.until(o.ID, "it is started again", func(now daemonapi.Owner) bool { return now.Agent.ID != o.Agent.ID })
	if again.Agent.Session != o.Agent.ID {
		t.Errorf("the agent is %+v", again.Agent)
	}
	m.done(o.ID)
	m.wantPrompted("Do it.", "Please continue with the task.")
	m.wantDecisions(o.ID, "budget")
}
