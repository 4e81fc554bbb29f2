package stops

import (
	"fmt"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// played is a history of one gate: "hour tree outcome milliseconds" each.
func played(runs ...string) *History {
	h := &History{Keep: 30 * 24 * time.Hour}
	for _, run := range runs {
		var hour, ms int64
		var tree, outcome string
		_, _ = fmt.Sscan(run, &hour, &tree, &outcome, &ms)
		r := answered("allow", []event.Verdict{verdict("gates", "passed", "passed")},
			event.Tree{Root: "/p", Tree: tree, Approval: "a", Gates: []event.Gate{{Job: "t", Outcome: outcome, DurationMS: ms, Cost: event.Cost{USD: float64(ms) / 100}}}})
		r.Time = noon.Add(time.Duration(hour) * time.Hour)
		h.Add(Of(r))
	}
	return h
}

// A part of the time has what happened in it, and knows what came before: a gate that failed yesterday
// and passes today for the same content is flaky today.
func TestIssue18HistoryOfTheLastHours(t *testing.T) {
	h := played("-30 A failed 100", "-2 A passed 300", "-2 A proven 0", "-1 A proven 0", "-1 B failed 500", "0 C passed 300")
	all := h.Since(noon.Add(-48*time.Hour), "", "")[0]
	if all.Runs() != 4 || all.Proven != 2 || all.Flips != 1 || all.Caught != 1 || all.Red {
		t.Errorf("%+v", all)
	}
	day := h.Since(noon.Add(-24*time.Hour), "/p", "t")[0]
	if day.Runs() != 3 || day.Failed != 1 || day.Flips != 1 || day.Typical() != 300*time.Millisecond || day.Saved().MS != 600 || day.Saved().USD != 6 {
		t.Errorf("%+v saves %+v", day, day.Saved())
	}
	if none := h.Since(noon.Add(-24*time.Hour), "/q", ""); len(none) != 0 {
		t.Errorf("%+v", none)
	}
	if none := h.Since(noon.Add(2*time.Hour), "", ""); len(none) != 0 {
		t.Errorf("%+v", none)
	}
	spans := h.Spans(noon.Add(-3*time.Hour), time.Hour, 4, "/p", "t")
	if s := spans[1]; s.Passed != 1 || s.Proven != 1 || s.Saved.MS != 300 || s.Typical != 300*time.Millisecond || spans[0].Passed != 0 || spans[3].Passed != 1 {
		t.Errorf("%+v", spans)
	}
}

// A clock that was set back, or that jumps ahead, loses nothing.
func TestIssue18HistoryOfAClockThatWasSetBack(t *testing.T) {
	h := played("0 A passed 1", "-5 B passed 1", "0 C passed 1", "900000 D passed 1", "1 E passed 1")
	if g := h.Since(noon.Add(-9*time.Hour), "", "")[0]; g.Passed != 5 || h.hours != 4 {
		t.Errorf("%d passed in %d hours", g.Passed, h.hours)
	}
}

// What is kept is bounded.
func TestIssue18HistoryIsBounded(t *testing.T) {
	h := &History{Keep: 30 * 24 * time.Hour}
	for hour := range 30 * 24 {
		r := answered("allow", nil, event.Tree{Root: "/p", Gates: nil})
		for gate := range 200 {
			r.Trees[0].Gates = append(r.Trees[0].Gates, event.Gate{Job: fmt.Sprint(gate), Outcome: event.GatePassed})
		}
		r.Time = noon.Add(time.Duration(hour) * time.Hour)
		h.Add(Of(r))
		if h.hours > mostHours+200 {
			t.Fatalf("%d hours", h.hours)
		}
	}
	h.Forget(noon.Add(10_000 * time.Hour))
	if h.hours != 0 || len(h.gates) != 0 || len(h.Roots()) != 0 {
		t.Errorf("%d hours, %d gates", h.hours, len(h.gates))
	}
}
