package engine

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

func TestStateFindsOwnersByTheBeginningOfTheirIDs(t *testing.T) {
	state := NewState()
	for i, id := range []string{"aaaa000000000001", "aaaa000000000002", "bbbb000000000003"} {
		s := newStage(t, id)
		s.now = noon.Add(time.Duration(i) * time.Hour)
		s.do(Create{Owner: id, Kind: Pipeline, Name: "p", Plan: shells("a")})
		state.Put(s.o)
	}
	if o, err := state.Resolve("bb"); err != nil || o.ID != "bbbb000000000003" {
		t.Fatalf("%v %v", o, err)
	}
	for prefix, code := range map[string]string{"aaaa": "conflict", "cc": "not_found", "": "not_found"} {
		_, err := state.Resolve(prefix)
		var r *Refusal
		if !errors.As(err, &r) || r.Code != code {
			t.Errorf("%q: %v, want %s", prefix, err, code)
		}
	}
	if owners := state.Owners(); len(owners) != 3 || owners[0].ID != "bbbb000000000003" {
		t.Errorf("not the newest first")
	}
}

func TestStateFindsDecisions(t *testing.T) {
	s := asked(t, FromStop)
	first := s.o.Decision.ID
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalEscalate, "x"}})
	state := NewState()
	state.Put(s.o)
	for _, id := range []string{first, first[:12], s.o.Decision.ID} {
		if o, d, err := state.ResolveDecision(id); err != nil || o.ID != s.id || !strings.HasPrefix(d.ID, id) {
			t.Errorf("%s: %v %v", id, d, err)
		}
	}
	if _, _, err := state.ResolveDecision("zz"); err == nil {
		t.Error("found a decision that is not there")
	}
}

// An owner is found by its current agent, and by no other.
func TestIndex(t *testing.T) {
	s := start(t, work(worker()))
	state := NewState()
	found := func(agent string) bool {
		state.Put(s.o)
		return state.OwnerOf(agent) != nil
	}
	first := s.agent()
	if !found(first) {
		t.Fatal("it is not found before it starts")
	}
	s.carryOut()
	s.do(AgentExited{AgentID: first})
	s.do(Answer{Decision: s.o.Decision.ID, Option: "retry", Message: ""})
	if !found(s.agent()) || !found(first) { // whose session goes on
		t.Fatal("it is not found when it was started again")
	}
	s.do(Cancel{})
	if found(first) || len(state.agents)+len(state.sessions) != 0 {
		t.Fatal("something is left in the index")
	}
}

