// Package event is the journal's record: one fact about one hook call.
package event

import (
	"encoding/json"
	"slices"
	"time"
)

// Version is the format of the records this program writes.
const Version = 1

// Kind says what a record tells of its call.
type Kind string

// A call is received before anything is judged and answered when the answer is
// known. Received alone means that nothing was enforced.
const (
	Received Kind = "received"
	Answered Kind = "answered"
	// Emitted is no hook call: an agent, or one of our own hooks for it, said
	// something to the daemon. Event names what, and Word holds it.
	Emitted Kind = "emitted"
)

// Record is one line of the journal. It carries names and numbers; never prompt
// text, tool input or command output, unless journal.payloads asks for the
// payload.
type Record struct {
	Version int       `json:"v"`
	ID      string    `json:"id"`   // ULID, unique
	Call    string    `json:"call"` // ULID, shared by the records of one hook call
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"`
	Host    string    `json:"host,omitempty"`
	Boot    string    `json:"boot,omitempty"` // tells pids of different boots apart
	PID     int       `json:"pid"`

	Event   string      `json:"event"`
	Enums   Enums       `json:"enums,omitzero"`
	Session string      `json:"session,omitempty"`
	Prompt  string      `json:"prompt_id,omitempty"`
	Agent   SubagentRef `json:"agent,omitzero"`
	Pane    string      `json:"tmux_pane,omitempty"`
	Project string      `json:"project,omitempty"`

	// PromptHash is a keyed hash of the normalised prompt: delivery can be
	// confirmed with it, the text cannot be had from it.
	PromptHash string `json:"prompt_hash,omitempty"`

	// Emitted only.
	Word *Word `json:"word,omitempty"`

	// Answered only.
	Decision   string    `json:"decision,omitempty"` // allow, block, reject
	Verdicts   []Verdict `json:"verdicts,omitempty"`
	Trees      []Tree    `json:"trees,omitempty"`   // that a stop was judged in
	Effects    []string  `json:"effects,omitempty"` // what was done besides: queues, wakes
	DurationMS int64     `json:"duration_ms,omitempty"`

	Payload json.RawMessage `json:"payload,omitempty"`
}

// Enums are the payload's fields with few values, which say what kind of
// event it was.
type Enums struct {
	Source           string `json:"source,omitempty"`
	Reason           string `json:"reason,omitempty"`
	Trigger          string `json:"trigger,omitempty"`
	NotificationType string `json:"notification_type,omitempty"`
	Error            string `json:"error,omitempty"`
	ToolName         string `json:"tool_name,omitempty"`
	StopHookActive   *bool  `json:"stop_hook_active,omitempty"`
	// Reset is when the API takes requests again, as its error says it (RFC 3339).
	Reset string `json:"reset,omitempty"`
}

// SubagentRef is the subagent that a call came from; empty for the main agent.
type SubagentRef struct {
	ID   string `json:"id,omitempty"`
	Type string `json:"type,omitempty"`
}

// The events of records that were emitted.
const (
	AgentSignal     = "agent:signal"
	AgentIdle       = "agent:idle"
	AgentPrompt     = "agent:prompt"
	AgentPromptOver = "agent:prompt_over" // what it asked was answered elsewhere, or nobody waits for an answer any more
	AgentStop       = "agent:stop"
	AgentError      = "agent:error"   // its turn ended in an error of the API, although its client called that a stop
	AgentSession    = "agent:session" // its client goes on in another session
)

// Subagent is the kind of a prompt that one of the agent's subagents has.
const Subagent = "subagent"

// Word is what was said of an agent that the daemon started.
type Word struct {
	Agent   string `json:"agent"`               // its id
	Kind    string `json:"kind,omitempty"`      // of a signal: complete, fail, escalate, continue; of an error: the client's word; of a prompt: Subagent, or nothing
	Message string `json:"message,omitempty"`   // of a signal, a prompt or an error, as it was put
	Type    string `json:"type,omitempty"`      // of a prompt
	Prompt  string `json:"prompt_id,omitempty"` // the client's
	// Ref is the session that Claude Code goes on in, or what the agent asks: the name that
	// package agentdir keeps it under.
	Ref string `json:"ref,omitempty"`
	// Data is what a signal hands to the steps after it: a JSON object.
	Data string `json:"data,omitempty"`
}

// Verdict is what one keeper made of the call.
type Verdict struct {
	Keeper     string `json:"keeper"`
	Outcome    string `json:"outcome"` // passed, failed, could_not_run
	Status     string `json:"status,omitempty"`
	Blocked    bool   `json:"blocked,omitempty"`
	Message    string `json:"message,omitempty"`  // for people; holds no output of commands
	StartMS    int64  `json:"start_ms,omitempty"` // when it began, in Unix time
	DurationMS int64  `json:"duration_ms"`
	Cost       Cost   `json:"cost,omitzero"`
	Reused     bool   `json:"reused,omitempty"` // nobody looked again: nothing had changed
}

// Adopted reports whether the record is the answer to a second call about the same stop, which is that of
// the first: what was judged then must not count twice.
func (r *Record) Adopted() bool {
	return slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Keeper == "chain" && v.Status == "adopted" })
}

// Durable reports whether losing the record to a power failure would hide a
// decision about an agent's work. In a call that belongs to no project and that
// no keeper looked at, nothing was decided. A signal is such a decision: the agent
// says it once, and then stops.
func (r *Record) Durable() bool {
	switch r.Event {
	case AgentSignal:
		return true
	case "Stop", "SubagentStop", "StopFailure":
		return r.Project != "" || len(r.Verdicts) > 0
	}
	return false
}
