package gauntlet

import "github.com/stopgate/stopgate/internal/record/event"

// Status is how a run, or the question whether there should be one, ended. One
// type serves the executor and the stop hook, so nothing is translated on the
// way.
type Status string

// What a run of the gates ends with.
const (
	Passed             Status = "passed"
	PassedWithWarnings Status = event.StatusPassedWithWarnings
	NoApplicableGates  Status = event.StatusNoApplicableGates
	Failed             Status = "failed"
	RetryLimitExceeded Status = event.StatusRetryLimit
	LockExists         Status = "lock_exists"
	// InfrastructureError means that something which gates need is missing or
	// broken; it says nothing about the work.
	InfrastructureError Status = "infrastructure_error"
	// Error is a fault of ours, or a configuration that cannot be read.
	Error Status = "error"
)

// Why the stop hook did not run the gates.
const (
	NoConfig           Status = "no_config"
	StopHookActive     Status = "stop_hook_active"
	StopHookDisabled   Status = "stop_hook_disabled"
	IntervalNotElapsed Status = "interval_not_elapsed"
	InvalidInput       Status = "invalid_input"
	Untrusted          Status = "untrusted"
	// Unchanged means that the tree is the one that the agent found.
	Unchanged Status = event.StatusUnchanged
	Off       Status = "off"
	// NotJudged means that the hook that answered the stop asks no gates. Only the journal has it.
	NotJudged Status = "not_judged"
)

// What an external gauntlet says by its output although it exits with a
// failure. Gates of our own never end so.
const (
	TerminationPassed     Status = "termination_passed"
	TerminationWarnings   Status = "termination_warnings"
	TerminationRetryLimit Status = event.StatusTerminated
)

// IsBlocking reports whether an agent may not stop. Only a failure blocks:
// everything else is either good or no statement about the work.
func (s Status) IsBlocking() bool { return s == Failed }

// settles reports whether the tree is from now on the one that the agent has found.
func (s Status) settles() bool {
	switch s {
	case Passed, PassedWithWarnings, NoApplicableGates, Unchanged:
		return true
	}
	return false
}

func (s Status) decision() string {
	if s.IsBlocking() {
		return "block"
	}
	return "allow"
}

// CouldNotRun reports whether the gates said nothing about the work although
// they were asked.
func (s Status) CouldNotRun() bool {
	switch s {
	case InfrastructureError, Error, LockExists, Untrusted:
		return true
	}
	return false
}
