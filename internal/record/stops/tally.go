package stops

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

// What a tally holds at most. Stops of more gates or sessions than that count in the totals alone.
const (
	mostGates    = 10_000
	mostSessions = 10_000
)

// Totals are what many stops come to. A stop of a subagent, and a turn that an error of the API
// ended, count apart: no gate judges them.
type Totals struct {
	First     time.Time `json:"first,omitzero"`
	Last      time.Time `json:"last,omitzero"`
	Stops     int       `json:"stops"` // of main agents
	Blocked   int       `json:"blocked"`
	GaveUp    int       `json:"gave_up"`
	Subagents int       `json:"subagent_stops"`
	APIErrors int       `json:"api_errors"`
	// Gaps are how many of the stops had nothing that could have held them back, and why.
	Gaps map[GapKind]int `json:"not_enforced"`
	// WaitedMS is how long agents waited for answers.
	WaitedMS int64      `json:"waited_ms"`
	Cost     event.Cost `json:"cost"`
	Reviews  Reviews    `json:"supervisor"`
}

// Reviews are the supervisor's verdicts.
type Reviews struct {
	Asked   int        `json:"asked"` // it looked, and said something
	Refused int        `json:"refused"`
	Reused  int        `json:"reused"` // answered by the verdict before: nothing had changed
	Cost    event.Cost `json:"cost"`
	samples samples
}

// Saved is what reusing verdicts has saved: how often, times the median of the real ones.
func (r *Reviews) Saved() Saving { return r.samples.saved(r.Reused) }

// Session is what one session's stops come to.
type Session struct {
	ID      string     `json:"id"`
	Project string     `json:"project,omitempty"` // of its last stop
	First   time.Time  `json:"first"`
	Last    time.Time  `json:"last"`
	Stops   int        `json:"stops"`
	Blocked int        `json:"blocked"`
	GaveUp  int        `json:"gave_up"`
	Cost    event.Cost `json:"cost,omitzero"`
	// LastStop is its last stop's id, and Decision how that was answered.
	LastStop string   `json:"last_stop"`
	Decision Decision `json:"decision"`
}

// Tally counts stops, in the order of the journal. The zero Tally is empty.
type Tally struct {
	totals   Totals
	gates    map[gateKey]*Gate
	sessions map[string]*Session
	more     bool // gates or sessions that are not listed
}

// Add counts a stop. A second call for the same stop counts for nothing.
func (t *Tally) Add(s *Stop) {
	if s.Adopted {
		return
	}
	t.totals.add(s)
	t.addSession(s)
	s.Asked(func(tree *event.Tree, g *event.Gate) {
		if gate := t.gate(tree.Root, g.Job); gate != nil {
			gate.add(s, tree, g)
		}
	})
}

func (t *Totals) add(s *Stop) {
	if t.First.IsZero() || s.Time.Before(t.First) {
		t.First = s.Time
	}
	if s.Time.After(t.Last) {
		t.Last = s.Time
	}
	t.Cost = t.Cost.Plus(s.Cost)
	t.WaitedMS += bounded(s.DurationMS)
	t.Reviews.add(s)

	switch s.Event {
	case subagentStop:
		t.Subagents++
		return
	case failedStop:
		t.APIErrors++
		return
	}
	t.Stops++
	switch s.Decision {
	case Blocked:
		t.Blocked++
	case GaveUp:
		t.GaveUp++
	}
	if s.Gap != nil {
		if t.Gaps == nil {
			t.Gaps = map[GapKind]int{}
		}
		t.Gaps[s.Gap.Kind]++
	}
}

func (r *Reviews) add(s *Stop) {
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		if v.Keeper != "supervisor" {
			continue
		}
		r.Cost = r.Cost.Plus(v.Cost)
		switch {
		case v.Status != "completed" && v.Status != "not_completed":
		case v.Reused:
			r.Reused++
		default:
			r.Asked++
			r.samples.add(v.DurationMS, v.Cost.USD, mostSamples)
			if v.Status == "not_completed" {
				r.Refused++
			}
		}
	}
}

func (t *Tally) addSession(s *Stop) {
	if s.Session == "" || s.Event != mainStop {
		return
	}

	one := t.sessions[s.Session]
	if one == nil {
		if len(t.sessions) == mostSessions {
			t.more = true
			return
		}
		if t.sessions == nil {
			t.sessions = map[string]*Session{}
		}
		one = &Session{ID: s.Session, First: s.Time}
		t.sessions[s.Session] = one
	}

	one.Last, one.LastStop, one.Decision = s.Time, s.ID, s.Decision
	one.Project = cmp.Or(s.Project, one.Project)
	one.Cost = one.Cost.Plus(s.Cost)
	one.Stops++
	switch s.Decision {
	case Blocked:
		one.Blocked++
	case GaveUp:
		one.GaveUp++
	}
}

// Totals are those of all stops.
func (t *Tally) Totals() Totals { return t.totals }

// More reports whether there were more gates or sessions than are listed.
func (t *Tally) More() bool { return t.more }

// Sessions are those that stopped, the last first.
func (t *Tally) Sessions() []Session {
	all := make([]Session, 0, len(t.sessions))
	for _, one := range t.sessions {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Session) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.ID, b.ID)) })
	return all
}

// Gates are those that were asked, by project and name.
func (t *Tally) Gates() []*Gate { return slices.SortedFunc(maps.Values(t.gates), byName) }

// byName is the order of gates, by project and name.
func byName(a, b *Gate) int { return cmp.Or(cmp.Compare(a.Root, b.Root), cmp.Compare(a.Job, b.Job)) }

func (t *Tally) gate(root, job string) *Gate {
	key := gateKey{root, job}
	g := t.gates[key]
	if g == nil {
		if len(t.gates) == mostGates {
			t.more = true
			return nil
		}
		if t.gates == nil {
			t.gates = map[gateKey]*Gate{}
		}
		g = &Gate{Root: root, Job: job}
		t.gates[key] = g
	}
	return g
}

// bounded is a duration that many can be added of: a clock that jumped must not count for years.
func bounded(ms int64) int64 { return min(max(0, ms), (24 * time.Hour).Milliseconds()) }
