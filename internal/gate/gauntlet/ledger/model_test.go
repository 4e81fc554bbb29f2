package ledger

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

// model says in the simplest way what the rulings ask of a ledger.
type model struct {
	open     map[string]modelFailure
	failures int
	limit    bool
	tree     string
	prompt   string
	proven   map[string]time.Time
}

type modelFailure struct {
	tree, definition string
	violations       map[string]bool
}

func (m *model) record(run Run) (failed, limit bool, warned []string) {
	for _, g := range run.Gates {
		old, wasOpen := m.open[g.Job]
		if g.Result != Passed && g.Result != Failed {
			failed = failed || wasOpen
			continue
		}
		again := wasOpen && run.Tree != "" && old.tree == run.Tree && old.definition == g.Definition
		left, said := map[string]bool{}, map[string]bool{}
		for _, v := range g.Violations {
			said[v.ID] = true
			if v.Status != review.Skipped {
				left[v.ID] = true
			}
		}
		for id := range old.violations {
			if again && !said[id] {
				left[id] = true
			}
		}
		if g.Result == Failed || len(left) > 0 {
			m.open[g.Job] = modelFailure{run.Tree, g.Definition, left}
			delete(m.proven, g.Key)
			failed = true
			continue
		}
		delete(m.open, g.Job)
		flaky := again && len(old.violations) == 0
		if flaky || wasOpen && old.definition != g.Definition {
			warned = append(warned, g.Job)
		}
		if g.Key != "" && !flaky {
			m.proven[g.Key] = run.Now
		}
	}
	for _, job := range run.Removed {
		if _, open := m.open[job]; open {
			warned = append(warned, job)
			delete(m.open, job)
		}
	}
	failed = failed || run.Whole && len(m.open) > 0
	switch {
	case failed && !run.Answers: // a run by hand is no retry
	case failed && m.limit && (run.Prompt == "" || run.Prompt == m.prompt || run.Tree != "" && run.Tree == m.tree):
	case failed:
		if m.limit {
			m.failures = 0
		}
		m.failures++
		m.tree, m.prompt, m.limit = run.Tree, run.Prompt, m.failures > run.MaxRetries
	case len(m.open) == 0:
		m.failures, m.limit, m.tree = 0, false, ""
	}
	return failed, failed && run.Answers && m.limit, warned
}

func drawGate(t *rapid.T, job, tree string) GateRun {
	g := gate(job, rapid.SampledFrom([]Result{Passed, Passed, Failed, CouldNotRun, NotStarted, Proven}).Draw(t, "result"))
	g.Definition = rapid.SampledFrom([]string{"d1", "d1", "d2"}).Draw(t, "definition")
	if tree != "" && rapid.Bool().Draw(t, "provable") {
		g.Key = job + g.Definition + tree
	}
	if g.Kind == "review" {
		for _, id := range []string{"1", "2"} {
			switch rapid.IntRange(0, 3).Draw(t, "violation") {
			case 0:
				g.Violations = append(g.Violations, violation(id, review.New))
			case 1:
				g.Violations = append(g.Violations, violation(id, review.Skipped))
			}
		}
	}
	return g
}

func drawRun(t *rapid.T, m *model, now time.Time) Run {
	tree := rapid.SampledFrom([]string{"", "A", "A", "B"}).Draw(t, "tree")
	run := Run{Now: now, Tree: tree, Prompt: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "prompt"), MaxRetries: rapid.IntRange(0, 2).Draw(t, "max"), Whole: rapid.Bool().Draw(t, "whole"), Answers: rapid.IntRange(0, 3).Draw(t, "answers") > 0}
	for _, job := range []string{lint, test, quality} {
		_, open := m.open[job]
		if open && rapid.IntRange(0, 9).Draw(t, "removed") == 0 {
			run.Removed = append(run.Removed, job)
		} else if rapid.IntRange(0, 2).Draw(t, "in the run") > 0 {
			run.Gates = append(run.Gates, drawGate(t, job, tree))
		}
	}
	return run
}

func TestTheLedgerIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		m := &model{open: map[string]modelFailure{}, proven: map[string]time.Time{}}
		now := noon
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-2, 10).Draw(t, "hours")) * time.Hour)
			if rapid.IntRange(0, 9).Draw(t, "clean") == 0 {
				s.EndSeries()
				m.failures, m.limit, m.tree = 0, false, ""
				continue
			}
			run := drawRun(t, m, now)
			out := s.Record(run)
			failed, limit, warned := m.record(run)
			if out.Failed != failed || out.LimitReached != limit || len(out.Warnings) != len(warned) {
				t.Fatalf("got %+v; want failed %t, limit %t, warnings for %q", out, failed, limit, warned)
			}
			compare(t, &s, m, out, now)
		}
	})
}

func compare(t *rapid.T, s *State, m *model, out Conclusion, now time.Time) {
	if len(s.Open) != len(m.open) || len(out.StillOpen) != len(m.open) || !slices.IsSorted(out.StillOpen) {
		t.Fatalf("open are %q, want %v", out.StillOpen, m.open)
	}
	for _, f := range s.Open {
		want, open := m.open[f.Job]
		if !open || f.Tree != want.tree || f.Definition != want.definition || len(f.Violations) != len(want.violations) {
			t.Fatalf("got %+v, want %+v", f, want)
		}
		for _, v := range f.Violations {
			if !want.violations[v.ID] {
				t.Fatalf("%s is open in %s", v.ID, f.Job)
			}
		}
	}
	if s.Series.Failures != m.failures || s.Series.Limit != m.limit || out.Failures != m.failures {
		t.Fatalf("the series is %+v, want %d failures", s.Series, m.failures)
	}
	if len(s.Open) == 0 && s.Series != (Series{}) {
		t.Fatalf("nothing is open and the series goes on: %+v", s.Series)
	}
	for key, at := range m.proven {
		// One that was once in the future or too old is gone for good.
		if at.After(now) || now.Sub(at) >= 24*time.Hour {
			delete(m.proven, key)
		}
	}
	for _, job := range []string{lint, test, quality} {
		for _, rest := range []string{"d1A", "d2A", "d1B", "d2B"} {
			_, want := m.proven[job+rest]
			if _, got := s.Proof(job+rest, now); got != want {
				t.Fatalf("%s is proven: %t, want %t", job+rest, got, want)
			}
		}
	}
}
