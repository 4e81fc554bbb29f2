package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/project/config"
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
	return newAccountIn(t, newMemory(t), budget)
}

func newAccountIn(t *testing.T, s store.Store, budget float64) *account {
	t.Helper()
	a := &account{t: t, core: testCore(s), dir: t.TempDir()}
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
	do(t, a.core, anID, engine.Input{ID: "s", What: engine.AgentSession{AgentID: a.agent(), Session: "second"}})
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
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: first}})
	do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: first, Code: 1}})
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

// An agent that spent, asked and ended while no daemon was there has spent all of it, also
// where another goes on in its session.
func TestSpendingUntilAnEndThatNobodySaw(t *testing.T) {
	a := newAccount(t, 0)
	agent := a.agent()
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
	a.pay(2, agent+".jsonl")
	a.want(true, 2)
	a.pay(5, agent+".jsonl")
	do(t, a.core, anID, engine.Input{ID: "idle", Late: true, Journal: true, What: engine.AgentIdle{AgentID: agent, Prompt: "p"}})
	a.spent = a.reopened()
	w := newWorld()
	w.start(agent, "")
	w.end(agent, 137)
	d := &daemon{core: a.core, spent: a.spent, Options: options(t, w, nil)}
	d.Ended = func(id string) bool { return id == agent }
	check(t, d.exits(t.Context()))
	if got := a.core.owner(anID).Cost().USD; got != 7 { // before anybody acts on the end
		t.Errorf("%v USD", got)
	}
	check(t, a.core.caughtUp(t.Context()))
	a.want(true, 7)
	if len(a.spent.list()) != 0 {
		t.Error("the purse of an agent that is gone is open")
	}
}

// An agent that its owner has left spends until it is ended, also while another daemon runs.
func TestSpendingUntilItIsEnded(t *testing.T) {
	a := newAccount(t, 0)
	agent := a.agent()
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
	a.pay(2, agent+".jsonl")
	a.want(true, 2)
	o := do(t, a.core, anID, engine.Input{ID: "cancel", What: engine.Cancel{}})
	a.pay(3, agent+".jsonl")
	a.want(false, 5)
	a.spent = a.reopened()
	a.spent.changed(nil, a.core.owner(anID))
	a.pay(4, agent+".jsonl")
	a.want(false, 9)
	for _, e := range o.Effects {
		do(t, a.core, anID, engine.Input{ID: e.Key, What: engine.EffectDone{Key: e.Key}})
	}
	a.pay(1, agent+".jsonl")
	a.want(false, 10)
	if len(a.spent.list()) != 0 {
		t.Error("the purse of an agent that has ended is open")
	}
}

// replace puts something else in the place of a transcript, which nobody can read. The
// function that it returns puts it back.
func (a *account) replace(path ...string) (back func()) {
	a.t.Helper()
	name := filepath.Join(append([]string{a.dir, "projects", "-p"}, path...)...)
	check(a.t, os.Rename(name, name+".away"))
	check(a.t, os.Mkdir(name, 0o755))
	return func() {
		a.t.Helper()
		check(a.t, os.Remove(name))
		check(a.t, os.Rename(name+".away", name))
	}
}

// again lets the agent that has exited be started again, in its session.
func (a *account) again() {
	a.t.Helper()
	d := a.core.owner(anID).Decision
	do(a.t, a.core, anID, engine.Input{ID: "retry", What: engine.Answer{Decision: d.ID, Option: "retry"}})
	a.begin()
}

// What an agent costs is no reason not to start it.
func TestACostThatCannotBeReadAtTheStart(t *testing.T) {
	a := newAccount(t, 0)
	first := a.agent()
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: first}})
	a.pay(2, first+".jsonl")
	a.pay(4, first, "subagents", "agent-x.jsonl")
	a.want(true, 6)
	do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: first, Code: 1}})
	a.want(true, 6)
	check(t, os.Mkdir(filepath.Join(a.dir, "projects", "-p", first, "subagents", "agent-y.jsonl"), 0o755))
	a.again()
	if len(a.core.trouble.list()) != 1 {
		t.Errorf("%q", a.core.trouble.list())
	}
	// What can be read counts.
	a.pay(3, first+".jsonl")
	a.want(false, 9)
	if len(a.core.trouble.list()) != 1 {
		t.Errorf("%q", a.core.trouble.list())
	}
	a.spent = a.reopened()
	a.spent.changed(nil, a.core.owner(anID))
	a.pay(1, first+".jsonl")
	a.want(false, 10)
}

