// Package client is the daemon's API as others see it: what goes over the socket, and
// asking for it. It is linked into the program that answers hooks, so it speaks HTTP
// in a few lines of its own rather than with net/http.
package client

import "time"

// Version is GET /v1/version.
type Version struct {
	Version string    `json:"version"` // of stopgated
	API     int       `json:"api"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

// Command is one of GET /v1/commands?project=ROOT.
type Command struct {
	Name        string `json:"name"`
	Usage       string `json:"usage"` // the arguments
	Description string `json:"description,omitempty"`
	Runs        string `json:"runs"`    // shell, pipeline NAME, agent NAME
	Runbook     string `json:"runbook"` // path
}

// Start is the body of POST /v1/start: run a runbook's command. ID is made by whoever
// asks, so that asking again starts nothing twice.
type Start struct {
	ID      string   `json:"id"` // 16 hex digits
	Project string   `json:"project"`
	Cwd     string   `json:"cwd"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Runbook string   `json:"runbook,omitempty"` // where several define the command
}

// Owner is a pipeline or an agent that runs alone: one of GET /v1/pipelines and GET
// /v1/runs, there without its steps and variables.
type Owner struct {
	ID       string            `json:"id"`
	Kind     string            `json:"kind"` // pipeline, run
	Name     string            `json:"name"`
	Command  string            `json:"command"`
	Project  string            `json:"project"`
	Cwd      string            `json:"cwd"`
	Vars     map[string]string `json:"vars,omitempty"`
	Step     string            `json:"step"`   // or done, failed, cancelled
	Status   string            `json:"status"` // running, waiting, done, failed, cancelled
	Error    string            `json:"error,omitempty"`
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated"`
	Steps    []Visit           `json:"steps,omitempty"`
	Agent    *Agent            `json:"agent,omitempty"`
	Decision *Decision         `json:"decision,omitempty"`
	// Notice is what the one who starts it should know, in the answer to that.
	Notice string `json:"notice,omitempty"`
}

// Visit is one time that a step was entered.
type Visit struct {
	Step     string     `json:"step"`
	Agent    string     `json:"agent,omitempty"`
	Started  time.Time  `json:"started"`
	Finished *time.Time `json:"finished,omitempty"`
	Outcome  string     `json:"outcome"` // running, waiting, completed, failed, cancelled
	Error    string     `json:"error,omitempty"`
}

// Agent is one of GET /v1/agents.
type Agent struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Owner   string    `json:"owner"`
	Step    string    `json:"step"`
	Session string    `json:"session"`
	OnStop  string    `json:"on_stop"`
	Status  string    `json:"status"` // running, waiting, exited
	Signal  string    `json:"signal,omitempty"`
	Started time.Time `json:"started"`
}

// Signal is GET /v1/agents/{id}/signal?journal=POSITION.
type Signal struct {
	Signaled bool   `json:"signaled"`
	Kind     string `json:"kind,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Decision is one of GET /v1/decisions.
type Decision struct {
	ID       string     `json:"id"`
	Owner    string     `json:"owner"`
	Name     string     `json:"name"` // of the owner
	Project  string     `json:"project"`
	Source   string     `json:"source"`
	Step     string     `json:"step"`
	Agent    string     `json:"agent,omitempty"`
	Context  string     `json:"context"`
	Options  []Option   `json:"options"`
	Created  time.Time  `json:"created"`
	Resolved *time.Time `json:"resolved,omitempty"`
	Chosen   string     `json:"chosen,omitempty"`
	Message  string     `json:"message,omitempty"`
	Closed   string     `json:"closed,omitempty"`
}

// Option is one answer to a decision.
type Option struct {
	Number      int    `json:"number"` // from 1
	Name        string `json:"name"`
	Description string `json:"description"`
	Recommended bool   `json:"recommended,omitempty"`
}

// Answer is the body of POST /v1/decisions/{id}/answer: an option's name or number, or
// words, or both.
type Answer struct {
	ID      string `json:"id"` // of the request: the same answer, sent again, is one
	Option  string `json:"option,omitempty"`
	Message string `json:"message,omitempty"`
}

// Cancel is the body of POST /v1/pipelines/{id}/cancel.
type Cancel struct {
	ID string `json:"id"` // of the request
}

// Resume is the body of POST /v1/pipelines/{id}/resume.
type Resume struct {
	ID      string            `json:"id"` // of the request
	Message string            `json:"message,omitempty"`
	Vars    map[string]string `json:"vars,omitempty"`
}

// Status is GET /v1/status.
type Status struct {
	Version
	Store     string `json:"store"`    // where it is
	Events    uint64 `json:"position"` // of the last event
	Pipelines Counts `json:"pipelines"`
	Runs      Counts `json:"runs"`
	Agents    int    `json:"agents"` // alive
	Decisions int    `json:"decisions"`
	// Trouble is what keeps the daemon from its work, such as a full disk, in words.
	Trouble []string `json:"trouble,omitempty"`
}

// Counts are how many owners are how far.
type Counts struct {
	Running   int `json:"running"`
	Waiting   int `json:"waiting"`
	Done      int `json:"done"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
}

// Event is one of GET /v1/events, a stream of server-sent events: its id is the
// position.
type Event struct {
	Position uint64    `json:"position"`
	Owner    string    `json:"owner"`
	Cause    string    `json:"cause"`
	Time     time.Time `json:"time"`
	Facts    []string  `json:"facts"` // their names
	// Now is the owner after the event.
	Now *Owner `json:"now,omitempty"`
}

// Backup is the body of POST /v1/backup, and the answer.
type Backup struct {
	Path string `json:"path"` // absolute
}

// Stop is the body of POST /v1/stop.
type Stop struct {
	Kill bool `json:"kill,omitempty"` // what the daemon started as well
}

// Failure is the body of every answer that is not 2xx.
type Failure struct {
	Code  string `json:"code"` // not_found, conflict, invalid, untrusted, forbidden, too_large, unavailable, internal
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}
