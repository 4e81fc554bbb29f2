package driver

import (
	"cmp"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// standing is what a client does, as far as a queue depends on it.
type standing int

const (
	working  standing = iota // a hook will tell when it has done
	free                     // it waits for input
	occupied                 // it waits for input, and a text is in the input box
	hidden                   // its input box is not to be seen
)

// finding is what one look at a client finds.
type finding struct {
	standing standing
	why      string // in words, where it does not work
	moved    bool   // its screen changed since the last look
}

// position is how far a queue is.
type position struct {
	queue   string // its id
	command int    // the active one; 0: none
	state   queue.DeliveryState
}

func positionOf(q queue.Queue) position {
	at := position{queue: q.ID()}
	if active := q.Active(); active != nil {
		at.command, at.state = active.ID, active.State()
	}
	return at
}

// sight is what was seen of a queue and its client since the queue last moved. The times are
// those since when it has been so at every look.
type sight struct {
	position
	began  time.Time
	looked time.Time
	driven time.Time // when a process was last started to type
	screen string    // at the last look
	why    string    // at the last look
	logged string    // the error that was logged last

	free  time.Time // the input box is empty, and Claude Code does not work
	idle  time.Time // the input box is there, and Claude Code does not work
	still time.Time // Claude Code is not known to work
	left  time.Time // no process types
}

// note adds what a look found.
func (s *sight) note(f finding, left bool, now time.Time) {
	// Its box may be out of sight while it works on a command, as in a long conversation that a
	// person reads. Then something moves now and then.
	if f.standing == hidden && s.state == queue.Confirmed && f.moved {
		f.standing = working
	}
	s.why = f.why
	since(&s.free, f.standing == free, now)
	since(&s.idle, f.standing == free || f.standing == occupied, now)
	since(&s.still, f.standing != working, now)
	since(&s.left, left, now)
}

// since keeps the moment from which on something has been so.
func since(moment *time.Time, is bool, now time.Time) {
	switch {
	case !is:
		*moment = time.Time{}
	case moment.IsZero():
		*moment = now
	}
}

// remedy is what is to be done about a queue.
type remedy int

const (
	nothing remedy = iota
	typeIt         // start a process that types the active command, or finds out what became of it
	giveUp         // end the queue
)

// due is what is to be done now, and why.
func (s *sight) due(p Pace, now time.Time) (do remedy, why string) {
	lasts := func(moment time.Time, least time.Duration) bool { return !moment.IsZero() && now.Sub(moment) >= least }
	stuck := fmt.Sprintf("for %s: %s", plain.Count(int(p.Stuck.Minutes()), "minute"), cmp.Or(s.why, "Claude Code did not confirm it"))

	switch {
	case s.command == 0 && lasts(s.idle, p.Stuck):
		return giveUp, "no hook released its next command " + stuck
	case s.command == 0:
		return nothing, ""
	case s.state == queue.Confirmed && lasts(s.idle, p.Dropped):
		return giveUp, "Claude Code waits for input, but did not report a stop: it was interrupted"
	case s.state == queue.Confirmed && lasts(s.still, p.Stuck):
		return giveUp, "Claude Code did not report a stop, and its input box was not visible " + stuck
	case s.state == queue.Confirmed:
		return nothing, ""
	case lasts(s.still, p.Stuck), s.state != queue.Waiting && lasts(s.began, p.Stuck):
		return giveUp, "it could not be typed " + stuck
	case !lasts(s.left, p.Free) || now.Sub(s.driven) < again:
		return nothing, ""
	case s.state != queue.Waiting || lasts(s.free, p.Free):
		return typeIt, ""
	}
	return nothing, ""
}
