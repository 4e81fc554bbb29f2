package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

// SkippedBy are the violations of a job that were skipped before. With those of
// its open failure they are all that is on record of it.
func (s *State) SkippedBy(job string) (violations []review.Violation) {
	for _, skip := range s.Skipped {
		if skip.Job == inJSON(job) {
			violations = append(violations, skip.Violation)
		}
	}
	return violations
}

// Violation finds a violation of an open failure by its id, or by a beginning
// that no other id has.
func (s *State) Violation(id string) (job string, v review.Violation, err error) {
	found := map[string]bool{}
	for _, f := range s.Open {
		for _, candidate := range f.Violations {
			if candidate.ID == id {
				return f.Job, candidate, nil
			}
			if id != "" && strings.HasPrefix(candidate.ID, id) {
				found[candidate.ID], job, v = true, f.Job, candidate
			}
		}
	}
	switch len(found) {
	case 1:
		return job, v, nil
	case 0:
		return "", review.Violation{}, fmt.Errorf("no open violation has the id %q", id)
	}
	return "", review.Violation{}, fmt.Errorf("%[2]q is ambiguous (%[1]d open violations match)", len(found), id)
}

// Mark notes what somebody says about the violation with this very id. It stays
// on record until the next run: a claim to have fixed it is verified then, and a
// skip is named in the result.
func (s *State) Mark(id string, standing review.Standing, result string) {
	for i := range s.Open {
		// A copy: whoever has read the state must not see it change.
		violations := slices.Clone(s.Open[i].Violations)
		for j := range violations {
			if v := &violations[j]; v.ID == id {
				v.Status, v.Result = standing, result
			}
		}
		s.Open[i].Violations = violations
	}
}

// onRecord parts what is on record of a gate into what is open and what is
// skipped. A repetition loses nothing that was there before, and no run a skip:
// it may have been decided on while the gate ran.
func onRecord(run *Run, gate *GateRun, old Failure) (open, skipped []review.Violation) {
	all := slices.Clone(gate.Violations)
	for _, v := range old.Violations {
		i := slices.IndexFunc(all, func(now review.Violation) bool { return now.ID == v.ID })
		switch skip := v.Status == review.Skipped; {
		case i >= 0 && skip:
			all[i] = v
		case i < 0 && (skip || gate.repeats(run, old)):
			all = append(all, v)
		}
	}
	for _, v := range all {
		if v.Status == review.Skipped {
			skipped = append(skipped, v)
		} else {
			open = append(open, v)
		}
	}
	return open, skipped
}

// maxSkipped bounds the violations that are remembered as skipped. Nobody decides
// on as many within one series.
const maxSkipped = 500

func (s *State) skip(job string, violations []review.Violation, now time.Time) {
	for _, v := range violations {
		if !slices.ContainsFunc(s.Skipped, func(k Skip) bool { return k.Job == job && k.Violation.ID == v.ID }) {
			s.Skipped = append(s.Skipped, Skip{job, now, v})
		}
	}
	s.Skipped = s.Skipped[max(0, len(s.Skipped)-maxSkipped):]
}
