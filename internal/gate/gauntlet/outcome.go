package gauntlet

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/record/event"
)

// Outcome is what became of a gate.
type Outcome string

// The outcomes of a gate, as the journal writes them.
const (
	GatePassed      Outcome = event.GatePassed
	GateFailed      Outcome = event.GateFailed
	GateCouldNotRun Outcome = event.GateCouldNotRun
	GateNotStarted  Outcome = event.GateNotStarted
	GateProven      Outcome = event.GateProven
	GateSkipped     Outcome = event.GateSkipped
)

// GateResult is how one gate ended.
type GateResult struct {
	Job     string  `json:"job"`
	Kind    Kind    `json:"kind"`
	Entry   string  `json:"entry_point"`
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"`
	// Log is the gate's own log; a review has one for each reviewer.
	Log string `json:"log,omitempty"`
	// Reviews are the files in which the agent says what became of violations.
	Reviews []string `json:"reviews,omitempty"`
	// Tail is the end of what a check printed.
	Tail            string             `json:"tail,omitempty"`
	FixInstructions string             `json:"fix_instructions,omitempty"`
	Violations      []review.Violation `json:"violations,omitempty"`
	Warnings        []string           `json:"warnings,omitempty"`
	// Remarks say what of the agent's own words was not taken over.
	Remarks []string `json:"remarks,omitempty"`
	// AttestedBy is whose signed pass stands for a run here.
	AttestedBy string        `json:"attested_by,omitempty"`
	Duration   time.Duration `json:"-"`
	DurationMS int64         `json:"duration_ms"`
	Cost       event.Cost    `json:"cost,omitzero"` // of a review, where its program tells
	start      time.Time     // zero where it did not run
	job        *Job
	timedOut   bool
	killed     bool   // by a signal, and not by us
	ended      bool   // by itself, and said something
	unseen     bool   // it failed without having looked at the tree
	late       bool   // there was no time to start it
	diff       string // digest of the change that reviewers were shown; empty where there were none
	withheld   bool   // what was approved could not be given to it
	kept       string // the copy of its log that stays; empty where there is none
}

// reviewed reports whether reviewers were asked.
func (g GateResult) reviewed() bool {
	return g.Kind == KindReview && g.Outcome != GateProven && g.Outcome != GateNotStarted
}

// Result is how a run ended.
type Result struct {
	Status  Status `json:"status"`
	Message string `json:"message"`
	// ConsoleLogPath is the absolute path of the run's console log; empty when
	// nothing ran, and where a gate has removed it.
	ConsoleLogPath string `json:"consoleLogPath,omitempty"`
	// Told is what the person hears besides, whatever the outcome.
	Told []string `json:"told,omitempty"`
	// Elsewhere names the project's root, as one may see it, where the agent stands in another one.
	Elsewhere string `json:"-"`
	// Edited is what the agent is told of a .gauntlet that is not as approved.
	Edited string `json:"-"`
	// ErrorMessage says more where the status is an error.
	ErrorMessage string       `json:"errorMessage,omitempty"`
	Err          error        `json:"-"`
	Gates        []GateResult `json:"gates"`
	Warnings     []string     `json:"warnings,omitempty"`
	Notes        []string     `json:"notes,omitempty"`
	Changed      int          `json:"changed_files"`
	Base         string       `json:"base,omitempty"`
	MergeBase    string       `json:"merge_base,omitempty"`
	Run          int          `json:"run,omitempty"`
	Failures     int          `json:"failures,omitempty"` // failing runs of the series, this one included
	MaxRetries   int          `json:"max_retries,omitempty"`
	NewLimit     bool         `json:"-"` // the retry limit was reached by this run
	Interrupted  bool         `json:"interrupted,omitempty"`
	Tree         string       `json:"tree,omitempty"` // id of what was looked at, with ~ where some of it could not be read; empty where it is not known
	// Unjudged says which setting kept the gates from being asked; empty where none did.
	Unjudged string `json:"-"`
	// since is since when a tree is unchanged, in a word of event.Tree.
	since string
	// spared is why the gates that are not in Gates were not asked; empty where the status or
	// Unjudged says it.
	spared     string
	Duration   time.Duration `json:"-"`
	DurationMS int64         `json:"duration_ms"`
}

// with lists the gates that ended so.
func (r *Result) with(outcomes ...Outcome) []GateResult {
	var out []GateResult
	for _, gate := range r.Gates {
		if slices.Contains(outcomes, gate.Outcome) {
			out = append(out, gate)
		}
	}
	return out
}

// cost is what the reviews cost.
func (r *Result) cost() (sum event.Cost) {
	for i := range r.Gates {
		sum = sum.Plus(r.Gates[i].Cost)
	}
	return sum
}

// counts are how many gates passed, were proven, failed, could not run and were not started.
func (r *Result) counts() (all []any) {
	for _, outcome := range []Outcome{GatePassed, GateProven, GateFailed, GateCouldNotRun, GateNotStarted} {
		all = append(all, len(r.with(outcome)))
	}
	return all
}
