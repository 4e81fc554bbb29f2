package queue

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Transition is what an event makes of a queue, and what is to be done about it.
type Transition struct {
	Queue   Queue
	Action  Action
	Changed bool
	// Drive means that somebody has to see to it that the active command is typed and
	// arrives.
	Drive bool
}

// Ended is how the queue ended, if it has.
func (o *Transition) Ended() (Ending, bool) {
	if o.Queue.Stopgate == nil || o.Queue.Stopgate.Ending == nil {
		return Ending{}, false
	}
	return *o.Queue.Stopgate.Ending, true
}

// Action is one word for what an event did, for the journal.
type Action string

// The actions.
const (
	Ignored   Action = "ignored"   // the event has nothing to do with the queue
	Mismatch  Action = "mismatch"  // the active command waits for another hook
	Delivered Action = "confirmed" // the active command has arrived
	Advanced  Action = "advanced"  // the next command is active
	Redriven  Action = "redriven"  // the active command is still to be typed
	Moved     Action = "typing"    // the typing of the active command got a step further
	Grown     Action = "added"     // the queue has more commands
	Finished  Action = "ended"     // the queue is at its end
)

// Apply is all that a queue does: what it becomes by an event. It looks at no clock
// and no file.
func Apply(q Queue, e Event, now time.Time) Transition {
	q = q.clone()
	if q.Stopgate != nil && q.Stopgate.Ending != nil {
		return Transition{Queue: q, Action: Finished} // somebody died before the file got its last name
	}
	if q.Status == Cancelled {
		return q.cancel("a change of its file")
	}
	if q.Active() == nil && q.next() == nil {
		return q.end(Complete, "")
	}
	return e.apply(&q, Time{now})
}

// Event is something that happens to a queue.
type Event interface {
	apply(q *Queue, now Time) Transition
}

// Stop is the end of Claude Code's turn, which nobody objected to.
type Stop struct{ PromptID, Message string }

func (e Stop) apply(q *Queue, now Time) Transition {
	active := q.Active()
	switch {
	case active == nil:
		return q.release("Stop", "")
	case !active.Confirmed():
		return q.redrive(e.PromptID) // the turn of somebody else: now Claude Code is free
	case !active.Awaits.Is("Stop", "") || !q.isActive(e.PromptID):
		return q.stay(Mismatch)
	}
	if e.Message == "" {
		return q.advance(nil, now)
	}
	return q.advance(&e.Message, now)
}

// Halted is a stop after which nothing may go on before a person has decided. The queue ends
// there, so that its owner is told; the rest can be taken up again.
type Halted struct {
	Stop
	Why string
}

func (e Halted) apply(q *Queue, now Time) Transition {
	active := q.Active()
	if active != nil && active.Confirmed() && active.Awaits.Is("Stop", "") && q.isActive(e.PromptID) {
		active.Status, active.CompletedAt = Done, &now
		if e.Message != "" {
			active.Result = &e.Message
		}
	}
	return q.end(Broken, e.Why)
}

// StopFailure is a turn that the model's API put an end to.
type StopFailure struct{ PromptID, Error string }

func (e StopFailure) apply(q *Queue, now Time) Transition {
	active := q.Active()
	switch {
	case active == nil:
		return q.stay(Ignored)
	case !active.Confirmed():
		return q.redrive(e.PromptID)
	case !q.isActive(e.PromptID):
		return q.stay(Mismatch)
	}
	return q.fail("the model's API failed", e.Error)
}

// SessionStart is a client's session that begins or goes on.
type SessionStart struct{ Source, ClaudeSession string }

func (e SessionStart) apply(q *Queue, now Time) Transition {
	if e.Source == "startup" {
		return q.end(Stale, "")
	}
	meta := q.meta()
	if e.Source == "clear" && e.ClaudeSession != "" && e.ClaudeSession == meta.ClaudeSession {
		return q.stay(Ignored) // it was told before
	}
	cutOff := meta.EndedAt != nil
	meta.ClaudeSession, meta.EndedAt = e.ClaudeSession, nil
	return e.move(q, cutOff, now).changed()
}

