// Package engine is what the control plane does, as a pure machine: pipelines, agents
// that run alone, decisions. It has no clock, no randomness and no I/O; time, ids and
// the results of effects come in with the inputs.
//
// Something happens (an Input). Decide says what that means for one owner: the facts
// that are now true and the effects that are to be carried out. Together they are a
// Step, and a step is one append to the store. State is the fold of all steps: Apply.
//
//	Input ──Decide──▶ Step{Facts, Effects} ──append──▶ store ──Apply──▶ Owner
//	  ▲                        │
//	  └── started, done ───────┴──▶ package effect carries them out
package engine

import (
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Kind tells pipelines from agents that run alone.
type Kind string

// The kinds of owners.
const (
	Pipeline Kind = "pipeline"
	AgentRun Kind = "run"
)

// Status is how far the current step is.
type Status string

// The statuses. Waiting means: for a person; queued: for room in its group. An owner is at its end exactly when its
// step is one of a runbook's ends.
const (
	Running Status = "running"
	Queued  Status = "queued"
	Waiting Status = "waiting"
	Ended   Status = "ended"
)

// MaxVisits is how often one step may be entered before its pipeline fails, where the runbook
// says nothing else: a cycle of on_fail would go on for ever. A person who resumes starts the
// count again.
const MaxVisits = 5

// Job is a job of the fleet, on the machine that does it.
type Job struct {
	ID string `json:"id"`
	// Again means that others begin it again when this machine loses the fleet.
	Again bool `json:"again,omitempty"`
}

// Owner is a pipeline, or an agent that runs alone (then its plan has one step). It is
// the fold of its steps, and nothing else changes it.
type Owner struct {
	ID      string            `json:"id"`
	Kind    Kind              `json:"kind"`
	Name    string            `json:"name"`    // of the pipeline or the agent
	Command string            `json:"command"` // that started it
	Project string            `json:"project"` // root
	Cwd     string            `json:"cwd"`
	Vars    map[string]string `json:"vars,omitempty"`
	Passed  map[string]string `json:"passed,omitempty"` // environment variables of the person who started it
	By      string            `json:"by,omitempty"`     // what started it, if that was not a person
	Job     *Job              `json:"job,omitempty"`    // of a fleet, that it is an attempt of; never changed
	Plan    *runbook.Plan     `json:"plan"`             // shared by all owners with the same one; never changed
	Created time.Time         `json:"created"`
	Updated time.Time         `json:"updated"`
	Ended   time.Time         `json:"ended,omitzero"`

	Step       string            `json:"step"` // of the plan, or one of the ends
	Status     Status            `json:"status"`
	Error      string            `json:"error,omitempty"`    // why it failed
	Failed     string            `json:"failed,omitempty"`   // the step that failed last: there it is resumed
	Failures   []Failure         `json:"failures,omitempty"` // steps that failed and were not completed since
	Cancelling bool              `json:"cancelling,omitempty"`
	Cancelled  string            `json:"cancelled,omitempty"` // why it was cancelled
	Ending     string            `json:"ending,omitempty"`    // the end that follows finally
	Visits     map[string]int    `json:"visits,omitempty"`
	History    []Visit           `json:"history,omitempty"`
	Outputs    map[string]Output `json:"outputs,omitempty"` // what steps that have ended, or were skipped, left behind
	Offspring  *Offspring        `json:"group,omitempty"`   // the newest of its steps that ran pipelines
	Parent     *Parent           `json:"parent,omitempty"`  // what started it; never changed
	Told       ChildState        `json:"told,omitempty"`    // what the parent was told last

	Attempt int           `json:"attempt,omitempty"` // of the current step, where it is not the first
	Timeout time.Duration `json:"timeout,omitempty"` // of the current step
	Since   time.Duration `json:"since,omitempty"`   // Ran when the current step began

	Agent    *Agent               `json:"agent,omitempty"`    // of the current step; nil in a shell step and at the end
	Shell    *Shell               `json:"shell,omitempty"`    // the command that runs now: the step's, or a gate's
	Attempts map[string]int       `json:"attempts,omitempty"` // by trigger
	Acted    map[string]time.Time `json:"acted,omitempty"`    // when the trigger's action was last taken
	Decision *Decision            `json:"decision,omitempty"` // the open one
	Settled  []Decision           `json:"settled,omitempty"`  // the latest that were answered or overtaken

	Turn *Turn `json:"turn,omitempty"` // in a group with a limit of how many run at once; never changed

	Site       Site                 `json:"site,omitzero"`
	Workspaces map[string]Workspace `json:"workspaces,omitempty"` // by the agent whose own they are; the owner's under ""

	Spent    map[string]Spent `json:"spent,omitempty"`   // by agent; those of long ago together under ""
	Ran      time.Duration    `json:"ran,omitempty"`     // how long it was at work, as of Updated
	Extended runbook.Budget   `json:"extended,omitzero"` // what a person added to the budget

	Timers  map[string]time.Time `json:"timers,omitempty"`  // when each is due
	Effects []OpenEffect         `json:"effects,omitempty"` // not done yet, in the order in which they are to be done
	Serial  int                  `json:"serial"`            // counts effects, agents and decisions: their ids are made of it
	Seen    []uint64             `json:"seen,omitempty"`    // hashes of inputs that may be told again: the journal's, people's
	Deleted bool                 `json:"-"`                 // it is to be forgotten: State.Put removes it

	// Version is the position of the owner's last step. The store gives it; it is not
	// part of the fold's data.
	Version uint64 `json:"-"`
	// Born is the position of its first step, likewise.
	Born uint64 `json:"-"`
}

// Failure is a step that failed.
type Failure struct {
	Step  string `json:"step"`
	Error string `json:"error"`
}

// Output is what a step left behind for those after it.
type Output struct {
	Values map[string]string `json:"values,omitempty"`
	Tail   string            `json:"tail,omitempty"`   // the last lines that its command printed
	Signal string            `json:"signal,omitempty"` // the words of its agent's signal
	Error  string            `json:"error,omitempty"`
}

// Visit is one time that a step was entered, or run again.
type Visit struct {
	Step     string    `json:"step"`
	Attempt  int       `json:"attempt,omitempty"`  // where it is not the first
	AgentID  string    `json:"agent_id,omitempty"` // the newest, where it was started again
	Session  string    `json:"session,omitempty"`  // the client's when the agent was left
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	Outcome  string    `json:"outcome,omitempty"` // completed, failed, cancelled, skipped; empty while it goes on
	Error    string    `json:"error,omitempty"`
}

// What an agent asks a person, and what became of that, as the API has it.
type (
	Ask      = daemonapi.Ask
	Question = daemonapi.Question
	Choice   = daemonapi.Choice
	Reply    = daemonapi.Reply
)

// Spent is what an agent has cost.
type Spent struct {
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
}

// Shell is a command that runs for the owner. Key is that of the effect that started it.
type Shell struct {
	Key  string `json:"key"`
	Gate string `json:"gate,omitempty"` // the trigger that it is the gate of; empty for a step's own command
	Moot bool   `json:"moot,omitempty"` // the agent works again: only success counts

	Timeout time.Duration `json:"timeout,omitempty"`
	Since   time.Duration `json:"since,omitempty"` // Ran when it began
}

// Decision is a question to a person. Answering it moves its owner.
type Decision struct {
	ID       string    `json:"id"`
	Source   Source    `json:"source"`
	AgentID  string    `json:"agent_id,omitempty"`
	Step     string    `json:"step"`
	Context  string    `json:"context"`            // why it is asked, in a sentence or a few
	Reason   string    `json:"reason,omitempty"`   // the same in a few words, such as "escalated: on_stop"
	Trigger  string    `json:"trigger,omitempty"`  // what the agent did, where that led here
	Undone   string    `json:"undone,omitempty"`   // the message that may not have arrived: what retry sends
	Next     string    `json:"next,omitempty"`     // the step that is not entered before it is answered
	Ref      string    `json:"ref,omitempty"`      // what a hook of the agent waits for the answer to
	Subagent bool      `json:"subagent,omitempty"` // one of the agent's subagents asks
	Ask      *Ask      `json:"ask,omitempty"`      // what is asked, while the decision is open; never changed
	Options  []Option  `json:"options"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero"` // then it is answered as the runbook says
	Resolved time.Time `json:"resolved,omitzero"`
	Chosen   string    `json:"chosen,omitempty"`  // an option's name
	Message  string    `json:"message,omitempty"` // the person's words
	Answers  []string  `json:"answers,omitempty"` // one for each question that was asked
	Expired  bool      `json:"expired,omitempty"` // nobody answered in time
	Closed   string    `json:"closed,omitempty"`  // why it was closed without an answer
}

// Source says what led to a decision.
type Source string

// The sources.
const (
	FromIdle     Source = "idle"
	FromStop     Source = "stop"
	FromSignal   Source = "signal"
	FromDead     Source = "dead"
	FromError    Source = "error"
	FromGate     Source = "gate"
	FromPrompt   Source = "prompt"
	FromLost     Source = "lost"     // an effect of which nobody knows whether it took place
	FromQuestion Source = "question" // the agent's own, for which a hook waits
	FromPlan     Source = "plan"     // likewise
	FromApproval Source = "approval" // likewise: of the use of a tool
	FromStart    Source = "start"    // the client did not start
	FromBudget   Source = "budget"   // it is used up
	FromStep     Source = "step"     // a step that a person decides
)

// Option is one answer.
type Option struct {
	Name        string `json:"name"` // nudge, retry, done, skip, cancel, …; a choice's label
	Description string `json:"description"`
	Recommended bool   `json:"recommended,omitempty"`
}

// Terminal reports whether the owner has come to its end.
func (o *Owner) Terminal() bool { return o.Status == Ended }
