package fleet

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/test/chaos/books"
	"github.com/stopgate/stopgate/test/chaos/ran"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// event is an event of the fleet's store.
func event(t *testing.T, subject string, fact any) entry {
	t.Helper()
	data, err := json.Marshal(fact)
	check(t, err)
	return entry{subject, data}
}

// A cap that held more than its limit is counted, and one that held as much is not.
func TestTheAuditSeesACapThatWasExceeded(t *testing.T) {
	log := []entry{
		event(t, "cap.c", job.CapFact{Type: "set", Limit: &job.Limit{Jobs: 1}}),
		event(t, "job.1", job.Fact{Type: job.Added, Spec: &job.Spec{Cap: "c"}}),
		event(t, "job.1", job.Fact{Type: job.HasClaimed, By: "a", Attempt: 1}),
		event(t, "cap.c", job.CapFact{Type: "reserved", Job: "1", Attempt: 1}),
		event(t, "cap.c", job.CapFact{Type: "settled", Job: "1", Attempt: 1}),
		event(t, "cap.c", job.CapFact{Type: "reserved", Job: "2", Attempt: 1}),
	}
	b, err := fold(log)
	check(t, err)
	if b.exceeded != 0 || b.most != 1 || b.jobs["1"].Member != "a" || len(b.facts["1"]) != 2 {
		t.Errorf("%+v", b)
	}
	b, err = fold(append(log, event(t, "cap.c", job.CapFact{Type: "reserved", Job: "3", Attempt: 1})))
	check(t, err)
	if b.exceeded != 1 || b.most != 2 {
		t.Errorf("%d times exceeded, %d at most", b.exceeded, b.most)
	}
}

// What ran twice, on one machine or on two, never ran, was lost, doubled, or is in two stores, is counted.
func TestTheAuditSeesWhatIsWrong(t *testing.T) {
	sound := func() *audit {
		s := &stage{T: t, World: &world.World{}}
		act := &books.Act{Effect: engine.Effect{Kind: engine.StartShell, Key: "k"}, Owner: "o", End: "done"}
		told := &books.Act{Effect: engine.Effect{Kind: engine.SendAgent, Key: "s", Text: "Begin"}, Owner: "o", End: "done"}
		s.said = []word{{"start", "o", ""}, {"answer", "d", "Go on"}, {"send", "a", "Begin"}}
		return &audit{
			stage: s, quiet: true, ran: []ran.Line{{What: "begun", Owner: "o", Key: "k"}, {What: "emitted", Event: "agent:signal", Text: "t"}},
			books: []*books.Books{
				{Acts: map[string]*books.Act{"k": act, "s": told}, Owners: map[string]int{"o": 3}, Words: map[string]int{"agent:signal t": 1}, Resolved: map[string][]engine.DecisionResolved{"d": {{ID: "d"}}}},
				{Acts: map[string]*books.Act{}, Owners: map[string]int{}, Words: map[string]int{}, Resolved: map[string][]engine.DecisionResolved{}},
			},
		}
	}
	for name, test := range map[string]struct {
		spoil func(a *audit)
		want  string
	}{
		"nothing":                     {func(*audit) {}, ""},
		"ran twice":                   {func(a *audit) { a.ran = append(a.ran, a.ran[0]) }, "(owner, key) executed twice"},
		"never ran":                   {func(a *audit) { a.ran = a.ran[1:] }, "counted as done and never ran"},
		"in two stores":               {func(a *audit) { a.books[0].Owners["p"], a.books[1].Owners["p"] = 1, 1 }, "owners in the stores of several machines"},
		"start lost":                  {func(a *audit) { delete(a.books[0].Owners, "o") }, "acknowledged words lost or doubled: start"},
		"answer lost":                 {func(a *audit) { delete(a.books[0].Resolved, "d") }, "acknowledged words lost or doubled: answer"},
		"answer twice":                {func(a *audit) { a.books[1].Resolved["d"] = []engine.DecisionResolved{{ID: "d"}} }, "acknowledged words lost or doubled: answer"},
		"send lost":                   {func(a *audit) { delete(a.books[0].Acts, "s") }, "acknowledged words lost or doubled: send"},
		"signal lost":                 {func(a *audit) { delete(a.books[0].Words, "agent:signal t") }, "acknowledged words lost or doubled: signal"},
		"overlap":                     {func(a *audit) { a.ran = append(a.ran, ran.Line{What: "overlapped"}) }, "overlapping attempts of a job, but for SIGSTOP"},
		"overlap under a short pause": {func(a *audit) { a.overlap(pauseDaemon, 30*time.Second) }, "overlapping attempts of a job, but for SIGSTOP"},
		"overlap under a cut":         {func(a *audit) { a.overlap(cutMachine, 90*time.Second) }, "overlapping attempts of a job, but for SIGSTOP"},
		"overlap under a long pause":  {func(a *audit) { a.overlap(pauseDaemon, 90*time.Second) }, ""},
		"blocked":                     {func(a *audit) { a.calls = []call{{blocked: true}} }, "false blocks"},
	} {
		a := sound()
		test.spoil(a)
		a.executions()
		a.homes()
		a.words()
		a.complaints()
		a.blocks()
		wrong := ""
		for _, r := range a.rows {
			if r.counted != r.expected {
				wrong += r.what
			}
		}
		if wrong != test.want {
			t.Errorf("%s: counted are %q, not %q", name, wrong, test.want)
		}
	}
}

// A decision about a job of a lost machine is in the fleet's store once.
func TestTheAuditSeesADecisionThatWasLost(t *testing.T) {
	const id = "00000000000000aa"
	facts := []string{
		`{"type":"added","by":"a","spec":{"project":"shop","command":"fix"}}`, `{"type":"claimed","by":"b","attempt":1}`,
		`{"type":"started","by":"b","attempt":1}`, `{"type":"lost","by":"a","attempt":1}`, `{"type":"found","by":"a","attempt":1}`,
	}
	for n, want := range map[int]int{len(facts): 0, len(facts) - 1: 1} {
		var log []entry
		for _, f := range facts[:n] {
			log = append(log, entry{"job." + id, []byte(f)})
		}
		b, err := fold(log)
		check(t, err)
		a := &audit{quiet: true, stage: &stage{T: t, said: []word{{"decide", job.Question(id, 1), "wait"}}}}
		a.decisions(b)
		if got := a.rows[0]; got.counted != want || got.of != 1 {
			t.Errorf("%d facts: %+v, %+v", n, got, b.jobs[id])
		}
	}
}

// overlap has two attempts of a job overlap at the end of a fault.
func (a *audit) overlap(k kind, lasted time.Duration) {
	end := time.Now()
	a.spans = []span{{fault{kind: k}, end.Add(-lasted), end}}
	a.ran = append(a.ran, ran.Line{What: "overlapped", At: end.Add(-time.Second)})
}
