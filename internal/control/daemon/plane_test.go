package daemon

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// The runbook may have an agent's client keep its transcripts where nobody else does.
func TestWhereAConversationIs(t *testing.T) {
	a := newAccount(t, 0)
	agent := a.agent()
	p := &plane{core: a.core, queued: func(string) bool { return false }, opts: Options{StateDir: a.spent.stateDir, Log: quiet(), Now: time.Now}}
	want := func(listed, shown string) {
		t.Helper()
		place := func(name string) string {
			if name == "" {
				return ""
			}
			return filepath.Join(a.dir, "projects", name)
		}
		if got := p.Agents(t.Context())[0].Transcript; got != place(listed) {
			t.Errorf("in a list: %q", got)
		}
		if got, err := p.Agent(t.Context(), agent); err != nil || got.Transcript != place(shown) {
			t.Errorf("alone: %q, %v", got.Transcript, err)
		}
		if got, err := p.Owner(t.Context(), anID); err != nil || got.Agent.Transcript != place(shown) {
			t.Errorf("with its owner: %q, %v", got.Agent.Transcript, err)
		}
	}
	own := filepath.Join("-p", agent+".jsonl")
	want("", "")
	a.pay(1, agent+".jsonl")
	want(own, own)
	do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: agent, Code: 1}})
	want("", own) // there may be many that never stopped
	dir, err := agentdir.At(p.opts.StateDir, agent)
	check(t, err)
	check(t, dir.SetLast(agentdir.Last{Transcript: filepath.Join(a.dir, "projects", "-p", "before.jsonl")}))
	want(own, own)
	check(t, dir.SetLast(agentdir.Last{Transcript: filepath.Join(a.dir, "projects", "-q", "before.jsonl")}))
	want(filepath.Join("-q", "before.jsonl"), own)
}
