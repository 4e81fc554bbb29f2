// Package stops tells from the journal what became of each stop of an agent: who decided and why,
// what was judged, what ran and what was answered from proofs; and how gates and sessions did over
// many stops. It only reads.
package stops

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

// Decision is how a stop was answered.
type Decision string

// The decisions.
const (
	Allowed Decision = "allowed"
	Blocked Decision = "blocked"
	// GaveUp was allowed although something failed: it was blocked often enough, and a person has to look.
	GaveUp Decision = "gave_up"
	// Rejected is a call whose payload could not be read.
	Rejected Decision = "rejected"
	// Unanswered has no answer in the journal: the hook is still running, or it was killed.
	Unanswered Decision = "unanswered"
)

// Stop is one stop of an agent, as one hook call answered it. Names and messages in it can be an
// agent's: who shows them makes them harmless first.
type Stop struct {
	ID       string            `json:"id"` // of the hook call
	Time     time.Time         `json:"time"`
	Event    string            `json:"event"` // Stop, SubagentStop, or StopFailure: an error of the API ended the turn
	Session  string            `json:"session,omitempty"`
	Prompt   string            `json:"prompt_id,omitempty"`
	Agent    event.SubagentRef `json:"agent,omitzero"` // the subagent that stops
	Project  string            `json:"project,omitempty"`
	Decision Decision          `json:"decision"`
	// By is the verdict that decided; nil where no keeper had a say.
	By *event.Verdict `json:"by,omitempty"`
	// Gap is why nothing was enforced; nil where something was.
	Gap      *Gap            `json:"not_enforced,omitempty"`
	Verdicts []event.Verdict `json:"verdicts,omitempty"`
	Trees    []event.Tree    `json:"trees,omitempty"`
	Effects  []string        `json:"effects,omitempty"`
	// DurationMS is how long the agent waited for the answer.
	DurationMS int64      `json:"duration_ms"`
	Cost       event.Cost `json:"cost,omitzero"` // of all verdicts
	// APIError is Claude Code's word for the error that ended the turn.
	APIError string `json:"api_error,omitempty"`
	// Adopted is a second call for the same stop, which gave the first one's answer.
	Adopted bool `json:"adopted,omitempty"`
	// AfterBlock is a stop that follows a block of the same prompt.
	AfterBlock bool `json:"after_block,omitempty"`
}

// The events that are stops.
const (
	mainStop     = "Stop"
	subagentStop = "SubagentStop"
	failedStop   = "StopFailure"
)

// Of is the stop that a record tells of; nil where it tells of something else. A record of
// a call that was received is that of a stop without an answer: who reads on may find one.
func Of(r *event.Record) *Stop {
	if r.Event != mainStop && r.Event != subagentStop && r.Event != failedStop || r.Kind == event.Emitted {
		return nil
	}
	s := &Stop{
		ID: r.Call, Time: r.Time, Event: r.Event, Session: r.Session, Prompt: r.Prompt, Agent: r.Agent, Project: r.Project,
		Verdicts: r.Verdicts, Trees: r.Trees, Effects: r.Effects, DurationMS: max(0, r.DurationMS), APIError: r.Enums.Error,
		AfterBlock: r.Enums.StopHookActive != nil && *r.Enums.StopHookActive,
		Adopted:    r.Adopted(),
		Decision:   Unanswered,
	}
	for i := range s.Verdicts {
		s.Cost = s.Cost.Plus(s.Verdicts[i].Cost)
	}
	if r.Kind == event.Answered {
		s.Decision, s.By = decision(r)
	}
	s.Gap = gap(s)
	return s
}

// Clean reports whether the stop was judged, and nothing was found.
func (s *Stop) Clean() bool {
	return s.Decision == Allowed && s.Gap == nil && (s.By == nil || s.By.Outcome == passed)
}

// letGo are the statuses of a failure that no longer blocks: something still fails, and a person
// has to look.
var letGo = []string{"gave_up", event.StatusRetryLimit, event.StatusTerminated, "limit_reached", "needs_person"}

// decision is how a call was answered, and by which verdict.
func decision(r *event.Record) (Decision, *event.Verdict) {
	find := func(is func(v *event.Verdict) bool) *event.Verdict {
		for i := range r.Verdicts {
			if is(&r.Verdicts[i]) {
				return &r.Verdicts[i]
			}
		}
		return nil
	}
	switch r.Decision {
	case "block":
		return Blocked, find(func(v *event.Verdict) bool { return v.Blocked })
	case "reject":
		return Rejected, find(func(*event.Verdict) bool { return true })
	}

	if given := find(func(v *event.Verdict) bool { return v.Outcome == failed && slices.Contains(letGo, v.Status) }); given != nil {
		return GaveUp, given
	}
	if objected := find(func(v *event.Verdict) bool { return v.Outcome == failed }); objected != nil {
		return Allowed, objected
	}
	if silent := find(func(v *event.Verdict) bool { return v.Outcome == couldNotRun }); silent != nil {
		return Allowed, silent
	}
	if gates := find(func(v *event.Verdict) bool { return v.Keeper == gatesKeeper }); gates != nil {
		return Allowed, gates
	}
	return Allowed, find(func(*event.Verdict) bool { return true })
}

// The outcomes of verdicts, and the keeper that asks the gates.
const (
	passed      = "passed"
	failed      = "failed"
	couldNotRun = "could_not_run"
	gatesKeeper = "gates"
)

// Asked are the gates that had a say in the stop, with the tree that each belongs to: those that
// ran, were answered from proofs, or should have.
func (s *Stop) Asked(each func(t *event.Tree, g *event.Gate)) {
	for i := range s.Trees {
		t := &s.Trees[i]
		for k := range t.Gates {
			if t.Gates[k].Outcome != event.GateSkipped {
				each(t, &t.Gates[k])
			}
		}
	}
}

// Counts are how many gates ended how, by outcome.
func (s *Stop) Counts() map[string]int {
	counts := map[string]int{}
	for i := range s.Trees {
		for k := range s.Trees[i].Gates {
			counts[s.Trees[i].Gates[k].Outcome]++
		}
		if more := s.Trees[i].More; more > 0 {
			counts[event.GateSkipped] += int(more)
		}
	}
	return counts
}

// Skipped are gates that were not asked, for the same reason.
type Skipped struct {
	Why   string
	Names []string
}

// Skipped are the gates that were not asked, by why not, in the order of the configuration.
func (s *Stop) Skipped() (groups []Skipped) {
	for i := range s.Trees {
		for _, g := range s.Trees[i].Gates {
			if g.Outcome != event.GateSkipped {
				continue
			}
			at := slices.IndexFunc(groups, func(other Skipped) bool { return other.Why == g.Why })
			if at < 0 {
				groups, at = append(groups, Skipped{Why: g.Why}), len(groups)
			}
			groups[at].Names = append(groups[at].Names, JobName(g.Job))
		}
	}
	return groups
}
