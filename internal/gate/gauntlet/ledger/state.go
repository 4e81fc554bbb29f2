package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

// State is what the ledger holds.
type State struct {
	Root string `json:"root"`
	// Damaged means that an earlier state was lost. It stays until a run has
	// looked at every gate.
	Damaged bool `json:"damaged,omitempty"`
	// Open are the open failures, ordered by job.
	Open []Failure `json:"open,omitempty"`
	// Series counts the failing runs in a row. Where nothing is open it is zero.
	Series Series `json:"series,omitzero"`
	// Blocks counts the blocks of a session since the last pass, see Run.Session.
	Blocks map[string]int `json:"blocks,omitempty"`
	// Proven are the passes that need not be repeated, by their key.
	Proven map[string]Proof `json:"proven,omitempty"`
	// Skipped are the violations that somebody decided to leave, oldest first.
	Skipped []Skip `json:"skipped,omitempty"`
	// Look is the last selection of jobs. The same key would select the same.
	Look *Look `json:"look,omitempty"`
}

// Failure is a gate that failed and has not been closed: a check by passing, a
// review by the end of all its violations.
type Failure struct {
	Job        string    `json:"job"`
	Kind       string    `json:"kind"` // check or review
	Name       string    `json:"name"`
	Entry      string    `json:"entry"`
	Definition string    `json:"definition"`     // hash of the gate's definition when it last failed
	Tree       string    `json:"tree,omitempty"` // on which it last failed; empty when not known exactly
	Since      time.Time `json:"since"`
	Last       time.Time `json:"last"`
	Message    string    `json:"message,omitempty"`
	Log        string    `json:"log,omitempty"`
	Kept       string    `json:"kept,omitempty"` // the copy of the log that stays; empty where there is none
	// Violations are a review's, each with what was said about it since.
	Violations []review.Violation `json:"violations,omitempty"`
	// Files are the review's answers of the last run, which the agent edits.
	Files []string `json:"files,omitempty"`
}

// Skip is a violation that is left as it is.
type Skip struct {
	Job       string           `json:"job"`
	At        time.Time        `json:"at"`
	Violation review.Violation `json:"violation"`
}

// Look is a selection of jobs and the key of all that it depends on.
type Look struct {
	Key     string   `json:"key"`
	Jobs    []string `json:"jobs,omitempty"`
	Changed int      `json:"changed,omitempty"` // files
	Note    string   `json:"note,omitempty"`    // about how they were found
	// Aside is what the session had put where no gate looks.
	Aside []string `json:"aside,omitempty"`
	// Outside is a commit and a base that it is known not to be part of.
	Outside string `json:"outside,omitempty"`
}

// Failure is the open failure of a job.
func (s *State) Failure(job string) (Failure, bool) {
	if i := s.index(job); i >= 0 {
		return s.Open[i], true
	}
	return Failure{}, false
}

// IsOpen reports whether a job has an open failure.
func (s *State) IsOpen(job string) bool { return s.index(job) >= 0 }

func (s *State) index(job string) int {
	job = inJSON(job)
	return slices.IndexFunc(s.Open, func(f Failure) bool { return f.Job == job })
}

// LogsMoved says that the log directory uses the names of its files again: from now on the log of
// an open failure is the copy that stays.
func (s *State) LogsMoved() {
	for i := range s.Open {
		if f := &s.Open[i]; f.Kept != "" {
			f.Log = f.Kept
		}
	}
}

// open adds a failure or replaces that of the same job.
func (s *State) open(f Failure) {
	if i := s.index(f.Job); i >= 0 {
		s.Open[i] = f
		return
	}
	s.Open = append(s.Open, f)
	slices.SortFunc(s.Open, func(a, b Failure) int { return strings.Compare(a.Job, b.Job) })
}

func (s *State) close(job string) {
	if i := s.index(job); i >= 0 {
		s.Open = slices.Delete(s.Open, i, i+1)
	}
}

// inJSON is a job's id as the file holds it: U+FFFD for every byte that is no
// part of a character. An entry point may be a folder with such a name.
func inJSON(id string) string { return string([]rune(id)) }
