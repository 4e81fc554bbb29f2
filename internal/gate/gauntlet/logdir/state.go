package logdir

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const stateName = ".execution_state"

// State is what the last run that executed gates left behind. The first three
// fields are the contract; a file with them alone is whole.
type State struct {
	LastRunCompletedAt time.Time `json:"last_run_completed_at"`
	Branch             string    `json:"branch"` // HEAD when none is checked out
	Commit             string    `json:"commit"`
	// CommitInBase says whether the base branch had the commit already when this
	// was written; nil when nobody looked.
	CommitInBase *bool  `json:"commit_in_base,omitempty"`
	Status       string `json:"status,omitempty"`
	Tree         string `json:"tree,omitempty"` // of the working tree; empty when not known exactly
	Run          int    `json:"run,omitempty"`
	// Partial says that not every gate of what had changed was meant to run.
	Partial bool `json:"partial,omitempty"`
}

// OnBranch reports whether the state was left on the branch. A file cannot hold
// the bytes of a name that is not UTF-8, so they do not count.
func (s State) OnBranch(name string) bool { return inJSON(s.Branch) == inJSON(name) }

// Elapsed is how long ago the run was; ok is false when the clock says that it
// is yet to come.
func (s State) Elapsed(now time.Time) (elapsed time.Duration, ok bool) {
	elapsed = now.Round(0).Sub(s.LastRunCompletedAt)
	return max(0, elapsed), elapsed >= 0
}

// ReadState reads what the last run left. A file that is damaged or lacks one of
// the first three fields is as good as none.
func (d Dir) ReadState() (State, bool) {
	text, err := readSmall(d.file(stateName))
	if err != nil {
		return State{}, false
	}
	return parseState(text)
}

func parseState(text []byte) (State, bool) {
	var has struct {
		Time   *string `json:"last_run_completed_at"`
		Branch *string `json:"branch"`
		Commit *string `json:"commit"`
	}
	var s State
	if json.Unmarshal(text, &has) != nil || has.Time == nil || has.Branch == nil || has.Commit == nil {
		return State{}, false
	}
	if json.Unmarshal(text, &s) != nil {
		return State{}, false
	}
	return s, true
}

// WriteState replaces what the last run left. It is not synced: one that is lost
// with the power is as good as none, and the next run writes another.
func (d Dir) WriteState(s State) error {
	if err := d.make(); err != nil { // a gate may have deleted it: git clean -fdx
		return err
	}
	s.LastRunCompletedAt = s.LastRunCompletedAt.UTC().Truncate(time.Millisecond)
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", d.file(stateName), err)
	}
	if err := atomicfile.Renew(d.file(stateName), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", d.file(stateName), err)
	}
	return nil
}

// inJSON is the text as JSON can hold it: U+FFFD for every byte that is no part
// of a character.
func inJSON(text string) string { return string([]rune(text)) }

// readSmall reads a file that somebody may have put a pipe or something huge in
// place of.
func readSmall(path string) ([]byte, error) {
	const most = 1 << 20
	return regular.Read(path, most)
}
