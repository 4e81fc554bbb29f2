// Package runbook is the files in which a project says what is to be run: commands,
// pipelines of steps, and agents. It reads TOML and HCL, one schema, and finds every
// mistake before anything runs.
package runbook

import "time"

// Runbook is one file, checked and complete: every reference in it resolves, and the
// files that prompts are read from have been read.
type Runbook struct {
	Path      string // as it was found, for messages
	Name      string // its path below the runbooks directory, with slashes
	MaxAgents int    // how many agents of it run at once in a project; 0 is no limit
	Commands  map[string]Command
	Pipelines map[string]Pipeline
	Agents    map[string]Agent
	Queues    map[string]Queue
	Workers   map[string]Worker
	Imports   []Import
	Locals    map[string]string // the file's, and those of what it imports
	Oddjobs   bool              // it was written for oddjobs, and lies in .oj/runbooks
	Warnings  Faults            // what is valid and was hardly meant
}

// Command is what a person starts by name.
type Command struct {
	Name        string
	Description string
	Args        ArgSpec
	Defaults    map[string]string
	Run         Run
	Schedule    Schedule
	Job         Job // a job of the fleet is added, and not started here
}

// Run is what a command or a step runs: exactly one of the fields is set.
type Run struct {
	Shell    string `json:"shell,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Pipeline string `json:"pipeline,omitempty"`
}

// Pipeline is steps and what leads from one to the next.
type Pipeline struct {
	Name     string            `json:"name"`
	Vars     []string          `json:"vars,omitempty"`
	Defaults map[string]string `json:"defaults,omitempty"`
	Locals   map[string]string `json:"locals,omitempty"` // templates of what is known at the start
	Cwd      string            `json:"cwd,omitempty"`
	Steps    []Step            `json:"steps"` // the first is where it begins
	OnDone   string            `json:"on_done,omitempty"`
	OnFail   string            `json:"on_fail,omitempty"`
	OnCancel string            `json:"on_cancel,omitempty"`
	Finally  string            `json:"finally,omitempty"` // the step before every end
	Outputs  map[string]string `json:"outputs,omitempty"` // what it leaves behind for a pipeline that runs it as a step
	Notify   Notify            `json:"notify,omitzero"`
	Budget   Budget            `json:"budget,omitzero"`
	Expire   Expire            `json:"expire,omitzero"`

	MaxVisits int         `json:"max_visits,omitempty"` // how often one step may be entered; 0 is the default
	Env       Environment `json:"environment,omitzero"` // of all steps
	Workspace Workspace   `json:"workspace,omitzero"`   // made before the first step, which runs in it like the others

	Concurrency Concurrency `json:"concurrency,omitzero"`
	Schedule    Schedule    `json:"-"` // of starts, none of its own affair
}

// Environment is what a step adds to the environment of its command.
type Environment struct {
	Set  map[string]string `json:"set,omitempty"`
	File string            `json:"file,omitempty"` // has lines of NAME=VALUE, read when the step starts
	Pass []string          `json:"pass,omitempty"` // variables of the person's shell, taken at the start
}

// Budget is what something may cost before a person is asked. What is 0 has no limit.
type Budget struct {
	USD  float64       `json:"usd,omitempty"`
	Time time.Duration `json:"time,omitempty"` // of running; waiting for a person does not count
}

// Expire is what becomes of a decision that nobody answers. Without a time it stays open.
type Expire struct {
	After  time.Duration `json:"after,omitempty"`
	Answer Default       `json:"answer,omitempty"`
}

// Default is the answer to a decision that nobody gave.
type Default string

// The default answers.
const (
	DefaultGoOn   Default = "go_on"  // what lets the agent go on
	DefaultDone   Default = "done"   // the step is completed
	DefaultCancel Default = "cancel" // the pipeline or the run is cancelled
)

// Step runs a shell command, an agent, another pipeline or several steps at once, or asks a person. Its
// transitions name steps.
type Step struct {
	Name     string        `json:"name"`
	Run      Run           `json:"run"`
	Approval *Approval     `json:"approval,omitempty"` // in place of run; never changed
	If       string        `json:"if,omitempty"`       // a condition: where it does not hold, the step is skipped
	Timeout  time.Duration `json:"timeout,omitempty"`
	Retry    Retry         `json:"retry,omitzero"`
	Env      Environment   `json:"environment,omitzero"`
	Cwd      string        `json:"cwd,omitempty"` // as seen from the workspace or the pipeline's cwd
	OnDone   string        `json:"on_done,omitempty"`
	OnFail   string        `json:"on_fail,omitempty"`
	OnCancel string        `json:"on_cancel,omitempty"`

	Parallel bool              `json:"parallel,omitempty"`  // it runs the steps that are of it, at once
	Of       string            `json:"of,omitempty"`        // the parallel step that this one is a branch of
	Needs    []string          `json:"needs,omitempty"`     // of a branch: the branches that come before it
	ForEach  ForEach           `json:"for_each,omitzero"`   // it runs once for each item
	Limit    int               `json:"limit,omitempty"`     // how many branches or items run at once; 0 for all
	FailFast bool              `json:"fail_fast,omitempty"` // the first failure cancels the other branches or items
	Vars     map[string]string `json:"vars,omitempty"`      // what the pipeline that it runs is given
}

// ForEach is what a step runs for: a list of texts, or a text that is one when its templates have
// their values.
type ForEach struct {
	List []string `json:"list,omitempty"`
	Text string   `json:"text,omitempty"`
}

// IsZero reports whether there is nothing to run for.
func (f ForEach) IsZero() bool { return f.List == nil && f.Text == "" }

// HasChildren reports whether a step runs pipelines of their own: branches, items, or another pipeline.
func (s Step) HasChildren() bool { return s.Parallel || !s.ForEach.IsZero() || s.Run.Pipeline != "" }

// Retry is how often a step that fails is run, and how long it waits before the next time: that
// long before the second, twice as long before each one after it.
type Retry struct {
	Attempts int           `json:"attempts,omitempty"` // in all
	Backoff  time.Duration `json:"backoff,omitempty"`
}

// Pause is the time between an attempt and the next.
func (r Retry) Pause(attempt int) time.Duration {
	const longest = time.Hour
	pause := r.Backoff
	for range attempt - 1 {
		if pause *= 2; pause >= longest {
			break
		}
	}
	return min(pause, max(longest, r.Backoff))
}

// DefaultTimeout is how long a shell command may run where its step says nothing.
const DefaultTimeout = time.Hour

// The ends of pipelines: no step is called so.
const (
	EndDone      = "done"
	EndFailed    = "failed"
	EndCancelled = "cancelled"
)

// IsEnd reports whether a name is that of an end.
func IsEnd(name string) bool {
	return name == EndDone || name == EndFailed || name == EndCancelled
}

// Notify holds templates of what people are told.
type Notify struct {
	OnStart  string `json:"on_start,omitempty"`
	OnDone   string `json:"on_done,omitempty"`
	OnFail   string `json:"on_fail,omitempty"`
	OnCancel string `json:"on_cancel,omitempty"`
}

// Agent is how an agent is started, and what happens to it.
type Agent struct {
	Name           string            `json:"name"`
	Run            string            `json:"run"`
	ClaudeCode     bool              `json:"client,omitempty"` // run starts Claude Code: it gets a terminal, and what is said to it is typed
	Prompt         string            `json:"prompt,omitempty"` // the text, also where the runbook names a file
	Env            map[string]string `json:"env,omitempty"`
	Cwd            string            `json:"cwd,omitempty"`
	Resume         bool              `json:"resume,omitempty"` // visited again, it goes on in its conversation
	OnIdle         Action            `json:"on_idle"`
	OnDead         Action            `json:"on_dead"`
	OnPrompt       Action            `json:"on_prompt"`
	OnError        []ErrorAction     `json:"on_error"`          // the first that matches; none means escalate
	OnStop         StopAction        `json:"on_stop,omitempty"` // "" where the runbook says nothing
	MaxConcurrency int               `json:"max_concurrency,omitempty"`
	Notify         Notify            `json:"notify,omitzero"`
	Budget         Budget            `json:"budget,omitzero"` // where it runs alone; else the pipeline's counts
	Expire         Expire            `json:"expire,omitzero"` // likewise

	Workspace Workspace `json:"workspace,omitzero"` // its own, made before its step
}

// ActionKind is what can be done when something happens to an agent.
type ActionKind string

// The actions.
const (
	Nudge    ActionKind = "nudge"    // type the message
	Done     ActionKind = "done"     // the step is completed
	Fail     ActionKind = "fail"     // the step has failed
	Resume   ActionKind = "resume"   // start the agent again
	Escalate ActionKind = "escalate" // ask a person
	Gate     ActionKind = "gate"     // run a command: exit 0 is done, else again or escalate
)

// Action is an action with its options.
type Action struct {
	Kind     ActionKind    `json:"action"`
	Message  string        `json:"message,omitempty"`  // of nudge and resume
	Append   bool          `json:"append,omitempty"`   // resume: go on in the old conversation
	Run      string        `json:"run,omitempty"`      // of gate
	Attempts int           `json:"attempts,omitempty"` // how often it is done before a person is asked; Forever: always
	Cooldown time.Duration `json:"cooldown,omitempty"` // at least so long between two attempts
}

// Forever is the number of attempts that never runs out.
const Forever = -1

// ErrorAction is what is done about an error of the model's API.
type ErrorAction struct {
	Match  ErrorKind `json:"match,omitempty"` // "" matches every kind
	Action Action    `json:"action"`
}

// ErrorKind is a kind of error of the model's API.
type ErrorKind string

// The kinds of errors.
const (
	Unauthorized ErrorKind = "unauthorized"
	OutOfCredits ErrorKind = "out_of_credits"
	NoInternet   ErrorKind = "no_internet"
	RateLimited  ErrorKind = "rate_limited"
	OtherError   ErrorKind = "other"
)

// StopAction is what is done when the agent wants to stop and has not signalled.
type StopAction string

// The stop actions.
const (
	StopSignal   StopAction = "signal"   // it may not, until it signals
	StopIdle     StopAction = "idle"     // as if it were idle: on_idle
	StopEscalate StopAction = "escalate" // it may not, and a person is asked
)

// StopAction is the agent's on_stop, or what holds where the runbook says nothing: in a
// pipeline the agent has to signal, alone a person is asked.
func (a Agent) StopAction(standalone bool) StopAction {
	switch {
	case a.OnStop != "":
		return a.OnStop
	case standalone:
		return StopEscalate
	}
	return StopSignal
}

// Plan is what an owner of the engine needs of a runbook, pinned when it is created: a
// pipeline (for an agent that runs alone, of one step) and its agents.
type Plan struct {
	Pipeline  Pipeline         `json:"pipeline"`
	Agents    map[string]Agent `json:"agents,omitempty"`
	Runbook   string           `json:"runbook,omitempty"`    // its Name
	MaxAgents int              `json:"max_agents,omitempty"` // of the runbook

	Pipelines map[string]Pipeline `json:"pipelines,omitempty"` // those that steps run
}
