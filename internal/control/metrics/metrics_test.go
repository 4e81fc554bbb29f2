package metrics

import (
	"fmt"
	"math"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/stopgate/stopgate/internal/record/event"
)

func nothing() State { return State{} }

// values are all samples of a family, by their labels as name=value.
func values(t *testing.T, m *Metrics, family string) map[string]float64 {
	t.Helper()
	all, err := m.registry.Gather()
	check(t, err)
	found := map[string]float64{}
	for _, f := range all {
		if f.GetName() != family {
			continue
		}
		for _, sample := range f.GetMetric() {
			var labels []string
			for _, l := range sample.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			found[strings.Join(labels, " ")] = valueOf(sample)
		}
	}
	return found
}

func valueOf(m *dto.Metric) float64 {
	switch {
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	case m.GetGauge() != nil:
		return m.GetGauge().GetValue()
	}
	return float64(m.GetHistogram().GetSampleCount())
}

// want checks samples of a family; those that are not named do not matter.
func want(t *testing.T, m *Metrics, family string, some map[string]float64) {
	t.Helper()
	got := values(t, m, family)
	for labels, n := range some {
		if v, there := got[labels]; !there || v != n {
			t.Errorf("%s{%s} is %v (%t), want %v of %v", family, labels, v, there, n, got)
		}
	}
}

func stop(decision string, more func(*event.Record)) *event.Record {
	r := &event.Record{Kind: event.Answered, Event: "Stop", Decision: decision, DurationMS: 40, Call: "01CALL", Session: "s", Project: "/home/me/secret-customer"}
	if more != nil {
		more(r)
	}
	return r
}

func TestStopsAreCounted(t *testing.T) {
	m := New("v1", nothing)
	gates := func(outcome string, ms int64) func(*event.Record) {
		return func(r *event.Record) {
			r.Trees = []event.Tree{{Root: "/p", Gates: []event.Gate{
				{Job: "check:.:test", Outcome: outcome, DurationMS: ms},
				{Job: "check:docs:spell", Outcome: "skipped"},
				{Job: "review:.:style", Outcome: "passed", DurationMS: 2000},
			}}}
		}
	}
	m.Hear(stop("allow", gates("passed", 1500)))
	m.Hear(stop("allow", gates("proven", 0)))
	m.Hear(stop("block", func(r *event.Record) {
		r.Verdicts = []event.Verdict{
			{Keeper: "guard", Outcome: "passed"},
			{Keeper: "gates", Outcome: "failed", Blocked: true},
			{Keeper: "supervisor", Outcome: "failed", Cost: event.Cost{USD: 0.25}},
			{Keeper: "supervisor", Outcome: "failed", Reused: true, Cost: event.Cost{USD: 0.25}},
		}
	}))
	m.Hear(&event.Record{Kind: event.Answered, Event: "SubagentStop"})
	m.Hear(&event.Record{Kind: event.Received, Event: "Stop"})
	m.Hear(&event.Record{Kind: event.Answered, Event: "PreToolUse", Decision: "block", DurationMS: 3})
	m.Hear(stop("block", func(r *event.Record) { // a second call about the same stop
		r.Verdicts = []event.Verdict{{Keeper: "chain", Status: "adopted", Blocked: true, Reused: true}}
	}))
	m.Spent(1.5)
	m.Spent(-1)

	want(t, m, "stopgate_stops_total", map[string]float64{
		"decision=allow event=Stop": 2, "decision=block event=Stop": 1, "decision=allow event=SubagentStop": 1, "decision=block event=SubagentStop": 0,
	})
	want(t, m, "stopgate_stop_blocks_total", map[string]float64{"keeper=gates": 1, "keeper=guard": 0, "keeper=chain": 0})
	want(t, m, "stopgate_gate_results_total", map[string]float64{
		"gate=test kind=check outcome=passed": 1, "gate=test kind=check outcome=proven": 1, "gate=style kind=review outcome=passed": 2,
	})
	want(t, m, "stopgate_gate_duration_seconds", map[string]float64{"gate=test": 1, "gate=style": 2})
	want(t, m, "stopgate_proof_saved_seconds_total", map[string]float64{"": 1.5})
	want(t, m, "stopgate_hook_duration_seconds", map[string]float64{"event=Stop": 4, "event=SubagentStop": 1, "event=PreToolUse": 1})
	want(t, m, "stopgate_cost_usd_total", map[string]float64{"source=agents": 1.5, "source=reviews": 0.25})
	for labels := range values(t, m, "stopgate_gate_results_total") {
		if strings.Contains(labels, "spell") {
			t.Errorf("a gate that was not asked counts: %s", labels)
		}
	}
}

