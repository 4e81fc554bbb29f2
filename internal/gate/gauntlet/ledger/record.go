package ledger

import (
	"slices"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

// Record takes a run into the state and says what it means.
//
//   - A gate that failed is open until it passes. A gate that is open and could
//     not run, was not started or is said to be proven stays failed: only a run
//     closes it.
//   - A pass on the tree of the failure closes a check with a warning, and none of
//     a review's violations: nothing was fixed.
//   - A pass after the definition changed, and a removal, close with a warning.
//   - A failing run that answers a stop counts in the series. When nothing is open the
//     series is over.
//   - Gates that are not in the run are left as they are.
func (s *State) Record(run Run) Conclusion {
	run.Now = run.Now.UTC().Round(0)
	var out Conclusion
	for _, gate := range run.Gates {
		gate.Job = inJSON(gate.Job)
		failed, warnings := s.recordGate(&run, &gate)
		out.Failed = out.Failed || failed
		out.Warnings = append(out.Warnings, warnings...)
	}
	out.Warnings = append(out.Warnings, s.remove(run.Removed)...)
	s.prune(run.Now)
	if run.Whole {
		s.Damaged = s.Damaged && slices.ContainsFunc(run.Gates, GateRun.unseen)
		out.Failed = out.Failed || len(s.Open) > 0
	}
	for _, f := range s.Open {
		out.StillOpen = append(out.StillOpen, f.Job)
	}
	s.countRun(&run, &out)
	return out
}

func (s *State) countRun(run *Run, out *Conclusion) {
	switch {
	case out.Failed && run.Answers:
		before := s.Series
		out.LimitReached = s.Series.count(run)
		out.NewLimit = out.LimitReached && s.Series != before
		out.LimitReached = out.LimitReached || s.countBlock(run)
	case len(s.Open) == 0:
		s.Restart()
	}
	out.Failures = s.Series.Failures
}

func (s *State) recordGate(run *Run, gate *GateRun) (failed bool, warnings []string) {
	old, wasOpen := s.Failure(gate.Job)
	if !gate.Result.ran() {
		return wasOpen, gate.Warnings
	}

	open, skipped := onRecord(run, gate, old)
	s.skip(gate.Job, skipped, run.Now)
	if gate.Result == Failed || len(open) > 0 {
		delete(s.Proven, gate.Key) // it proved too much
		s.open(gate.failure(run, old, open))
		return true, gate.Warnings
	}

	s.close(gate.Job)
	warnings = slices.Clone(gate.Warnings)
	flaky := wasOpen && gate.repeats(run, old) && len(old.Violations) == 0
	switch {
	case flaky:
		warnings = append(warnings, gate.Job+" failed and passed on the same tree: it is flaky or depends on something outside the tree")
	case wasOpen && gate.Definition != old.Definition:
		warnings = append(warnings, gate.Job+" passed after its definition was changed while it was failing")
	}

	if gate.Key != "" && !flaky {
		s.prove(gate.Key, Proof{run.Now, warnings})
	}
	return false, warnings
}

// unseen reports whether the gate has left open how it stands.
func (g GateRun) unseen() bool { return !g.Result.ran() && g.Result != Proven }

// repeats reports whether the gate ran as it did when it failed: the same
// definition on the same tree.
func (g *GateRun) repeats(run *Run, old Failure) bool {
	return run.Tree != "" && run.Tree == old.Tree && g.Definition == old.Definition
}

func (g *GateRun) failure(run *Run, old Failure, open []review.Violation) Failure {
	since := old.Since
	if since.IsZero() {
		since = run.Now
	}
	tree := run.Tree
	if g.Unseen {
		tree = ""
	}
	return Failure{
		Job: g.Job, Kind: g.Kind, Name: g.Name, Entry: g.Entry,
		Definition: g.Definition, Tree: tree, Since: since, Last: run.Now,
		Message: g.Message, Log: g.Log, Kept: g.Kept, Violations: open, Files: g.Files,
	}
}

// remove closes the failures of jobs that are gone.
func (s *State) remove(jobs []string) (warnings []string) {
	for _, job := range jobs {
		if _, open := s.Failure(job); open {
			s.close(job)
			warnings = append(warnings, inJSON(job)+" was removed while it was failing, or its directory was")
		}
	}
	return warnings
}