// Plans that nobody has any more are forgotten.
func TestPlansAreForgotten(t *testing.T) {
	var p plans
	for i := range 1000 {
		p.share(&runbook.Plan{Pipeline: runbook.Pipeline{Name: strconv.Itoa(i)}})
		if i%100 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	kept := &runbook.Plan{Pipeline: runbook.Pipeline{Name: "kept"}}
	p.sweep = 0
	if p.share(kept); len(p.known) != 1 {
		t.Errorf("%d plans are known", len(p.known))
	}
	runtime.KeepAlive(kept)
}

func TestSnapshot(t *testing.T) {
	state := NewState()
	for i := range 20 {
		s := asked(t, []Source{FromStop, FromGate, FromDead, FromLost}[i%4])
		o := s.o.Clone()
		o.ID, o.Version = fmt.Sprintf("%016x", i), uint64(i+7)
		state.Put(o)
	}
	state.Held = map[string]string{"pipeline.0000000000000003": "an event was changed", "run.00000000000000ff": "all are missing"}
	encoded, err := EncodeState(state.Owners(), state.Held, state.Intake)
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeState(encoded)
	check(t, err)
	if !maps.Equal(again.Held, state.Held) {
		t.Errorf("held are %v", again.Held)
	}
	plans := map[any]bool{}
	for _, o := range state.Owners() {
		restored := again.Owner(o.ID)
		if text(restored) != text(o) || restored.Version != o.Version {
			t.Fatalf("%s", diff(text(o), text(restored)))
		}
		plans[restored.Plan] = true
	}
	if len(plans) != 3 || strings.Count(string(encoded), `"steps"`) != 3 {
		t.Fatalf("%d plans where three differ", len(plans))
	}
	if len(again.agents) != len(state.agents) || len(again.sessions) != len(state.sessions) {
		t.Fatal("the index differs")
	}
	for _, none := range []string{`{}`, `{"v":0}`, `{"v":-1}`} {
		if _, err := DecodeState([]byte(none)); err == nil || strings.Contains(err.Error(), "newer") {
			t.Errorf("%s: %v", none, err)
		}
		if _, err := DecodeStep([]byte(none)); err == nil || strings.Contains(err.Error(), "newer") {
			t.Errorf("%s: %v", none, err)
		}
	}
	if _, err := DecodeState([]byte(`{"v":2}`)); err == nil || !strings.Contains(err.Error(), "newer stopgate") {
		t.Fatalf("%v", err)
	}
}

func TestStepsOfANewerStopgateAreRefused(t *testing.T) {
	for _, step := range []string{`{"v":2,"owner":"x"}`, `{"v":1,"owner":"x","facts":[{"type":"moon:landed"}]}`, `{"v":1,"facts":[{"x":1,"type":"moon:landed"}]}`} {
		if _, err := DecodeStep([]byte(step)); err == nil || !strings.Contains(err.Error(), "newer stopgate") {
			t.Errorf("%s: %v", step, err)
		}
	}
}

func TestFactsAreFlatObjects(t *testing.T) {
	s := asked(t, FromStop)
	stored := string(s.log[len(s.log)-1])
	if want := `{"type":"step:waiting","step":"work","reason":"on_stop: escalate","decision_id":"` + s.o.Decision.ID + `"}`; !strings.Contains(stored, want) {
		t.Fatalf("%s is not in\n%s", want, stored)
	}
}

func TestIDs(t *testing.T) {
	if a, b := EventID("ab", "c"), EventID("a", "bc"); a == b || len(a) != 32 {
		t.Fatalf("%s %s", a, b)
	}
	id := agentID(testOwner, 1)
	if len(id) != 36 || id[14] != '5' || !strings.Contains("89ab", id[19:20]) || id == agentID(testOwner, 2) {
		t.Fatalf("%s is no UUID", id)
	}
}

// FuzzDecodeStep holds that nothing in the store makes the fold panic.
func FuzzDecodeStep(f *testing.F) {
	s := asked(f, FromGate)
	for _, step := range s.log {
		f.Add(step)
	}
	f.Add([]byte(`{"v":1,"facts":[{"type":"agent:idle","counted":true},{"type":"pipeline:advanced","step":"done"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		step, err := DecodeStep(data)
		if err != nil {
			return
		}
		encoded, err := EncodeStep(step)
		check(t, err)
		if _, err := DecodeStep(encoded); err != nil {
			t.Fatalf("%v: %s", err, encoded)
		}
		if o, err := Apply(nil, step); err == nil {
			NewState().Put(o)
		}
		step.Owner = s.id
		if _, err := Apply(s.o.Clone(), step); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeState(f *testing.F) {
	s := asked(f, FromGate)
	state := NewState()
	state.Put(s.o)
	seed, err := EncodeState(state.Owners(), state.Held, state.Intake)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"v":1,"owners":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		state, err := DecodeState(data)
		if err != nil {
			return
		}
		if _, err := EncodeState(state.Owners(), state.Held, state.Intake); err != nil {
			t.Fatal(err)
		}
	})
}

// An owner remembers the newest of what it heard, and not all of it.
func TestWhatIsHeardIsBounded(t *testing.T) {
	s := atWork(t, worker())
	s.quick = true
	var last Input
	for range keptSeen + 200 {
		last = s.input(AgentWorking{AgentID: s.agent(), Prompt: "p"})
		last.Journal = true
		s.tell(last)
	}
	if n := len(s.o.Seen); n != keptSeen || n > 1000 {
		t.Errorf("%d are remembered", n)
	}
	if s.tell(last); s.facts() != "" {
		t.Errorf("heard twice: %s", s.facts())
	}
}