// What cannot be read when an agent ends is read later.
func TestACostThatCannotBeReadAtTheEnd(t *testing.T) {
	a := newAccount(t, 0)
	agent := a.agent()
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
	a.pay(2, agent+".jsonl")
	a.want(true, 2)
	a.pay(5, agent+".jsonl")
	back := a.replace(agent + ".jsonl")
	a.spent.settle(t.Context(), agent)
	do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: agent, Code: 1}})
	a.want(true, 2)
	if len(a.spent.list()) != 1 || len(a.core.trouble.list()) != 1 {
		t.Errorf("%d purses, trouble %q", len(a.spent.list()), a.core.trouble.list())
	}
	back()
	a.want(false, 7)
	if len(a.spent.list()) != 0 || len(a.core.trouble.list()) != 0 {
		t.Errorf("%d purses, trouble %q", len(a.spent.list()), a.core.trouble.list())
	}
}

// What cannot be told when an agent ends is told later.
func TestACostThatCannotBeToldAtTheEnd(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	a := newAccountIn(t, s, 0)
	agent := a.agent()
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
	a.want(true, 0)
	a.pay(5, agent+".jsonl")
	do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: agent, Code: 1}})
	s.set(func(store.NewEvent) error { return errors.New("the disk is full") }, nil)
	a.want(true, 0)
	s.set(nil, nil)
	a.want(false, 5)
	if len(a.spent.list()) != 0 {
		t.Error("the purse of an agent that is gone is open")
	}
}

// Nobody waits for ever for what cannot be read.
func TestACostThatIsNeverKnown(t *testing.T) {
	a := newAccount(t, 0)
	agent := a.agent()
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
	a.pay(0, agent+".jsonl")
	a.want(true, 0)
	a.pay(2, agent+".jsonl")
	a.replace(agent + ".jsonl")
	var log strings.Builder
	a.core.log = slog.New(slog.NewTextHandler(&log, nil))
	now := time.Now()
	a.core.now = func() time.Time { return now }
	do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: agent, Code: 1}})
	a.want(true, 0)
	now = now.Add(partPatience - time.Second)
	a.want(true, 0)
	if len(a.spent.list()) != 1 || log.Len() != 0 {
		t.Errorf("%d purses, and %q", len(a.spent.list()), log.String())
	}
	now = now.Add(time.Second)
	a.want(true, 0)
	if len(a.spent.list()) != 0 || len(a.core.trouble.list()) != 0 || !strings.Contains(log.String(), agent) {
		t.Errorf("%d purses, trouble %q, and %q", len(a.spent.list()), a.core.trouble.list(), log.String())
	}
}

// What could not be read of a session when its agent ended counts once, whoever goes on in
// it.
func TestACostThatIsKnownWhenAnotherGoesOn(t *testing.T) {
	for name, before := range map[string]bool{"before it starts": true, "later": false} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t, 0)
			agent := a.agent()
			do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
			a.pay(0, agent+".jsonl")
			a.want(true, 0)
			a.pay(2, agent+".jsonl")
			back := a.replace(agent + ".jsonl")
			do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: agent, Code: 1}})
			a.want(true, 0)
			if before {
				back()
			}
			a.again()
			if !before {
				back()
			}
			a.pay(3, agent+".jsonl")
			a.want(true, 5)
			a.pay(1, agent+".jsonl")
			a.want(true, 6)
			if len(a.spent.list()) != 1 || len(a.core.trouble.list()) != 0 {
				t.Errorf("%d purses, trouble %q", len(a.spent.list()), a.core.trouble.list())
			}
		})
	}
}

// A client that goes on in an old session writes no transcript under its own id. It is
// looked for now and then.
func TestASessionWithoutATranscript(t *testing.T) {
	a := newAccount(t, 0)
	first := a.agent()
	do(t, a.core, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: first}})
	a.pay(2, first+".jsonl")
	do(t, a.core, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: first, Code: 1}})
	a.want(true, 2)
	a.again()
	now := time.Now()
	a.core.now = func() time.Time { return now }
	a.want(false, 2)
	a.pay(3, a.agent()+".jsonl")
	now = now.Add(lookAgain - time.Second)
	a.want(false, 2)
	now = now.Add(time.Second)
	a.want(false, 5)
	// Whoever wants to know all looks, and so does everybody for the session that it is in.
	do(t, a.core, anID, engine.Input{ID: "s", What: engine.AgentSession{AgentID: a.agent(), Session: "second"}})
	a.want(false, 5)
	a.pay(4, "second.jsonl")
	a.want(false, 9)
	do(t, a.core, anID, engine.Input{ID: "t", What: engine.AgentSession{AgentID: a.agent(), Session: "third"}})
	a.want(false, 9)
	do(t, a.core, anID, engine.Input{ID: "u", What: engine.AgentSession{AgentID: a.agent(), Session: "second"}})
	a.pay(5, "third.jsonl")
	a.want(false, 9)
	a.want(true, 14)
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
		if got := worthRecording(test.owner, spent(test.told), spent(test.now), test.all); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
