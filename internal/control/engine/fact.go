package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Fact is something that is true from now on.
type Fact interface {
	// EventType is the fact's name in the store, such as step:waiting.
	EventType() string
}

// change is a fact that changes its owner. What facts change in the owner's agent,
// Agent.after says.
type change interface {
	apply(o *Owner, s *Step)
}

// take makes a fact true of the owner.
func (o *Owner) take(f Fact, s *Step) {
	if o.Agent != nil {
		o.Agent.after(f, s.Time)
	}
	if f, changes := f.(change); changes {
		f.apply(o, s)
	}
}

// Facts about owners and their steps.
type (
	// Created is a new owner, with everything that it will ever need.
	Created struct {
		Kind    Kind              `json:"kind"`
		Name    string            `json:"name"`
		Command string            `json:"command"`
		Project string            `json:"project"`
		Cwd     string            `json:"cwd"`
		Vars    map[string]string `json:"vars,omitempty"`
		Passed  map[string]string `json:"passed,omitempty"`
		By      string            `json:"by,omitempty"`
		Job     *Job              `json:"job,omitempty"`
		Plan    *runbook.Plan     `json:"plan"`
		Site    Site              `json:"site,omitzero"`
		Parent  *Parent           `json:"parent,omitempty"`
		Outputs map[string]Output `json:"outputs,omitempty"`
	}
	// StepStarted is a step that was entered. The agent is on record before it starts.
	StepStarted struct {
		Step       string `json:"step"`
		AgentID    string `json:"agent_id,omitempty"`
		AgentName  string `json:"agent_name,omitempty"`
		Session    string `json:"session,omitempty"` // where it goes on with an old one
		ClaudeCode bool   `json:"client,omitempty"`
		Attempt    int    `json:"attempt,omitempty"` // where it is not the first

		Timeout time.Duration `json:"timeout,omitempty"`
	}
	// StepRetrying is a step that failed, and is to be run again.
	StepRetrying struct {
		Step    string `json:"step"`
		Error   string `json:"error"`
		Attempt int    `json:"attempt"` // the next
	}
	// StepSkipped is a step whose condition does not hold.
	StepSkipped struct {
		Step string `json:"step"`
	}
	// StepCompleted is a step that succeeded.
	StepCompleted struct {
		Step string `json:"step"`
	}
	// StepFailed is a step that failed, or that was entered too often.
	StepFailed struct {
		Step  string `json:"step"`
		Error string `json:"error"`
	}
	// FailuresOverruled is a person's answer after which the steps that failed count as completed.
	FailuresOverruled struct{}
	// StepCancelled is a step that was left because its owner was cancelled.
	StepCancelled struct {
		Step string `json:"step"`
	}
	// StepWaiting is a step that waits for a person's decision.
	StepWaiting struct {
		Step       string `json:"step"`
		Reason     string `json:"reason"`
		DecisionID string `json:"decision_id"`
	}
	// PipelineAdvanced is a pipeline that goes to another step, or to its end.
	PipelineAdvanced struct {
		Step string `json:"step"`
	}
	// AgentRunStatusChanged is how far an agent that runs alone is: running, escalated, completed,
	// failed, cancelled.
	AgentRunStatusChanged struct {
		Status     string `json:"status"`
		Reason     string `json:"reason,omitempty"`
		DecisionID string `json:"decision_id,omitempty"`
	}
	// PipelineCancelling is an owner that is being cancelled: what follows is on_cancel.
	PipelineCancelling struct {
		Why string `json:"why,omitempty"`
	}
	// PipelineEnding is a pipeline at its end but for its finally.
	PipelineEnding struct {
		At string `json:"at"`
	}
	// PipelineResumed is an owner that a person let go on. Step is empty when it waited.
	PipelineResumed struct {
		Step string            `json:"step,omitempty"`
		Vars map[string]string `json:"vars,omitempty"`
	}
	// OwnerDeleted is an owner that is forgotten. It stays the last that is known of it.
	OwnerDeleted struct {
		By string `json:"by,omitempty"`
	}
)

// The statuses of agents that run alone.
const (
	runRunning   = "running"
	runEscalated = "escalated"
	runCompleted = "completed"
	runFailed    = "failed"
	runCancelled = "cancelled"
)

// keptVisits and the others are how much an owner remembers.
//
// The journal is read again from at most 10,000 records before its end, of all owners and
// of all who have none, and only the words of the current agent count: those of the agents
// before it are known by their id. Of one agent 1,000 words are some hundred turns. Where
// there were more, the oldest are heard twice: at worst a person is asked, or the agent
// told, once more. Times would bound it better, until a clock is put back: then the agent
// would be heard no more.
const (
	keptVisits  = 100
	keptSettled = 8
	keptSeen    = 1_000
	keptSpent   = 16
	keptOver    = 16
	keptBefore  = 8
)

