package web

import (
	"bytes"
	"cmp"
	"container/list"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostRead is how many records are read of what happened before the site began.
	mostRead = 20_000
	// mostSeen are the sessions that are kept: those whose last record is the newest.
	mostSeen = 4_000
	// longestHeadline is how much of a sentence about a stop is kept, in bytes.
	longestHeadline = 300
	// longestSessionID is longer than any of Claude Code's, which are UUIDs.
	longestSessionID = 128
)

// Seen is a session of Claude Code, by what its hooks have told.
type Seen struct {
	ID      string // Claude Code's
	Project string
	State   string // busy, blocked (a stop was, and it works on), stopped, asking, failed, ended
	Since   time.Time
	Pane    string // of tmux
	Stops   int    // of the main agent that were answered, as stops.Tally counts them
	Blocks  int
	USD     float64 // of reviews, also those of subagents
	Last    Stop    // the last one of Stops
	// At is where the last record about it ends.
	At journal.Position
}

// Stop is a stop that was answered.
type Stop struct {
	Call     string // its id
	Time     time.Time
	Decision string
	Why      string // of the keeper that objected
	Took     time.Duration
	Headline string         // how it was answered and why, in a sentence
	Result   stops.Decision // what that came to
}

// Roster knows the sessions, but not those that doctor plays. It reads the journal once, and then only
// what was added.
type Roster struct {
	journal *journal.Journal

	mu   sync.Mutex
	read bool
	err  error // of reading the journal
	at   journal.Position
	seen map[string]*rosterEntry
	// states are the sessions by their state as Label tells it, the one whose state changed last first.
	states map[string]*list.List
}

// rosterEntry is a session with its place in the list of its state.
type rosterEntry struct {
	*Seen
	place *list.Element
}

// sessionStates are all that there are. Where there are too many sessions, those of the first go first.
var sessionStates = []string{"ended", "stopped", "gave up", "failed", "busy", "blocked", "asking"}

func newRoster(stateDir string) *Roster {
	r := &Roster{journal: journal.New(filepath.Join(stateDir, "journal"), journal.Limits{})}
	r.reset()
	return r
}

// reset forgets everything that was read.
func (r *Roster) reset() {
	r.read, r.at = false, journal.Position{}
	r.seen, r.states = map[string]*rosterEntry{}, map[string]*list.List{}
	for _, state := range sessionStates {
		r.states[state] = list.New()
	}
}

// ofSession tells the JSON of a record that says something about a session.
func ofSession(json []byte) bool { return bytes.Contains(json, []byte(`"session":"`)) }

// All are the sessions: those that ask or failed first, then those that work, then the others, and of
// each the one whose state changed last first.
func (r *Roster) All() ([]Seen, error) {
	return r.Pick(func(all []*Seen) []*Seen {
		slices.SortFunc(all, func(a, b *Seen) int {
			return cmp.Or(cmp.Compare(urgency(a.State), urgency(b.State)), compareSeen(a, b))
		})
		return all
	})
}

// Find is a session by its whole id.
func (r *Roster) Find(id string) (s Seen, found bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.seen[id]; known != nil {
		return *known.Seen, true, r.err
	}
	return s, false, r.err
}

// Pick are those of the sessions that a function chooses. They change when the function has returned.
func (r *Roster) Pick(choose func(all []*Seen) []*Seen) (chosen []Seen, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Seen, 0, len(r.seen))
	for _, s := range r.seen {
		all = append(all, s.Seen)
	}
	for _, s := range choose(all) {
		chosen = append(chosen, *s)
	}
	return chosen, r.err
}

func urgency(state string) int {
	switch state {
	case "asking":
		return 0
	case "failed":
		return 1
	case "blocked", "busy":
		return 2
	case "ended":
		return 4
	}
	return 3
}

// First are those of the sessions in some states whose state changed last, and how many there are in
// all. It costs little however many there are.
func (r *Roster) First(most int, states ...string) (first []Seen, all int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, 0, r.err
	}

	var lists []*list.Element // the first of each that was not taken yet
	for _, state := range states {
		if r.states[state] == nil {
			continue // there is no such state
		}
		all += r.states[state].Len()
		lists = append(lists, r.states[state].Front())
	}

	for len(first) < most {
		best := -1
		for i, e := range lists {
			if e != nil && (best < 0 || compareSeen(seenOf(e), seenOf(lists[best])) < 0) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		first = append(first, *seenOf(lists[best]))
		lists[best] = lists[best].Next()
	}
	return first, all, nil
}

func seenOf(e *list.Element) *Seen { return e.Value.(*rosterEntry).Seen }

