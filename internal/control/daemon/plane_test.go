package daemon

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
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
		if got := agentsNow(t, p)[0].Transcript; got != place(listed) {
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

// A prefix that several ids have is refused, with those ids.
func TestAmbiguousPrefixesAreListed(t *testing.T) {
	c := testCore(newMemory(t))
	for n := range 25 {
		do(t, c, newID(n), create(newID(n), agentPlan(runbook.Action{})))
	}
	p := &plane{core: c, queued: func(string) bool { return false }, opts: Options{StateDir: t.TempDir(), Log: quiet(), Now: time.Now}}
	refused := func(err error) *daemonapi.Error {
		t.Helper()
		refusal, ok := errors.AsType[*daemonapi.Error](err)
		if !ok {
			t.Fatalf("not refused: %v", err)
		}
		return refusal
	}

	_, err := p.Owner(t.Context(), "000")
	if e := refused(err); e.Code != "conflict" || e.Error() != "000 is ambiguous (25 matches)" ||
		!strings.HasPrefix(e.Hint, "  "+newID(0)+"  pipeline work, running\n") || strings.Count(e.Hint, "\n") != 20 {
		t.Errorf("%s: %s\n%s", e.Code, e.Error(), e.Hint)
	}
	agents := agentsNow(t, p)
	first := map[string]int{}
	for _, a := range agents {
		first[a.ID[:1]]++
	}
	for prefix, n := range first {
		if n < 2 {
			continue
		}
		_, err := p.Agent(t.Context(), prefix)
		if e := refused(err); e.Code != "conflict" || strings.Count(e.Hint, ", running") != n {
			t.Errorf("%s: %s\n%s, want %d agents", e.Code, e.Error(), e.Hint, n)
		}
		return
	}
	t.Error("no two agents begin alike") // of 25 with 16 digits
}
