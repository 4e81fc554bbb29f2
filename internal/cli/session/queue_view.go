package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// queueView is what people see of a queue.
type queueView struct {
	Session   string        `json:"session"`
	Path      string        `json:"path"`
	Completed int           `json:"completed"`
	Total     int           `json:"total"`
	Active    *activeView   `json:"active,omitempty"`
	State     string        `json:"state"`           // in words
	Waits     string        `json:"waits,omitempty"` // what somebody has to do something about
	Ended     queue.EndKind `json:"ended,omitempty"`
	CreatedAt time.Time     `json:"created_at,omitzero"`
	Fault     string        `json:"fault,omitempty"` // why it cannot be read
}

// activeView is the command that a queue is at.
type activeView struct {
	ID       int                 `json:"id"`
	Command  string              `json:"command"`
	Delivery queue.DeliveryState `json:"delivery"`
	tries    int
}

// view makes words of a queue.
func (d *desk) view(l queue.Listed, now time.Time) queueView {
	v := queueView{Session: l.Session, Path: l.Path}
	if l.Err != nil {
		v.Fault = plain.Line(l.Err.Error())
		v.State = "damaged: " + v.Fault
		return v
	}
	q := l.Queue
	v.Completed, v.Total = q.Completed(), len(q.Commands)
	v.CreatedAt = l.Created()
	if active := q.Active(); active != nil {
		v.Active = &activeView{ID: active.ID, Command: active.Command, Delivery: queue.Confirmed}
		if active.Stopgate != nil {
			v.Active.Delivery, v.Active.tries = active.Stopgate.State, active.Stopgate.Tries
		}
	}
	v.State, v.Waits = d.standing(l, now)
	if q.Stopgate != nil && q.Stopgate.Ending != nil {
		v.Ended = q.Stopgate.Ending.Kind
	}
	return v
}

// standing is how a queue stands, and what keeps it until somebody does something
// about it.
func (d *desk) standing(l queue.Listed, now time.Time) (state, waits string) {
	q := l.Queue
	if q.Stopgate != nil && q.Stopgate.Ending != nil {
		return endingWords(*q.Stopgate.Ending), ""
	}
	active := q.Active()
	if active == nil {
		return "waiting for a hook", ""
	}
	switch {
	case q.Stopgate != nil && q.Stopgate.EndedAt != nil:
		waits = "Claude Code has ended"
	case active.Confirmed() && d.asking(l):
		waits = "Claude Code waits for an answer"
	case !active.Confirmed() && active.Stopgate.Tries > 0:
		return deliveryWords(active, now), plain.Line(active.Stopgate.Why)
	case !active.Confirmed() && active.Stopgate.Why == "" && now.Sub(touched(q)) > handOver && d.left(l.Session):
		waits = "the process that types it was killed"
	default:
		return deliveryWords(active, now), ""
	}
	return waits, waits
}

// handOver is more than it takes from one who types to the next, or to Claude Code's
// confirmation.
const handOver = 20 * time.Second

// touched is when somebody last did something about the active command.
func touched(q queue.Queue) time.Time {
	var last time.Time
	note := func(t *queue.Time) {
		if t != nil && t.After(last) {
			last = t.Time
		}
	}
	if q.Stopgate != nil {
		note(&q.Stopgate.CreatedAt)
	}
	for _, c := range q.Commands {
		note(c.CompletedAt)
		if c.Status == queue.Active && c.Stopgate != nil {
			note(c.Stopgate.TypedAt)
			note(c.Stopgate.EnteredAt)
		}
	}
	return last
}

// left reports whether nobody types into a session, or waits for a confirmation.
func (d *desk) left(session string) bool {
	release, err := lockfile.Acquire(context.Background(), d.queues.DriverLock(session), 0)
	if err != nil {
		return false
	}
	release()
	return true
}

// asking reports whether the Claude Code of a queue waits for a person.
func (d *desk) asking(l queue.Listed) bool {
	book := presence.NewBook(d.stateDir)
	if l.Queue.Stopgate == nil || l.Queue.Stopgate.Place == nil {
		instances := book.Find(l.Session)
		return len(instances) > 0 && instances[0].State == presence.Asking
	}
	place := l.Queue.Stopgate.Place
	instance, known := book.Load(place.Socket, place.PID, place.Pane)
	return known && instance.State == presence.Asking
}

// deliveryWords tell how far a command is that Claude Code has not done with.
func deliveryWords(c *queue.Command, now time.Time) string {
	if c.Confirmed() {
		if c.Stopgate == nil || c.Stopgate.ConfirmedAt == nil {
			return "running"
		}
		return "running since " + term.Clock(c.Stopgate.ConfirmedAt.Time, now)
	}
	switch {
	case c.Stopgate.State == queue.Typing:
		return "being typed"
	case c.Stopgate.State == queue.Entered:
		return "typed, not confirmed"
	case c.Stopgate.Why != "":
		return "waiting: " + plain.Line(c.Stopgate.Why)
	}
	return "waiting to be typed"
}

// endingWords tell how a queue ended.
func endingWords(e queue.Ending) string {
	switch e.Kind {
	case queue.Complete:
		return "complete"
	case queue.Cancel:
		return "cancelled by " + plain.Line(e.Why)
	case queue.Stale:
		return "left over: Claude Code was restarted"
	}
	if e.Detail != "" {
		return plain.Line(e.Why + ": " + e.Detail)
	}
	return plain.Line(e.Why)
}

// broken reports whether the queue ended before its time.
func (v *queueView) broken() bool { return v.Ended != "" && v.Ended != queue.Complete }

// begun tells what became of the command that a queue began with.
func (v *queueView) begun(c *queue.Command) string {
	if c == nil {
		return v.State
	}
	text := fmt.Sprintf("command %d of %d", c.ID, v.Total)
	switch a := v.Active; {
	case a == nil || a.ID != c.ID || a.Delivery != queue.Waiting:
		return fmt.Sprintf("%s typed: %s", text, term.Cut(plain.Line(c.Command), pipeCommand))
	case a.tries > 0:
		return fmt.Sprintf("%s is %s; it is typed as soon as the input box is free", text, v.State)
	}
	return fmt.Sprintf("%s is %s; it is typed when Claude Code stops", text, v.State)
}

// find is a session's queue, which may have come to its end meanwhile.
func (d *desk) find(session, id string) (queueView, error) {
	is := func(l queue.Listed) bool { return l.Err == nil && l.Queue.Stopgate != nil && l.Queue.Stopgate.ID == id }
	for _, look := range []func(string) (queue.Listed, error){d.live, d.queues.Last} {
		if l, err := look(session); err == nil && is(l) {
			return d.view(l, time.Now()), nil
		}
	}
	return queueView{}, errors.New("the queue of session " + term.Shown(session) + " no longer exists")
}

// live is the queue that a session has.
func (d *desk) live(session string) (queue.Listed, error) {
	q, err := d.queues.Load(session)
	if errors.Is(err, queue.ErrNone) {
		return queue.Listed{}, err
	}
	return queue.Listed{Session: session, Path: d.queues.Path(session), Queue: q, Err: err}, nil
}
