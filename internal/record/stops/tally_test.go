package stops

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

// history plays the runs of one gate: "tree outcome milliseconds" each.
func history(runs ...string) (*Tally, *Gate) {
	var t Tally
	for i, run := range runs {
		var tree, outcome string
		var ms int64
		_, _ = fmt.Sscan(run, &tree, &outcome, &ms)
		tree = strings.Trim(tree, "-")
		r := answered("allow", []event.Verdict{verdict("gates", "passed", "passed")},
			event.Tree{Root: "/p", Tree: tree, Approval: "a", Gates: []event.Gate{{Job: "t", Outcome: outcome, DurationMS: ms, Cost: event.Cost{USD: float64(ms) / 100}}}})
		r.Time = time.Unix(int64(i), 0)
		t.Add(Of(r))
	}
	return &t, t.Gates()[0]
}

func TestCaughtAndFlaky(t *testing.T) {
	for _, test := range []struct {
		runs          string
		caught, flips int
		red           bool
	}{
		{"A passed 1", 0, 0, false},
		{"A failed 1, B passed 1", 1, 0, false},
		{"A failed 1, B failed 1, C passed 1", 1, 0, false}, // one problem, fixed in two tries
		{"A failed 1, A passed 1", 0, 1, false},             // nothing was fixed
		{"A passed 1, A failed 1", 0, 1, true},              // nothing was broken
		{"A failed 1, A failed 1", 0, 0, true},              // a red gate runs at each stop
		{"A passed 1, B failed 1, A passed 1", 1, 0, false}, // reverted: other content than failed
		{"A failed 1, B passed 1, A passed 1", 1, 1, false}, // the same content, not in a row
		{"A failed 1, A proven 0, A failed 1", 0, 0, true},  // a proof is not a run
		{"A failed 1, A could_not_run 1, A failed 1", 0, 0, true},
		{"- failed 1, - passed 1", 1, 0, false}, // content that is not known
		{"A passed 1, A failed 1, A passed 1, A failed 1", 0, 3, true},
	} {
		_, g := history(strings.Split(test.runs, ", ")...)
		if g.Caught != test.caught || g.Flips != test.flips || g.Red != test.red {
			t.Errorf("%s: %d caught, %d flips, red %t; want %d, %d, %t", test.runs, g.Caught, g.Flips, g.Red, test.caught, test.flips, test.red)
		}
	}
}

func TestAnotherApprovalIsNoFlip(t *testing.T) {
	g := &Gate{}
	s := &Stop{}
	g.add(s, &event.Tree{Tree: "A", Approval: "a"}, &event.Gate{Outcome: event.GateFailed})
	g.add(s, &event.Tree{Tree: "A", Approval: "b"}, &event.Gate{Outcome: event.GatePassed})
	if g.Flips != 0 || g.Caught != 1 {
		t.Errorf("%d flips, %d caught", g.Flips, g.Caught)
	}
}

func TestSavedByProofs(t *testing.T) {
	_, g := history("A passed 100", "B failed 300", "C passed 200", "C proven 0", "C proven 0", "C skipped 0", "C could_not_run 9000")
	if s := g.Saved(); s.Times != 2 || s.Time != 400*time.Millisecond || s.MS != 400 || s.USD != 4 || s.Unknown != 0 {
		t.Errorf("%+v", s)
	}
	if g.Runs() != 3 || g.Typical() != 200*time.Millisecond || g.Slowest() != 300*time.Millisecond || g.Cost.USD != 96 {
		t.Errorf("%+v", g)
	}

	_, g = history("A proven 0")
	if s := g.Saved(); s.Times != 1 || s.Time != 0 || s.Unknown != 1 {
		t.Errorf("without a run to compare with: %+v", s)
	}
}

func TestTotalsAndSessions(t *testing.T) {
	var tally Tally
	blocking := verdict("gates", "failed", "failed")
	blocking.Blocked = true
	review := verdict("supervisor", "passed", "completed")
	review.Cost, review.DurationMS = event.Cost{USD: 0.5}, 1000
	reused := review
	reused.Cost, reused.Reused = event.Cost{}, true
	for i, r := range []*event.Record{
		answered("block", []event.Verdict{blocking}),
		answered("allow", []event.Verdict{review}),
		answered("allow", []event.Verdict{reused}),
		answered("allow", []event.Verdict{verdict("off", "could_not_run", "off")}),
		{Kind: event.Answered, Event: "SubagentStop", Session: "s1", Decision: "allow"},
		{Kind: event.Answered, Event: "StopFailure", Session: "s1", Decision: "allow"},
	} {
		r.Time = time.Unix(int64(i+1), 0).UTC()
		if i == 3 {
			r.Session = "s2"
		}
		tally.Add(Of(r))
	}
	got := tally.Totals()
	if got.Stops != 4 || got.Blocked != 1 || got.Subagents != 1 || got.APIErrors != 1 || got.Gaps[Off] != 1 || len(got.Gaps) != 1 {
		t.Errorf("%+v", got)
	}
	if got.First.Unix() != 1 || got.Last.Unix() != 6 || got.WaitedMS != 160 {
		t.Errorf("%+v", got)
	}
	if r := got.Reviews; r.Asked != 1 || r.Reused != 1 || r.Cost.USD != 0.5 || r.Saved().USD != 0.5 || r.Saved().Time != time.Second {
		t.Errorf("%+v", r)
	}
	sessions := tally.Sessions()
	if len(sessions) != 2 || sessions[0].ID != "s2" || sessions[1].Stops != 3 || sessions[1].Blocked != 1 || sessions[1].Cost.USD != 0.5 || sessions[1].LastStop != "C1" {
		t.Errorf("%+v", sessions)
	}
}

// What a tally holds is bounded, whatever the journal holds.
func TestATallyIsBounded(t *testing.T) {
	var tally Tally
	for i := range mostSessions + 10 {
		r := answered("allow", nil, event.Tree{Root: "/p", Gates: []event.Gate{{Job: fmt.Sprint(i), Outcome: event.GatePassed}}})
		r.Session = fmt.Sprint(i)
		tally.Add(Of(r))
	}
	if len(tally.Sessions()) != mostSessions || len(tally.Gates()) != mostGates || !tally.More() || tally.Totals().Stops != mostSessions+10 {
		t.Errorf("%d sessions, %d gates, %+v", len(tally.Sessions()), len(tally.Gates()), tally.Totals())
	}

	g := &Gate{}
	for i := range 2000 {
		g.add(&Stop{}, &event.Tree{Tree: fmt.Sprint(i)}, &event.Gate{Outcome: event.GatePassed, DurationMS: int64(i)})
	}
	if len(g.seen) != mostSeen || len(g.samples.ms) != mostSamples || g.Typical() < 1500*time.Millisecond {
		t.Errorf("%d contents, %d samples, %v", len(g.seen), len(g.samples.ms), g.Typical())
	}
}