func (e SessionStart) move(q *Queue, cutOff bool, now Time) Transition {
	active := q.Active()
	switch {
	case active == nil:
		return q.release("SessionStart", e.Source)
	case active.typed() && active.Awaits.Is("SessionStart", e.Source):
		return q.advance(nil, now)
	case !active.Confirmed():
		return q.redrive("")
	case cutOff:
		return q.fail("Claude Code ended while working on it", "")
	}
	return q.stay(Mismatch)
}

// SessionEnd is a client that ends.
type SessionEnd struct{ Reason string }

func (e SessionEnd) apply(q *Queue, now Time) Transition {
	if e.Reason == "clear" || e.Reason == "resume" {
		return q.stay(Ignored) // it goes on with another session
	}
	q.meta().EndedAt = &now
	return q.stay(Ignored).changed()
}

// Prompt is a prompt that reaches Claude Code.
type Prompt struct{ PromptID, Text string }

// notification begins the prompts that Claude Code sends itself when work in the
// background has ended.
const notification = "<task-notification>"

func (e Prompt) apply(q *Queue, now Time) Transition {
	if q.knows(e) {
		return q.stay(Ignored) // it was told before
	}
	if strings.HasPrefix(strings.TrimSpace(e.Text), notification) {
		return q.overhear(e.PromptID)
	}
	if active := q.Active(); active != nil && active.Matches(e.Text) {
		return q.confirm(e.PromptID, now)
	}
	return q.cancel("manual input")
}

// PreCompact is a compaction that somebody asked for.
type PreCompact struct{ PromptID string }

func (e PreCompact) apply(q *Queue, now Time) Transition {
	active := q.Active()
	if active == nil || active.Confirmed() || !active.typed() || !active.Awaits.Is("SessionStart", "compact") {
		return q.stay(Ignored)
	}
	return q.confirm(e.PromptID, now)
}

// Idle is Claude Code's word that it has been waiting for input for a while.
type Idle struct{ PromptID string }

func (e Idle) apply(q *Queue, now Time) Transition {
	active := q.Active()
	switch {
	case active == nil:
		return q.stay(Ignored)
	case !active.Confirmed():
		return q.redrive("")
	case active.Stopgate != nil && !active.Awaits.Is("Stop", ""):
		return q.fail("Claude Code did nothing about it", "") // such as with too little to compact
	case !active.leftBehind(e.PromptID):
		return q.stay(Mismatch)
	}
	return q.fail("Claude Code waits for input, but did not report a stop: it was interrupted", "")
}

// Withdrawn is a person's wish, outside the session, that the queue ends.
type Withdrawn struct{ Why string }

func (e Withdrawn) apply(q *Queue, _ Time) Transition { return q.cancel(e.Why) }

// Added is more commands for a queue that is under way. A queue that delivers a message takes
// none: its end is how the sender learns that the message has arrived.
type Added struct{ Commands []string }

func (e Added) apply(q *Queue, _ Time) Transition {
	if q.Stopgate != nil && q.Stopgate.Key != "" {
		return q.stay(Ignored)
	}
	q.add(e.Commands)
	return q.stay(Grown).changed()
}

// isActive reports whether a prompt's id is that of the active command. Clients before
// prompt ids give none.
func (q *Queue) isActive(prompt string) bool {
	d := q.Active().delivery()
	if d.Ahead != "" {
		return prompt != d.Ahead && !q.isOther(prompt) // which it has instead, nobody told
	}
	return d.PromptID == "" || prompt == "" || d.PromptID == prompt
}

// leftBehind reports whether a client that is idle after that prompt has done with the
// command.
func (c *Command) leftBehind(prompt string) bool {
	d := c.delivery()
	return prompt != "" && (d.Ahead != "" || prompt == d.PromptID || prompt == d.LaterPrompt)
}

// knows reports whether a prompt is that of one of the commands. The id alone does not
// tell: what a person types while Claude Code works has, in some versions, that of the
// prompt that it works on.
func (q *Queue) knows(e Prompt) bool {
	return e.PromptID != "" && slices.ContainsFunc(q.Commands, func(c Command) bool {
		d := c.delivery()
		return (d.PromptID == e.PromptID || d.Ahead == e.PromptID) && c.Matches(e.Text)
	})
}

