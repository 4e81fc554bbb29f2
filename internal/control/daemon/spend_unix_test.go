//go:build unix

package daemon

import (
	"testing"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// A daemon that finds an agent's end finds as well what it has spent until then.
func TestADaemonFindsWhatWasSpent(t *testing.T) {
	s := newMemory(t)
	a := newAccountIn(t, s, 0)
	agent := a.agent()
	a.pay(5, agent+".jsonl")
	do(t, a.core, anID, engine.Input{ID: "idle", Late: true, Journal: true, What: engine.AgentIdle{AgentID: agent, Prompt: "p"}})
	w := newWorld()
	w.start(agent, "")
	w.end(agent, 137)
	o := options(t, w, s)
	o.Environ = []string{"CLAUDE_CONFIG_DIR=" + a.dir}
	o.Ended = func(id string) bool { return id == agent }
	r := begin(t, w, o)
	view, err := r.Owner(t.Context(), anID)
	check(t, err)
	if view.Agent == nil || view.Agent.Status != "exited" || view.Agent.Tokens != 5 {
		t.Errorf("%+v", view.Agent)
	}
}
