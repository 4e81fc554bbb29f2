package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Report is what a check of a whole store came to.
type Report struct {
	Events   int       `json:"events"`   // sound ones
	Subjects int       `json:"subjects"` // that have events
	Last     Position  `json:"last"`     // of the last event
	Findings []Finding `json:"findings"` // what is not as it was; empty for a sound store
	Omitted  int       `json:"omitted"`  // findings beyond maxFindings
	Notes    []string  `json:"notes"`    // what could not be checked, and why
	Trimmed  *Trimmed  `json:"trimmed,omitempty"`
}

// Trimmed is the last trim of a store.
type Trimmed struct {
	To     Position  `json:"to"`               // events up to there are gone, but for the last of each subject
	Events int       `json:"events,omitempty"` // that this trim removed
	Total  int       `json:"total,omitempty"`  // that all trims removed
	Time   time.Time `json:"time,omitzero"`    // zero in what an older stopgate wrote, as are the others
	By     string    `json:"by,omitempty"`
}

func (t Trimmed) String() string {
	if t.Time.IsZero() {
		return fmt.Sprintf("the events up to %d were trimmed, except the last of each subject", t.To)
	}
	text := fmt.Sprintf("the events up to %d were trimmed, except the last of each subject: %s, on %s, by %s",
		t.To, plain.Count(t.Events, "event"), t.Time.UTC().Format(time.RFC3339), t.By)
	if t.Total > t.Events {
		text += fmt.Sprintf("; %d since the first trim", t.Total)
	}
	return text
}

// Finding is one thing that is wrong, in words for a person. Position and Subject are there
// when it is known which event is meant. Remedy is there when something other helps than
// a backup: then nothing is damaged that cannot be fixed.
type Finding struct {
	Position Position `json:"position,omitempty"`
	Subject  string   `json:"subject,omitempty"`
	Text     string   `json:"text"`
	Remedy   string   `json:"remedy,omitempty"`
}

// maxFindings is how many findings a report lists: who lost a whole disk need not read
// a million lines.
const maxFindings = 1000

// Sound reports whether nothing was found.
func (r *Report) Sound() bool { return len(r.Findings) == 0 }

// Damaged reports whether something was found that only a backup helps against.
func (r *Report) Damaged() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Remedy == "" })
}

// Add adds a finding.
func (r *Report) Add(position Position, subject, format string, args ...any) {
	r.Found(Finding{Position: position, Subject: subject, Text: fmt.Sprintf(format, args...)})
}

// Found adds a finding.
func (r *Report) Found(f Finding) {
	if len(r.Findings) == maxFindings {
		r.Omitted++
		return
	}
	r.Findings = append(r.Findings, f)
}

func (f Finding) String() string {
	switch {
	case f.Subject != "" && f.Position != 0:
		return fmt.Sprintf("event %d of %s: %s", f.Position, f.Subject, f.Text)
	case f.Subject != "":
		return fmt.Sprintf("%s: %s", f.Subject, f.Text)
	case f.Position != 0:
		return fmt.Sprintf("event %d: %s", f.Position, f.Text)
	}
	return f.Text
}
