//go:build unix

package e2e

import (
	"testing"

	events "github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// An agent that has signalled may stop, whatever its on_stop says: nobody hears of the stop, and
// what it signalled is what a person is asked about.
func TestSignalComesBeforeOnStop(t *testing.T) {
	t.Parallel()
	for _, onStop := range []string{"idle", "escalate"} {
		t.Run(onStop, func(t *testing.T) {
			t.Parallel()
			m := newManaged(t, pipeline("on_stop = \""+onStop+"\"\n"))
			m.Allow("Bash")
			m.API.Script(bash(`stopgate emit agent:signal --agent "$OJ_AGENT_ID" '{"kind":"escalate","message":"Which database?"}'`), claudeapi.Text("I wait."))
			o := m.Go()
			d := m.asks(o.ID, "signal")
			if d.Context != "Which database?" {
				t.Errorf("the decision says %q", d.Context)
			}
			if r := m.heard(1, verdict("lifecycle", "signaled")); r.Decision != "allow" {
				t.Errorf("the stop was answered %+v", r)
			}
			for _, name := range []string{events.AgentIdle, events.AgentStop} {
				if said := m.all(func(r events.Record) bool { return r.Event == name }); len(said) > 0 {
					t.Errorf("%s was emitted", name)
				}
			}
			m.answers(d, "done")
			m.done(o.ID)
			m.wantDecisions(o.ID, "signal")
		})
	}
}

// What a stop means is in a file that the agent's hook finds by OJ_STATE_DIR, at each stop anew.
// Without it the agent must signal.
func TestOnStopIsReadFromTheAgentsFile(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_stop = \"escalate\"\n"))
	m.Allow("Bash")
	m.API.Script(bash(`mv "$OJ_STATE_DIR/agents/$OJ_AGENT_ID/config.json" was`), claudeapi.Text("I am finished."), obey)
	o := m.Go()
	m.done(o.ID)
	if got := m.file("was"); got != `{"on_stop":"escalate"}` {
		t.Errorf("config.json held %s", got)
	}
	m.wantStops("block not_signaled")
	m.wantDecisions(o.ID)
}
