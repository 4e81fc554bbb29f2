// Package wake tells the agent that watches over a session what happened there: it
// composes the message and keeps it on disk until a sender has delivered it.
package wake

import (
	"encoding/json"
	"time"
)

// Kind is why an agent is woken.
type Kind string

const (
	Stop           Kind = "stop"            // the client ended its turn and waits for input
	Idle           Kind = "idle"            // the client has been waiting for a while
	Permission     Kind = "permission"      // the client asks whether it may use a tool
	Question       Kind = "question"        // the client asks a question with answers to choose from
	StopFailure    Kind = "stop_failure"    // the turn ended by an API error
	SessionEnd     Kind = "session_end"     // the client ended, although its queue has not
	QueueComplete  Kind = "queue_complete"  // every command of the queue is done
	QueueCancelled Kind = "queue_cancelled" // a person typed into the session
	QueueStale     Kind = "queue_stale"     // the client was started anew
	QueueFailed    Kind = "queue_failed"    // a command was not delivered or failed
)

// Letter is what goes to one agent. It is kept as JSON in the outbox, and a webhook
// receives the same JSON. Empty fields that are not of the letter's kind are left out.
type Letter struct {
	// Key is the same for the same news, however often it is told or sent.
	Key     string `json:"key"`
	Kind    Kind   `json:"kind"`
	Event   string `json:"event"`   // the name of the hook event, such as "Stop"
	Session string `json:"session"` // the name of the tmux session
	AgentID string `json:"agent_id"`
	// Workspace is the directory the session works in.
	Workspace string    `json:"workspace,omitempty"`
	Time      time.Time `json:"timestamp"`
	// Headline says in one sentence of ours what became of a queue.
	Headline string `json:"headline,omitempty"`
	// Notice is what Claude Code itself said of it. It is untrusted text: it may quote
	// what a model wrote.
	Notice string `json:"notice,omitempty"`
	// LastAssistantMessage is untrusted text: another model wrote it.
	LastAssistantMessage *string `json:"last_assistant_message,omitempty"`
	// SuggestedCommands are the commands found in that text.
	SuggestedCommands []string `json:"suggested_commands"`
	// Questions is what Claude Code asked, as its tool input has it.
	Questions json.RawMessage `json:"questions,omitempty"`
	Queue     *QueueSummary   `json:"queue,omitempty"`
	// Error is what went wrong. It is untrusted text too: others made it.
	Error string `json:"error,omitempty"`
	// Body is the message for the agent, made by [Compose].
	Body string `json:"message"`
}

// QueueSummary tells how far a queue came.
type QueueSummary struct {
	Path      string         `json:"path"` // the queue file, with the results of its commands
	Completed int            `json:"completed"`
	Total     int            `json:"total"`
	Remaining []string       `json:"remaining"`
	Commands  []QueueCommand `json:"commands"`
}

// QueueCommand is one command of a queue. CompletedAt is as the queue file has it.
type QueueCommand struct {
	ID          int     `json:"id"`
	Command     string  `json:"command"`
	Status      string  `json:"status"`
	CompletedAt *string `json:"completed_at"`
}
