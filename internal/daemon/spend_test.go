package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/runbook"
)

// account is an owner with an agent that spends.
type account struct {
	t     *testing.T
	core  *core
	spent *spending
	dir   string // the client's
	lines int
}

func newAccount(t *testing.T, budget float64) *account {
	t.Helper()
	a := &account{t: t, core: testCore(newMemory(t)), dir: t.TempDir()}
	a.spent = a.reopened()
	plan := clientPlan()
	plan.Pipeline.Budget = runbook.Budget{USD: budget}
	do(t, a.core, anID, create(anID, plan))
	a.begin()
	return a
}

// begin lets the agent be started, as the daemon does.
func (a *account) begin() {
	a.t.Helper()
	d := daemon{core: a.core, spent: a.spent}
	a.spent.changed(nil, a.core.owner(anID))
	for _, e := range a.core.owner(anID).Effects {
		check(a.t, d.report(a.t.Context(), anID, engine.Input{ID: e.Key + ":started", What: engine.EffectStarted{Key: e.Key}}))
		do(a.t, a.core, anID, engine.Input{ID: e.Key + ":done", What: engine.EffectDone{Key: e.Key}})
	}
}

// reopened is the spending of the next daemon.
func (a *account) reopened() *spending {
	a.t.Helper()
	state := a.t.TempDir()
	if a.spent != nil {
		state = a.spent.stateDir
	}
	return newSpending(a.core, state, func(engine.AgentStart) string { return a.dir }, func() []config.Price {
		return []config.Price{{Model: "m", Input: 1e6, Output: 0, CacheRead: new(0.0), CacheWrite: new(0.0)}}
	})
}

// pay lets a model answer in a transcript, for so many dollars.
func (a *account) pay(usd int, path ...string) {
	a.t.Helper()
	a.lines++
	name := filepath.Join(append([]string{a.dir, "projects", "-p"}, path...)...)
	check(a.t, os.MkdirAll(filepath.Dir(name), 0o755))
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	check(a.t, err)
	_, err = fmt.Fprintf(f, `{"type":"assistant","timestamp":"2026-11-15T12:00:00Z","message":{"id":"msg_%d","role":"assistant","model":"m","usage":{"input_tokens":%d,"output_tokens":0}}}`+"\n", a.lines, usd)
	check(a.t, err)
	check(a.t, f.Close())
}

func (a *account) agent() string { return a.core.owner(anID).Agent.ID }

// want counts, and compares what is on record.
func (a *account) want(all bool, usd float64) {
	a.t.Helper()
	for _, p := range a.spent.list() {
		a.spent.count(a.t.Context(), p, all)
	}
	if got := a.core.owner(anID).Cost().USD; got < usd-1e-9 || got > usd+1e-9 {
		a.t.Errorf("%v USD, want %v (%v)", got, usd, a.core.trouble.list())
	}
}

func TestSpending(t *testing.T) {
	a := newAccount(t, 0)
	a.want(true, 0)
	a.pay(2, a.agent()+".jsonl")
	a.want(false, 2)
	a.pay(3, a.agent(), "subagents", "agent-x.jsonl")
	a.want(false, 5)
	a.want(true, 5)

	// /clear: the client goes on in another session.
	do(t, a.core, anID, engine.Input{ID: "s", What: engine.AgentSession{Agent: a.agent(), Session: "second"}})
	a.pay(4, "second.jsonl")
	a.pay(1, a.agent()+".jsonl") // of the last words
	a.want(false, 10)

	a.spent = a.reopened()
	a.spent.changed(nil, a.core.owner(anID))
	a.want(true, 10)
	a.pay(5, "second.jsonl")
	a.want(false, 15)
}

// What a session has cost before is not what the agent costs that goes on in it.
func TestSpendingInAnOldSession(t *testing.T) {
	a := newAccount(t, 0)
	first := a.agent()
	a.pay(2, first+".jsonl")
	a.want(true, 2)
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{Agent: first}})
	do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{Agent: first, Code: 1}})
	a.want(true, 2)
	if len(a.spent.list()) != 0 {
		t.Error("the purse of an agent that is gone is open")
	}
	d := a.core.owner(anID).Decision
	do(t, a.core, anID, engine.Input{ID: "retry", What: engine.Answer{Decision: d.ID, Option: "retry"}})
	if a.agent() == first || a.core.owner(anID).Agent.Session != first {
		t.Fatalf("agent %+v", a.core.owner(anID).Agent)
	}
	a.spent.changed(nil, a.core.owner(anID))
	a.want(true, 2)
	a.begin()
	a.pay(3, first+".jsonl")
	a.spent = a.reopened() // the daemon was killed before it counted
	a.spent.changed(nil, a.core.owner(anID))
	a.want(false, 5)
	a.spent = a.reopened()
	a.spent.changed(nil, a.core.owner(anID))
	a.pay(1, first+".jsonl")
	a.want(true, 6)
	want := map[string]engine.Spent{first: {USD: 2}, a.agent(): {USD: 4}}
	if diff := cmp.Diff(want, a.core.owner(anID).Spent, cmpopts.IgnoreFields(engine.Spent{}, "Tokens")); diff != "" {
		t.Error(diff)
	}
}

// What is on record is never less than it was.
func TestATranscriptThatIsGone(t *testing.T) {
	a := newAccount(t, 0)
	a.pay(2, a.agent()+".jsonl")
	a.want(true, 2)
	check(t, os.Remove(filepath.Join(a.dir, "projects", "-p", a.agent()+".jsonl")))
	a.spent = a.reopened()
	a.spent.changed(nil, a.core.owner(anID))
	a.want(true, 2)
	if trouble := a.core.trouble.list(); trouble != nil {
		t.Errorf("%q", trouble)
	}
}

func TestWorthTelling(t *testing.T) {
	spent := func(usd float64) engine.Spent { return engine.Spent{USD: usd} }
	owner := func(budget, extended, paid float64) *engine.Owner {
		return &engine.Owner{
			Plan:     &runbook.Plan{Pipeline: runbook.Pipeline{Budget: runbook.Budget{USD: budget}}},
			Extended: runbook.Budget{USD: extended}, Spent: map[string]engine.Spent{"a": spent(paid)},
		}
	}
	for name, test := range map[string]struct {
		owner     *engine.Owner
		told, now float64
		all, want bool
	}{
		"nothing":                 {owner(0, 0, 1), 1, 1, true, false},
		"little":                  {owner(0, 0, 1), 1, 1.04, false, false},
		"little, and all":         {owner(0, 0, 1), 1, 1.04, true, true},
		"more":                    {owner(0, 0, 1), 1, 1.05, false, true},
		"a hundredth":             {owner(1, 0, 0.1), 0.1, 0.111, false, true},
		"less than a hundredth":   {owner(1, 0, 0.1), 0.1, 0.105, false, false},
		"cents of a large budget": {owner(100, 0, 1), 1, 1.06, false, true},
		"over the budget":         {owner(1, 0, 0.999), 0.999, 1.001, false, true},
		"over it before":          {owner(1, 0, 1.001), 1.001, 1.002, false, false},
		"over what was added":     {owner(1, 1, 1.999), 1.999, 2.001, false, true},
	} {
		if got := worthTelling(test.owner, spent(test.told), spent(test.now), test.all); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
