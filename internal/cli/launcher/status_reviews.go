package launcher

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// ReviewsStatus is what the supervisor did in a project, as far back as the journal
// goes.
type ReviewsStatus struct {
	Reviews  int `json:"reviews"`
	Refusals int `json:"refusals"` // of these
	Sessions int `json:"sessions"`
	event.Cost

	sessions map[string]bool
}

// Add takes in the verdicts of a stop. A verdict that was reused is no review; one
// that never came may have cost something.
func (s *ReviewsStatus) Add(r *event.Record) {
	for _, v := range r.Verdicts {
		if v.Keeper != "supervisor" || v.Reused {
			continue
		}
		switch supervisor.Status(v.Status) {
		case supervisor.NotCompleted:
			s.Refusals++
			fallthrough
		case supervisor.Completed:
			s.Reviews++
		default:
			if v.Cost == (event.Cost{}) {
				continue
			}
		}
		s.Cost = s.Plus(v.Cost)
		if s.sessions == nil {
			s.sessions = map[string]bool{}
		}
		s.sessions[r.Session] = true
		s.Sessions = len(s.sessions)
	}
}

func (s *ReviewsStatus) String() string {
	return fmt.Sprintf("%s in %s, %d refused, %s", plain.Count(s.Reviews, "review"), plain.Count(s.Sessions, "session"), s.Refusals, term.Money(s.Cost, 0))
}
