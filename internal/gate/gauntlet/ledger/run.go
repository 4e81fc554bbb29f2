package ledger

import (
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

// Run is what a run of gates came to.
type Run struct {
	Now        time.Time
	Tree       string // of the working tree; empty when not known exactly
	MaxRetries int
	// Answers means that the run decided about a stop: only such a run is a retry.
	Answers bool
	// Prompt names the last prompt that a person has written; empty where that is not known.
	Prompt string
	// Session is set by a hook that hears of stops alone: its blocks are counted apart.
	Session string
	// Whole means that every gate was meant, not one kind or name alone. Such a
	// run has each open failure among its gates or the removed ones, and where the
	// state was damaged, it has every gate.
	Whole bool
	Gates []GateRun
	// Removed are the jobs of open failures that the configuration no longer
	// leads to.
	Removed []string
}

// GateRun is how one gate ended.
type GateRun struct {
	Job, Kind, Name, Entry string
	Definition             string
	// Key is what a pass of the gate is kept under; empty when a pass proves
	// nothing, as when the tree changed while the gate ran.
	Key     string
	Result  Result
	Unseen  bool // it failed without having judged the tree
	Message string
	Log     string
	Kept    string // the copy of the log that stays
	// Violations are what is on record of a review after it was reconciled,
	// skipped ones included.
	Violations []review.Violation
	Files      []string
	// Warnings are what a pass has to be taken with. They go into its proof.
	Warnings []string
}

// Result is what became of a gate.
type Result string

// The results.
const (
	Passed      Result = "passed"
	Failed      Result = "failed"
	CouldNotRun Result = "could_not_run"
	NotStarted  Result = "not_started"
	Proven      Result = "proven"
)

// ran reports whether the gate has said something about this tree.
func (r Result) ran() bool { return r == Passed || r == Failed }

// Conclusion is what a run means for the agent.
type Conclusion struct {
	// Failed means that a gate of the run failed, or stays failed since nothing
	// closed it, or, if the run was whole, that anything is open.
	Failed bool
	// Failures are the failing runs of the series so far.
	Failures int
	// LimitReached means that the series has used up its retries, and NewLimit
	// that this run was what did it.
	LimitReached bool
	NewLimit     bool
	// Warnings say what a pass has to be taken with, in the order of the gates.
	Warnings []string
	// StillOpen are the jobs of all open failures.
	StillOpen []string
}
