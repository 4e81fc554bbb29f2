package event

// Statuses of a run of gates that explain a stop to those who read the journal. The gates have more.
const (
	StatusPassedWithWarnings = "passed_with_warnings"
	StatusNoApplicableGates  = "no_applicable_gates"
	StatusUnchanged          = "unchanged"
	StatusRetryLimit         = "retry_limit_exceeded"
	StatusTerminated         = "termination_retry_limit"
)

// The outcomes of a gate.
const (
	GatePassed      = "passed"
	GateFailed      = "failed"
	GateCouldNotRun = "could_not_run"
	// GateNotStarted was kept from starting, by another gate that fails fast or
	// because the time was over.
	GateNotStarted = "not_started"
	// GateProven passed before, for exactly this definition and this content.
	GateProven = "proven"
	// GateSkipped was not asked. Only the journal has it: a run lists the gates that it asks.
	GateSkipped = "skipped"
)