// EventType names the fact by the owner's kind.
func (f Created) EventType() string {
	if f.Kind == AgentRun {
		return "agent_run:created"
	}
	return "pipeline:created"
}

func (f Created) apply(o *Owner, s *Step) {
	o.Kind, o.Name, o.Command = f.Kind, f.Name, f.Command
	o.Project, o.Cwd, o.Site = f.Project, f.Cwd, f.Site
	o.Vars, o.Passed, o.Plan, o.By = maps.Clone(f.Vars), maps.Clone(f.Passed), f.Plan, f.By
	o.Job = f.Job
	o.Parent, o.Outputs = f.Parent, maps.Clone(f.Outputs)
	o.Created, o.Status = s.Time, Running
	if f.Parent != nil {
		o.Told = ChildRunning // it knows that it started it
	}
}

func (StepStarted) EventType() string { return "step:started" }

func (f StepStarted) apply(o *Owner, s *Step) {
	o.Step, o.Status = f.Step, Running
	if f.Attempt == 0 {
		o.Visits = with(o.Visits, f.Step, o.Visits[f.Step]+1)
	}
	o.History = latest(append(o.History, Visit{Step: f.Step, Attempt: f.Attempt, AgentID: f.AgentID, Started: s.Time}), keptVisits)
	o.Agent, o.Shell = nil, nil
	o.Attempt, o.Timeout, o.Since = f.Attempt, f.Timeout, o.Ran
	if f.AgentID != "" {
		o.begin(Agent{ID: f.AgentID, Name: f.AgentName, Session: f.Session, Life: Life{ClaudeCode: f.ClaudeCode}}, s)
	}
}

func (StepCompleted) EventType() string { return "step:completed" }

func (f StepCompleted) apply(o *Owner, s *Step) {
	o.left(f.Step, "completed", "", s)
	o.clearFailure(f.Step)
	o.Attempts, o.Acted = nil, nil
}

func (StepFailed) EventType() string { return "step:failed" }

func (f StepFailed) apply(o *Owner, s *Step) {
	o.left(f.Step, "failed", f.Error, s)
	o.Failed, o.Error = f.Step, f.Error
	o.clearFailure(f.Step)
	o.Failures = append(o.Failures, Failure(f))
}

// clearFailure takes a step off those that failed: it was completed, or has failed again.
func (o *Owner) clearFailure(step string) {
	o.Failures = slices.DeleteFunc(o.Failures, func(f Failure) bool { return f.Step == step })
	if len(o.Failures) == 0 {
		o.Failures = nil
	}
}

func (FailuresOverruled) EventType() string { return "failures:overruled" }

func (FailuresOverruled) apply(o *Owner, s *Step) { o.Failures = nil }

func (StepRetrying) EventType() string { return "step:retrying" }

func (f StepRetrying) apply(o *Owner, s *Step) {
	o.left(f.Step, "failed", f.Error, s)
	o.Error, o.Attempt = f.Error, f.Attempt
}

func (StepSkipped) EventType() string { return "step:skipped" }

func (f StepSkipped) apply(o *Owner, s *Step) {
	o.Step = f.Step
	o.Visits = with(o.Visits, f.Step, o.Visits[f.Step]+1)
	o.History = latest(append(o.History, Visit{Step: f.Step, Started: s.Time, Finished: s.Time, Outcome: "skipped"}), keptVisits)
	if _, ran := o.Outputs[f.Step]; !ran {
		o.Outputs = with(o.Outputs, f.Step, Output{})
	}
}

func (StepCancelled) EventType() string { return "step:cancelled" }

func (f StepCancelled) apply(o *Owner, s *Step) {
	o.left(f.Step, "cancelled", "", s)
	o.Attempts, o.Acted = nil, nil
}

// left ends the visit of a step, and everything that went on for it.
func (o *Owner) left(step, outcome, failure string, s *Step) {
	if last := o.visit(); last != nil && last.Step == step && last.Finished.IsZero() {
		last.Finished, last.Outcome, last.Error = s.Time, outcome, failure
		if o.Agent != nil {
			last.Session = o.Agent.Session
		}
		o.keepOutput(step, failure)
	}
	o.Agent, o.Shell, o.Timers = nil, nil, nil
	o.Attempt, o.Timeout, o.Since = 0, 0, 0
	if o.hasChildren() {
		o.Offspring.close()
	}
}

// visit is the newest.
func (o *Owner) visit() *Visit {
	if len(o.History) == 0 {
		return nil
	}
	return &o.History[len(o.History)-1]
}

func (StepWaiting) EventType() string { return "step:waiting" }

func (f StepWaiting) apply(o *Owner, s *Step) { o.Status = Waiting }

func (PipelineAdvanced) EventType() string { return "pipeline:advanced" }