// Names are as Prometheus wants them: with units, and _total for what only grows.
func TestNames(t *testing.T) {
	m := New("v1", func() State { return State{JournalReadable: true} })
	m.Hear(stop("allow", func(r *event.Record) {
		r.Trees = []event.Tree{{Gates: []event.Gate{{Job: "check:.:test", Outcome: "passed"}}}}
	}))
	problems, err := testutil.GatherAndLint(m.registry)
	check(t, err)
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "stopgate_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// hostile are names that others may choose.
var hostile = []string{
	"", "a\nb", "a\r\n# HELP evil\nevil 1", `quo"te`, `back\slash`, "}", "\x1b[31mred", "\xff\xfe", "nul\x00", "\u202egnp.exe",
	strings.Repeat("x", 1<<20), strings.Repeat("\xff", 1<<20), strings.Repeat("é", 1<<19), "other",
}

// Nothing that a record says breaks the text of a scrape, or makes it long.
func TestHostileNames(t *testing.T) {
	m := New("v\n1\"", nothing)
	for _, name := range hostile {
		m.Hear(&event.Record{
			Kind: event.Answered, Event: name, Decision: name, Session: name, Project: name, DurationMS: math.MinInt64,
			Verdicts: []event.Verdict{{Keeper: name, Outcome: name, Status: name, Blocked: true}},
		})
		m.Hear(stop(name, func(r *event.Record) {
			r.DurationMS = math.MaxInt64
			r.Verdicts = []event.Verdict{{Keeper: name, Outcome: name, Status: name, Message: name, Blocked: true, Cost: event.Cost{USD: math.Inf(1)}}, {Cost: event.Cost{USD: math.NaN()}}, {Cost: event.Cost{USD: -5}}}
			r.Trees = []event.Tree{{Root: name, Status: name, Gates: []event.Gate{
				{Job: "check:" + name + ":" + name, Outcome: "passed", DurationMS: math.MinInt64},
				{Job: name + ":.:test", Outcome: "failed", DurationMS: math.MaxInt64},
				{Job: name, Outcome: "could_not_run"},
				{Job: "check:.:test", Outcome: name},
			}}}
		}))
	}

	all, err := m.registry.Gather()
	check(t, err)
	for _, family := range all {
		for _, sample := range family.GetMetric() {
			for _, l := range sample.GetLabel() {
				v := l.GetValue()
				if !utf8.ValidString(v) || len(v) > longestName || strings.ContainsFunc(v, unicode.IsControl) || v == "" {
					t.Errorf("%s: the label %s is %.80q", family.GetName(), l.GetName(), v)
				}
			}
			if n := valueOf(sample); math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
				t.Errorf("%s is %v", family.GetName(), n)
			}
		}
	}
	text := scrape(t, m)
	if len(text) > 1<<18 || strings.Contains(text, "\nevil 1") {
		t.Errorf("the text has %d bytes", len(text))
	}
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// However many gates there are, the number of series has a limit.
func TestManyGates(t *testing.T) {
	m := New("v1", nothing)
	for n := range 5000 {
		m.Hear(stop("allow", func(r *event.Record) {
			job := fmt.Sprintf("check:packages/%d:gate-%d", n, n)
			r.Trees = []event.Tree{{Root: "/p", Gates: []event.Gate{{Job: job, Outcome: "passed", DurationMS: 5}}}}
		}))
	}
	got := values(t, m, "stopgate_gate_results_total")
	if len(got) != mostGates+1 || got["gate=other kind=check outcome=passed"] != 5000-mostGates {
		t.Errorf("%d series, %v others", len(got), got["gate=other kind=check outcome=passed"])
	}
	if text := scrape(t, m); strings.Contains(text, "packages/") || strings.Contains(text, "secret-customer") {
		t.Error("a path is in the text")
	}
}

// What is kept about gates for the time that proofs save has a limit, too.
func TestDurationsAreBounded(t *testing.T) {
	d := newDurations(10)
	for n := range 1000 {
		d.set(fmt.Sprint(n), 1)
	}
	if len(d.known) > 10 || d.get("999") != 1 || d.get("0") != 0 {
		t.Errorf("%v", d.known)
	}
}

// Scrapes at the same time, beside stops that are counted, see counters that only grow.
func TestScrapesAtOnce(t *testing.T) {
	looking := 0 // the race detector finds two looks at once
	m := New("v1", func() State {
		looking++
		return State{Agents: looking}
	})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 200 {
				m.Hear(stop("allow", nil))
				m.Appended(OK, time.Millisecond)
			}
		})
	}
	for range 2 {
		all.Go(func() {
			last := -1.0
			for range 20 {
				now := values(t, m, "stopgate_stops_total")["decision=allow event=Stop"]
				if now < last {
					t.Errorf("it was %v, and is %v", last, now)
				}
				last = now
			}
		})
	}
	all.Wait()
	want(t, m, "stopgate_stops_total", map[string]float64{"decision=allow event=Stop": 600})
	want(t, m, "stopgate_store_appends_total", map[string]float64{"result=ok": 600, "result=conflict": 0, "result=failed": 0})
}

