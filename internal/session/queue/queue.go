// Package queue holds the commands that are still to be typed into one tmux session,
// and what became of those that were. Only Claude Code's hooks move a queue on.
package queue

import (
	"slices"
	"strings"
	"time"
)

// Queue is the commands of one session, in the order in which they are typed. The
// field names are those of the specification; what is ours is in Stopgate.
type Queue struct {
	Status   QueueStatus `json:"status,omitempty"`
	Commands []Command   `json:"commands"`
	Stopgate *Meta       `json:"stopgate,omitempty"`
}

// QueueStatus is the status of a queue as a whole.
type QueueStatus string

// Cancelled is a queue that a person put an end to. No other has a status.
const Cancelled QueueStatus = "cancelled"

// Command is one command and how far it got.
type Command struct {
	ID          int       `json:"id"` // from 1
	Command     string    `json:"command"`
	Status      Status    `json:"status"`
	Trigger     Hook      `json:"trigger"` // the hook that makes it the active one
	Awaits      Hook      `json:"awaits"`  // the hook that says that it is done
	Result      *string   `json:"result"`  // the client's last message
	CompletedAt *Time     `json:"completed_at"`
	Stopgate    *Delivery `json:"stopgate,omitempty"`
}

// Status is how far a command got.
type Status string

// A command is pending, then active, then done or failed. At most one is active.
const (
	Pending Status = "pending"
	Active  Status = "active"
	Done    Status = "done"
	Failed  Status = "failed"
)

// Hook is a hook event that a command waits for; sub is the source of a
// SessionStart, and null where any will do.
type Hook struct {
	Hook string  `json:"hook"`
	Sub  *string `json:"sub"`
}

// Is reports whether an event is the one that is waited for.
func (h Hook) Is(hook, sub string) bool {
	return h.Hook == hook && (h.Sub == nil || *h.Sub == sub)
}

// Meta is what we keep of a queue besides the specification's fields.
type Meta struct {
	ID        string `json:"id"` // no two queues have the same
	Session   string `json:"session"`
	CreatedAt Time   `json:"created_at,omitzero"`
	Place     *Place `json:"place,omitempty"` // unknown in a queue that was written by hand
	// Key is the message that the queue delivers, where it is there to deliver one.
	Key string `json:"key,omitempty"`
	// ClientSession is Claude Code's session that the newest SessionStart was of: two
	// hooks may tell of one.
	ClaudeSession string `json:"client_session,omitempty"`
	// OtherPrompt is the newest prompt of Claude Code that is none of the commands.
	OtherPrompt string `json:"other_prompt,omitempty"`
	// EndedAt is when Claude Code ended in the middle of the queue.
	EndedAt *Time `json:"ended_at,omitempty"`
	// Ending is written before anybody is told and the file gets its last name, so that
	// whoever comes after a crash can finish that.
	Ending *Ending `json:"ending,omitempty"`
}

// Place is where a queue's commands are typed.
type Place struct {
	Socket string `json:"socket"` // of the tmux server
	PID    int    `json:"pid"`    // of the tmux server
	Pane   string `json:"pane"`
}

// Delivery is how far the typing of a command got. Each step is written down before
// it is done: after a crash nothing is done twice.
type Delivery struct {
	State       DeliveryState `json:"state"`
	Tries       int           `json:"tries,omitempty"`  // how often the pane was not ready
	Enters      int           `json:"enters,omitempty"` // how often Enter was pressed
	TypedAt     *Time         `json:"typed_at,omitempty"`
	EnteredAt   *Time         `json:"entered_at,omitempty"`
	ConfirmedAt *Time         `json:"confirmed_at,omitempty"`
	PromptID    string        `json:"prompt_id,omitempty"`    // of the prompt that the client made of it
	Ahead       string        `json:"ahead,omitempty"`        // of the prompt that the client worked on when it came
	LaterPrompt string        `json:"later_prompt,omitempty"` // of a prompt that the client made itself after it
	Why         string        `json:"why,omitempty"`          // why it waits or failed
}

// DeliveryState is the step that the typing of a command is at.
type DeliveryState string

// The steps, in their order.
const (
	Waiting   DeliveryState = "waiting"   // nothing was typed
	Typing    DeliveryState = "typing"    // the text may be in the input box, whole or in part
	Entered   DeliveryState = "entered"   // Enter may have been pressed
	Confirmed DeliveryState = "confirmed" // a hook of the client says that it came
)

// Ending is how a queue came to its end.
type Ending struct {
	Kind EndKind `json:"kind"`
	Why  string  `json:"why,omitempty"`
	// Detail is in somebody else's words, such as those of the model's API.
	Detail string `json:"detail,omitempty"`
}

// EndKind is one word for how a queue came to its end.
type EndKind string

