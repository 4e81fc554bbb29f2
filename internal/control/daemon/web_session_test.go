package daemon

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

// usageLine is a message of the model that has used some tokens.
func usageLine(id, when string) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"id":%q,"model":"claude-sonnet-4-5","role":"assistant","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":1000000,"output_tokens":0}}}`+"\n", when, id)
}

func TestIssue18SessionOfAnAgent(t *testing.T) {
	p, agent, path := clientPlane(t)
	a, found := p.SessionAgent(t.Context(), agent) // which is the session's id as well
	if !found || a.ID != agent {
		t.Fatalf("%+v %t", a, found)
	}
	if _, found := p.SessionAgent(t.Context(), ""); found {
		t.Error("of no session")
	}
	check(t, os.WriteFile(path, []byte(said(t, "hello")), 0o600))
	c, err := p.SessionConversation(t.Context(), agent, api.Range{Before: true, Limit: 10})
	if err != nil || len(c.Messages) != 1 || c.Messages[0].Text != "hello" {
		t.Errorf("%+v %v", c, err)
	}
	c, err = p.SessionConversation(t.Context(), "another", api.Range{Before: true, Limit: 10})
	if err != nil || len(c.Messages) != 0 {
		t.Errorf("%+v %v", c, err)
	}
}

// An agent of before is found by its session, also the second time, and once nothing was found also when it
// is an agent of now.
func TestIssue18SessionOfAnAgentOfBefore(t *testing.T) {
	state := engine.NewState()
	plan := &runbook.Plan{Pipeline: shellPlan("one").Pipeline}
	had := &engine.Owner{ID: newID(1), Kind: engine.Pipeline, Step: runbook.EndDone, Status: engine.Ended, Created: noon, Plan: plan, History: []engine.Visit{{Step: "one", AgentID: "old"}}}
	state.Put(had)
	p := planeOf(t, newCore(nil, state, 0, quiet(), time.Now))
	for range 2 {
		if a, found := p.SessionAgent(t.Context(), "old"); !found || a.ID != "old" {
			t.Errorf("%+v %t", a, found)
		}
		if a, found := p.SessionAgent(t.Context(), "new"); found {
			t.Errorf("%+v", a)
		}
	}
	has := &engine.Owner{ID: newID(2), Kind: engine.Pipeline, Step: "one", Status: engine.Running, Created: noon, Plan: plan, Agent: &engine.Agent{ID: "new", Session: "new"}}
	state.Put(has)
	if a, found := p.SessionAgent(t.Context(), "new"); !found || a.ID != "new" {
		t.Errorf("%+v %t", a, found)
	}
}

// Each message counts once and at its time, also those of subagents; only what is new is read.
func TestIssue18SessionSpending(t *testing.T) {
	p, agent, path := clientPlane(t)
	check(t, os.WriteFile(path, []byte(usageLine("1", "2026-01-30T08:00:00Z")+usageLine("1", "2026-01-30T08:00:01Z")+usageLine("2", "2026-01-30T10:00:00Z")), 0o600))
	sub := filepath.Join(filepath.Dir(path), agent, "subagents", "a.jsonl")
	check(t, os.MkdirAll(filepath.Dir(sub), 0o700))
	check(t, os.WriteFile(sub, []byte(usageLine("3", "2026-01-30T09:00:00Z")), 0o600))
	spent, err := p.SessionSpending(t.Context(), agent)
	check(t, err)
	if len(spent) != 3 || spent[1].Time.Hour() != 9 || math.Abs(spent[2].USD-3*spent[0].USD) > 1e-6 || spent[0].USD <= 0 || spent[2].Tokens != 3_000_000 {
		t.Errorf("%+v", spent)
	}

	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	check(t, err)
	var more strings.Builder
	for i := range 3 * mostPoints {
		more.WriteString(usageLine(fmt.Sprintf("m%d", i), fmt.Sprintf("2026-01-30T11:%02d:%02dZ", i/60%60, i%60)))
	}
	_, err = file.WriteString(more.String())
	check(t, err)
	check(t, file.Close())
	many, err := p.SessionSpending(t.Context(), agent)
	check(t, err)
	if last := many[len(many)-1]; len(many) > mostPoints || last.Tokens != int64(3+3*mostPoints)*1_000_000 {
		t.Errorf("%d points, the last %+v", len(many), last)
	}
	if none, err := p.SessionSpending(t.Context(), "another"); none != nil || err != nil {
		t.Error(none, err)
	}
}

func TestIssue18StoreIsVerified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopgate.db")
	s, err := sqlite.Open(t.Context(), path)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	_, err = appendEvent(t.Context(), s, store.NewEvent{Subject: "daemon.journal", ID: "1", Data: []byte(`{}`)})
	check(t, err)
	p := planeOf(t, testCore(s))
	if sound, err := p.VerifyStore(t.Context()); err != nil || !sound.Sound || sound.Events != 1 {
		t.Errorf("%+v %v", sound, err)
	}
	p = planeOf(t, testCore(newMemory(t)))
	if sound, err := p.VerifyStore(t.Context()); err == nil {
		t.Errorf("a store that cannot be verified is %+v", sound)
	}
}
