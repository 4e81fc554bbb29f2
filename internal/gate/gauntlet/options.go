// Package gauntlet runs a project's gates on what has changed and decides whether
// an agent may stop.
package gauntlet

import (
	"io"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
)

// Options say what to run.
type Options struct {
	Project  *keeper.Project // with its gates
	Global   *config.Global
	StateDir string
	Environ  []string
	Now      func() time.Time
	// Kind limits the run to checks or reviews, and Gate to one name; empty
	// means all.
	Kind  Kind
	Gate  string
	Scope change.Scope
	// NoCache runs gates although they are proven.
	NoCache bool
	// Vouched are passes on other machines that count here for gates with accept_proof.
	Vouched []Voucher
	// Answers means that the run decides about a stop: it waits for others to end, and if
	// it fails, that counts as a retry. Runs by hand do neither.
	Answers bool
	// Since is when the session began that stops: what it has committed counts as changed.
	Since change.Start
	// Observe means that nothing is blocked, so a failure does not count as a retry either.
	Observe bool
	// Baseline is the tree that the agent found; empty where it is not known. Found says what made it
	// the baseline, in a word of event.Tree. Red means that a stop of its session was refused on it. Plan
	// means that the agent only plans.
	Baseline  string
	Found     string
	Red, Plan bool
	// OnlyReads is as in keeper.Call.
	OnlyReads func() bool
	// Others means that after this tree others may have to be judged in the same time.
	Others bool
	// Prompt and Session are as in ledger.Run.
	Prompt, Session string
	// Limit is why ctx ends, for messages.
	Limit Limit
	// Console gets what is written to the console log too; nil is silent.
	Console io.Writer
	// Watch hears what happens, one call at a time; it may be nil.
	Watch func(Event)
}

// whole reports whether every gate of all that changed is meant: only such a run
// may say that all is well.
func (o *Options) whole() bool {
	s := o.Scope
	return o.Kind == "" && o.Gate == "" && s.Commit == "" && !s.Uncommitted && !s.Explicit && !s.CI
}

// selects reports whether a job is meant.
func (o *Options) selects(job *Job) bool {
	return (o.Kind == "" || o.Kind == job.Kind) && (o.Gate == "" || o.Gate == job.Gate().Name)
}

// Event is something that happens during a run: the plan, or the start, a line or
// the end of one job.
type Event struct {
	// Planned are the jobs of the run, in the order of the configuration, and
	// those among them that need not run.
	Planned []*Job
	Proven  []*Job
	// Started and Printed name a job that began, or that printed Line.
	Started *Job
	Printed *Job
	Line    string
	// Finished is a gate that ended.
	Finished *GateResult
}