// The ends of a queue.
const (
	Complete EndKind = "complete"  // every command is done
	Cancel   EndKind = "cancelled" // a person had other plans
	Stale    EndKind = "stale"     // the client was started anew
	Broken   EndKind = "failed"    // a command failed
)

// New makes a queue whose first command is active and waits to be typed.
func New(session, id string, commands []string, now time.Time) Queue {
	q := Queue{Stopgate: &Meta{ID: id, Session: session, CreatedAt: Time{now}}}
	q.add(commands)
	if len(q.Commands) > 0 {
		q.Commands[0].activate()
	}
	return q
}

// add appends commands. Each is triggered by what the one before it awaits.
func (q *Queue) add(commands []string) {
	trigger, id := Hook{Hook: "Stop"}, 0
	for _, c := range q.Commands {
		trigger, id = c.Awaits, max(id, c.ID)
	}
	for _, text := range commands {
		id++
		q.Commands = append(q.Commands, Command{ID: id, Command: text, Status: Pending, Trigger: trigger, Awaits: Awaits(text)})
		trigger = Awaits(text)
	}
}

// Again makes a queue of what another one left undone, with the results that there
// are.
func Again(old Queue, id string, now time.Time) Queue {
	q := old.clone()
	meta := q.meta()
	q.Status = ""
	q.Stopgate = &Meta{ID: id, Session: meta.Session, CreatedAt: Time{now}, Place: meta.Place}
	for i := range q.Commands {
		if c := &q.Commands[i]; c.Status != Done {
			c.Status, c.Stopgate = Pending, nil
		}
	}
	if next := q.next(); next != nil {
		next.activate()
	}
	return q
}

// Adopt gives a queue whose client ended with its terminal to another one.
func Adopt(old Queue, place Place, now time.Time) Queue {
	q := old.clone()
	meta := q.meta()
	meta.Place = &place
	if meta.EndedAt == nil {
		meta.EndedAt = &Time{now}
	}
	return q
}

// Awaits is the hook that says that a command is done. Claude Code answers /clear and
// /compact with a new start of the session, and everything else with a stop.
func Awaits(command string) Hook {
	for _, source := range []string{"clear", "compact"} {
		if words := strings.Fields(command); len(words) > 0 && words[0] == "/"+source {
			return Hook{Hook: "SessionStart", Sub: &source}
		}
	}
	return Hook{Hook: "Stop"}
}

// ID tells queues apart. One that was written by hand has none until something
// changes it.
func (q *Queue) ID() string {
	if q.Stopgate == nil {
		return ""
	}
	return q.Stopgate.ID
}

// Active is the command that is being worked on, if one is.
func (q *Queue) Active() *Command { return q.first(Active) }

// Completed is how many commands are done.
func (q *Queue) Completed() int {
	n := 0
	for _, c := range q.Commands {
		if c.Status == Done {
			n++
		}
	}
	return n
}

// Remaining are the commands that are not done.
func (q *Queue) Remaining() []string {
	var left []string
	for _, c := range q.Commands {
		if c.Status != Done {
			left = append(left, c.Command)
		}
	}
	return left
}

// At reports whether the queue is for Claude Code in that place. One that was written
// by hand does not say.
func (q *Queue) At(p Place) bool {
	return q.Stopgate == nil || q.Stopgate.Place == nil || *q.Stopgate.Place == p
}

// next is the first command that nobody has begun with.
func (q *Queue) next() *Command { return q.first(Pending) }

func (q *Queue) first(status Status) *Command {
	for i := range q.Commands {
		if q.Commands[i].Status == status {
			return &q.Commands[i]
		}
	}
	return nil
}

func (q *Queue) meta() *Meta {
	if q.Stopgate == nil {
		q.Stopgate = &Meta{}
	}
	return q.Stopgate
}

// clone lets a queue be changed while the old one stays as it is.
func (q *Queue) clone() Queue {
	c := *q
	c.Commands = slices.Clone(q.Commands)
	for i := range c.Commands {
		if d := c.Commands[i].Stopgate; d != nil {
			copied := *d
			c.Commands[i].Stopgate = &copied
		}
	}
	if q.Stopgate != nil {
		copied := *q.Stopgate
		c.Stopgate = &copied
	}
	return c
}

func (c *Command) activate() {
	c.Status = Active
	c.Stopgate = &Delivery{State: Waiting}
}

// delivery is how far the typing got. Of an active command that was written by hand
// nothing is known but that somebody typed it.
func (c *Command) delivery() Delivery {
	if c.Stopgate == nil {
		return Delivery{State: Confirmed}
	}
	return *c.Stopgate
}

// State is the step that the typing of the command is at.
func (c *Command) State() DeliveryState { return c.delivery().State }

// typed reports whether Claude Code may have the command.
func (c *Command) typed() bool { return c.State() != Waiting }

// Confirmed reports whether Claude Code has told that it got the command.
func (c *Command) Confirmed() bool { return c.State() == Confirmed }
