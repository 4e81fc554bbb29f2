package web

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostRead is how many records are read of what happened before the site began.
	mostRead = 20_000
	// mostSeen are the sessions that are kept: those of which something was heard last.
	mostSeen = 4_000
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
	Stops   int    // that were judged
	Blocks  int
	USD     float64 // of reviews
	Last    Stop    // the last stop that was judged
}

// Stop is a stop that was judged.
type Stop struct {
	Call     string // its id
	Time     time.Time
	Decision string
	Why      string // of the keeper that objected
	Failed   []string
	Took     time.Duration
}

// Roster knows the sessions. It reads the journal once, and then only what was added.
type Roster struct {
	journal *journal.Journal

	mu   sync.Mutex
	read bool
	at   journal.Position
	seen map[string]*Seen
}

func newRoster(stateDir string) *Roster {
	return &Roster{journal: journal.New(filepath.Join(stateDir, "journal"), journal.Limits{}), seen: map[string]*Seen{}}
}

// ofSession tells the JSON of a record that says something about a session.
func ofSession(json []byte) bool { return bytes.Contains(json, []byte(`"session":"`)) }

// All are the sessions: those that ask or failed first, then those that work, then the others, and of
// each the one whose state changed last first.
func (r *Roster) All() ([]Seen, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.catchUp(); err != nil {
		return nil, err
	}
	all := make([]Seen, 0, len(r.seen))
	for _, s := range r.seen {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(urgency(a.State), urgency(b.State)), b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
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

func (r *Roster) catchUp() error {
	if !r.read {
		if err := r.begin(); err != nil {
			return err
		}
		r.read = true
	}
	for entry, err := range r.journal.Select(r.at, ofSession) {
		if errors.Is(err, journal.ErrPosition) { // the journal is another one by now
			r.read, r.at = false, journal.Position{}
			return nil
		}
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
	if rec == nil || !plain.IsName(rec.Session, longestSessionID) {
		return
	}
	s := r.seen[rec.Session]
	if s == nil {
		r.forget()
		s = &Seen{ID: rec.Session}
		r.seen[rec.Session] = s
	}
	s.hear(rec)
}

// forget makes room for one more.
func (r *Roster) forget() {
	if len(r.seen) < mostSeen {
		return
	}
	var oldest *Seen
	for _, s := range r.seen {
		if oldest == nil || s.Since.Before(oldest.Since) {
			oldest = s
		}
	}
	delete(r.seen, oldest.ID)
}

// hear takes a record about the session.
func (s *Seen) hear(rec *event.Record) {
	s.Project, s.Pane = cmp.Or(rec.Project, s.Project), cmp.Or(rec.Pane, s.Pane)
	for _, v := range rec.Verdicts {
		s.USD += v.Cost.USD
	}
	judged := rec.Kind == event.Answered && (rec.Event == "Stop" || rec.Event == "SubagentStop") && (len(rec.Trees) > 0 || len(rec.Verdicts) > 0)
	if judged {
		s.judge(rec)
	}
	if state := stateAfter(rec); state != "" && state != s.State && rec.Agent.ID == "" {
		s.State, s.Since = state, rec.Time
	}
	if s.Since.IsZero() {
		s.State, s.Since = "busy", rec.Time
	}
}

func (s *Seen) judge(rec *event.Record) {
	s.Stops++
	if rec.Decision == "block" {
		s.Blocks++
	}
	s.Last = Stop{Call: rec.Call, Time: rec.Time, Decision: rec.Decision, Took: time.Duration(rec.DurationMS) * time.Millisecond}
	for _, v := range rec.Verdicts {
		if v.Blocked || s.Last.Why == "" {
			s.Last.Why = v.Message
		}
	}
	for _, tree := range rec.Trees {
		for _, g := range tree.Gates {
			if g.Outcome == "failed" {
				s.Last.Failed = append(s.Last.Failed, g.Job)
			}
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
