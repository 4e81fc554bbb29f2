package cli

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/record/event"
)

// reviewsStatus is what the supervisor did in a project, as far back as the journal
// goes.
type reviewsStatus struct {
	Reviews  int `json:"reviews"`
	Refusals int `json:"refusals"` // of these
	Sessions int `json:"sessions"`
	event.Cost

	sessions map[string]bool
}

// add takes in the verdicts of a stop. A verdict that was reused is no review; one
// that never came may have cost something.
func (s *reviewsStatus) add(r *event.Record) {
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

func (s *reviewsStatus) String() string {
	return fmt.Sprintf("%s in %s, %d refused, %s", count(s.Reviews, "review"), count(s.Sessions, "session"), s.Refusals, money(s.Cost, 0))
}