func (q *Queue) stay(a Action) Transition { return Transition{Queue: *q, Action: a} }

// redrive has the active command typed after a prompt that is none of ours.
func (q *Queue) redrive(prompt string) Transition {
	changed := q.other(prompt)
	return Transition{Queue: *q, Action: Redriven, Changed: changed, Drive: true}
}

func (o Transition) changed() Transition { o.Changed = true; return o }

// release makes the first pending command active, where its trigger fires.
func (q *Queue) release(hook, sub string) Transition {
	next := q.next()
	if !next.Trigger.Is(hook, sub) {
		return q.stay(Mismatch)
	}
	next.activate()
	return Transition{Queue: *q, Action: Advanced, Changed: true, Drive: true}
}

// advance is the active command's end and the next one's beginning.
func (q *Queue) advance(result *string, now Time) Transition {
	active := q.Active()
	active.Status, active.Result, active.CompletedAt = Done, result, &now
	if d := active.Stopgate; d != nil {
		d.Why = ""
		if d.State != Confirmed {
			d.State, d.ConfirmedAt = Confirmed, &now
		}
	}
	next := q.next()
	if next == nil {
		return q.end(Complete, "")
	}
	next.activate()
	return Transition{Queue: *q, Action: Advanced, Changed: true, Drive: true}
}

// confirm takes a prompt for the active command. What comes while Claude Code works on
// another prompt has, in some versions, the id of that one, and is worked on after it
// under an id of its own.
func (q *Queue) confirm(prompt string, now Time) Transition {
	active := q.Active()
	if active.Stopgate == nil {
		active.Stopgate = &Delivery{}
	}
	d := active.Stopgate
	d.State, d.PromptID, d.Ahead, d.LaterPrompt, d.ConfirmedAt, d.Why = Confirmed, prompt, "", "", &now, ""
	if q.isOther(prompt) {
		d.PromptID, d.Ahead = "", prompt
	}
	return Transition{Queue: *q, Action: Delivered, Changed: true}
}

// isOther reports whether a prompt is not the active command's: the newest that is of no
// command, or that of another one.
func (q *Queue) isOther(prompt string) bool {
	isIts := func(c Command) bool { return c.Status != Active && c.delivery().PromptID == prompt }
	return prompt != "" && (q.Stopgate != nil && prompt == q.Stopgate.OtherPrompt || slices.ContainsFunc(q.Commands, isIts))
}

// other keeps the id of a prompt that is of no command, and reports whether that is new.
func (q *Queue) other(prompt string) (changed bool) {
	if active := q.Active(); prompt == "" || q.isOther(prompt) || active != nil && active.delivery().PromptID == prompt {
		return false
	}
	q.meta().OtherPrompt = prompt
	return true
}

// overhear keeps the id of a prompt that is no command: Claude Code, when it is idle
// after it, has left the active command behind.
func (q *Queue) overhear(prompt string) Transition {
	changed := q.other(prompt)
	if active := q.Active(); active != nil && active.Stopgate != nil && active.Confirmed() && active.Stopgate.LaterPrompt != prompt {
		active.Stopgate.LaterPrompt, changed = prompt, true
	}
	return Transition{Queue: *q, Action: Ignored, Changed: changed}
}

func (q *Queue) cancel(why string) Transition {
	q.Status = Cancelled
	return q.end(Cancel, why)
}

// fail ends the queue by its active command. What comes after a command that failed
// was written for one that did not. The detail is in somebody else's words.
func (q *Queue) fail(why, detail string) Transition {
	active := q.Active()
	active.Status = Failed
	if active.Stopgate == nil {
		active.Stopgate = &Delivery{State: Confirmed}
	}
	active.Stopgate.Why = why
	o := q.end(Broken, fmt.Sprintf("command %d failed: %s", active.ID, why))
	o.Queue.Stopgate.Ending.Detail = detail
	return o
}

func (q *Queue) end(kind EndKind, why string) Transition {
	q.meta().Ending = &Ending{Kind: kind, Why: why}
	return Transition{Queue: *q, Action: Finished, Changed: true}
}