func (f PipelineAdvanced) apply(o *Owner, s *Step) {
	o.Step = f.Step
	if runbook.IsEnd(f.Step) {
		o.end(s)
	}
}

func (PipelineEnding) EventType() string { return "pipeline:ending" }

func (f PipelineEnding) apply(o *Owner, s *Step) { o.Ending = f.At }

// end is what remains of an owner at its end.
func (o *Owner) end(s *Step) {
	o.Status, o.Ended, o.Ending = Ended, s.Time, ""
	o.Agent, o.Shell, o.Timers = nil, nil, nil
	o.Attempts, o.Acted, o.Visits = nil, nil, nil
	o.Seen = latest(o.Seen, keptSettled)
	switch {
	case o.Step != runbook.EndFailed:
		o.Error, o.Failed = "", ""
	case len(o.Failures) > 0: // what it failed for, not what its clean-up did
		o.Failed, o.Error = o.Failures[0].Step, o.Failures[0].Error
	}
	o.Failures = nil
}

func (AgentRunStatusChanged) EventType() string { return "agent_run:status_changed" }

func (f AgentRunStatusChanged) apply(o *Owner, s *Step) {
	switch f.Status {
	case runRunning:
		o.Status = Running
	case runEscalated:
		o.Status = Waiting
	case runCompleted:
		o.Step = runbook.EndDone
		o.end(s)
	case runFailed:
		o.Step = runbook.EndFailed
		o.end(s)
	case runCancelled:
		o.Step = runbook.EndCancelled
		o.end(s)
	}
}

func (PipelineCancelling) EventType() string { return "pipeline:cancelling" }

func (f PipelineCancelling) apply(o *Owner, s *Step) {
	o.Cancelling, o.Cancelled, o.Visits = true, f.Why, nil
}

func (PipelineResumed) EventType() string { return "pipeline:resumed" }

func (f PipelineResumed) apply(o *Owner, s *Step) {
	for name, value := range f.Vars {
		o.Vars = with(o.Vars, name, value)
	}
	o.Visits, o.Attempts, o.Acted = nil, nil, nil
	if o.Offspring != nil && o.Offspring.Step == f.Step {
		o.Offspring.Resumed = true
	}
	if f.Step != "" {
		o.Status, o.Step, o.Ended, o.Ending = Running, f.Step, time.Time{}, ""
		o.Error, o.Failed, o.Cancelling, o.Cancelled = "", "", false, ""
	}
}

func (OwnerDeleted) EventType() string { return "owner:deleted" }

func (OwnerDeleted) apply(o *Owner, s *Step) { o.Deleted = true }

// with sets a key in a map that may be nil.
func with[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

// without removes a key. An empty map is nil, as it is when it comes from JSON.
func without[V any](m map[string]V, key string) map[string]V {
	delete(m, key)
	if len(m) == 0 {
		return nil
	}
	return m
}

// latest keeps the end of a list.
func latest[E any](list []E, n int) []E {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}

// Facts about timers, and about attempts.
type (
	// TimerSet is a timer that is due at a time.
	TimerSet struct {
		Name string    `json:"name"`
		Due  time.Time `json:"due"`
	}
	// TimerCancelled is a timer that is not to fire.
	TimerCancelled struct {
		Name string `json:"name"`
	}
	// TimerFired is a timer that is due, and has fired.
	TimerFired struct {
		Name string    `json:"name"`
		Due  time.Time `json:"-"` // of the input
	}
	// AttemptCounted is a trigger whose action is taken once more.
	AttemptCounted struct {
		Trigger string `json:"trigger"`
		Attempt int    `json:"attempt"`
	}
	// PersonIntervened is a person who did something: attempts are counted anew, and what the
	// agent said before counts no longer.
	PersonIntervened struct{}
)

func (TimerSet) EventType() string { return "timer:set" }

func (f TimerSet) apply(o *Owner, s *Step) {
	o.Timers = with(o.Timers, f.Name, f.Due)
	if f.Name == expire && o.Decision != nil {
		o.Decision.Expires = f.Due
	}
}

func (TimerCancelled) EventType() string { return "timer:cancelled" }

func (f TimerCancelled) apply(o *Owner, s *Step) { o.Timers = without(o.Timers, f.Name) }

func (TimerFired) EventType() string { return "timer:fired" }

func (f TimerFired) apply(o *Owner, s *Step) { o.Timers = without(o.Timers, f.Name) }

func (AttemptCounted) EventType() string { return "attempt:counted" }

func (f AttemptCounted) apply(o *Owner, s *Step) {
	o.Attempts = with(o.Attempts, f.Trigger, f.Attempt)
	o.Acted = with(o.Acted, f.Trigger, s.Time)
}

func (PersonIntervened) EventType() string { return "person:intervened" }

func (PersonIntervened) apply(o *Owner, s *Step) { o.Attempts, o.Acted = nil, nil }