// compareSeen is negative where the state of a session changed later than that of another one.
func compareSeen(a, b *Seen) int {
	return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID))
}

// refresh hears what was added to the journal. Pages have that done by Request.Roster.
func (r *Roster) refresh() *Roster {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = r.catchUp()
	if errors.Is(r.err, journal.ErrPosition) { // the journal is another one by now
		r.reset()
		r.err = r.catchUp()
	}
	return r
}

func (r *Roster) catchUp() error {
	if !r.read {
		if err := r.begin(); err != nil {
			return err
		}
		r.read = true
	}
	for entry, err := range r.journal.Select(r.at, ofSession) {
		if err != nil {
			return err
		}
		r.take(entry)
	}
	return nil
}

// begin reads the end of what there is.
func (r *Roster) begin() error {
	var newest []journal.Entry
	for entry, err := range r.journal.Backward(journal.Position{}, ofSession) {
		if err != nil {
			return err
		}
		if entry.Record != nil {
			newest = append(newest, entry)
		}
		if len(newest) == mostRead {
			break
		}
	}
	for _, entry := range slices.Backward(newest) {
		r.take(entry)
	}
	return nil
}

func (r *Roster) take(entry journal.Entry) {
	r.at = entry.Position
	rec := entry.Record
	if rec == nil || !plain.IsName(rec.Session, longestSessionID) || strings.HasPrefix(rec.Session, doctor.SessionPrefix) {
		return
	}

	s := r.seen[rec.Session]
	if s == nil {
		r.forget()
		s = &rosterEntry{Seen: &Seen{ID: rec.Session}}
		r.seen[rec.Session] = s
	}

	before := s.Label()
	s.hear(rec)
	s.At = entry.Position
	if now := s.Label(); now != before {
		if s.place != nil {
			r.states[before].Remove(s.place)
		}
		s.place = enlist(r.states[now], s)
	}
}

// enlist puts a session into the list of its state. Nearly always it comes first.
func enlist(l *list.List, s *rosterEntry) *list.Element {
	for e := l.Front(); e != nil; e = e.Next() {
		if compareSeen(s.Seen, seenOf(e)) < 0 {
			return l.InsertBefore(s, e)
		}
	}
	return l.PushBack(s)
}

// forget makes room for one more.
func (r *Roster) forget() {
	if len(r.seen) < mostSeen {
		return
	}
	for _, state := range sessionStates {
		if oldest := r.states[state].Back(); oldest != nil {
			r.states[state].Remove(oldest)
			delete(r.seen, seenOf(oldest).ID)
			return
		}
	}
}

// hear takes a record about the session.
func (s *Seen) hear(rec *event.Record) {
	s.Project, s.Pane = cmp.Or(rec.Project, s.Project), cmp.Or(rec.Pane, s.Pane)
	if stop := stops.Of(rec); stop != nil && rec.Kind == event.Answered && !stop.Adopted {
		s.count(stop, rec)
	}
	if state := stateAfter(rec); state != "" && state != s.State && rec.Agent.ID == "" {
		s.State, s.Since = state, rec.Time
	}
	if s.Since.IsZero() {
		s.State, s.Since = "busy", rec.Time
	}
}

// count takes a stop that was answered. A second call for the same stop is none.
func (s *Seen) count(stop *stops.Stop, rec *event.Record) {
	s.USD += stop.Cost.USD
	if stop.Event != "Stop" {
		return
	}
	s.Stops++
	if stop.Decision == stops.Blocked {
		s.Blocks++
	}
	s.Last = Stop{
		Call: stop.ID, Time: stop.Time, Decision: rec.Decision, Took: time.Duration(stop.DurationMS) * time.Millisecond,
		Headline: plain.Cut(plain.Line(stop.Headline()), longestHeadline), Result: stop.Decision,
	}
	for _, v := range stop.Verdicts {
		if v.Blocked || s.Last.Why == "" {
			s.Last.Why = v.Message
		}
	}
}

// stateAfter is the state that a session is in after a call of a hook, "" where that says nothing.
func stateAfter(rec *event.Record) string {
	switch rec.Event {
	case "SessionStart":
		return "stopped"
	case "SessionEnd":
		return "ended"
	case "UserPromptSubmit", "PreToolUse", "PostToolUse":
		return "busy"
	case "PermissionRequest":
		return "asking"
	case "StopFailure":
		return "failed"
	case "Notification":
		if rec.Enums.NotificationType == "permission_prompt" {
			return "asking"
		}
		return "stopped"
	case "Stop":
		switch {
		case rec.Kind == event.Received:
			return "busy"
		case rec.Decision == "block":
			return "blocked"
		}
		return "stopped"
	}
	return ""
}