func TestState(t *testing.T) {
	m := New("v1", func() State {
		return State{
			Owners: map[Owner]int{{"pipeline", "running"}: 3}, Sessions: map[string]int{"busy": 2}, Items: map[string]int{"dead": 1},
			Commands: map[string]int{"pending": 4}, Agents: 5, AgentsQueued: 6, Decisions: 7, OldestDecision: 90 * time.Second, Troubles: 8, Unread: 9, JournalReadable: true,
		}
	})
	for family, samples := range map[string]map[string]float64{
		"stopgate_owners":                      {"kind=pipeline status=running": 3},
		"stopgate_sessions":                    {"state=busy": 2},
		"stopgate_work_items":                  {"state=dead": 1},
		"stopgate_session_commands":            {"status=pending": 4},
		"stopgate_agents_running":              {"": 5},
		"stopgate_agents_queued":               {"": 6},
		"stopgate_decisions_open":              {"": 7},
		"stopgate_decision_oldest_age_seconds": {"": 90},
		"stopgate_daemon_troubles":             {"": 8},
		"stopgate_journal_unread_bytes":        {"": 9},
		"stopgate_build_info":                  {},
		"go_goroutines":                        {},
	} {
		want(t, m, family, samples)
		if len(values(t, m, family)) == 0 {
			t.Errorf("there is no %s", family)
		}
	}
	unreadable := New("v1", nothing)
	if got := values(t, unreadable, "stopgate_journal_unread_bytes"); len(got) != 0 {
		t.Errorf("what is not known is %v", got)
	}
}

// BenchmarkHear is what a stop costs the daemon for metrics.
func BenchmarkHear(b *testing.B) {
	m := New("v1", nothing)
	r := stop("allow", func(r *event.Record) {
		r.Verdicts = []event.Verdict{{Keeper: "gates"}, {Keeper: "lifecycle"}}
		r.Trees = []event.Tree{{Root: "/p", Gates: []event.Gate{{Job: "check:.:test", Outcome: "passed", DurationMS: 5}, {Job: "check:.:lint", Outcome: "proven"}}}}
	})
	b.ReportAllocs()
	for b.Loop() {
		m.Hear(r)
	}
}
