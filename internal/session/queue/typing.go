package queue

// The events of whoever types. They change nothing once Claude Code has confirmed the
// command, or when another one is active.

// Begun is written before the text goes into the pane.
type Begun struct{ ID int }

func (e Begun) apply(q *Queue, now Time) Transition {
	d := q.undelivered(e.ID)
	if d == nil || d.State != Waiting {
		return q.stay(Ignored)
	}
	d.State, d.TypedAt, d.Why = Typing, &now, ""
	return q.stay(Moved).changed()
}

// Pressed is written before Enter is pressed.
type Pressed struct{ ID int }

func (e Pressed) apply(q *Queue, now Time) Transition {
	d := q.undelivered(e.ID)
	if d == nil || d.State == Waiting || d.Enters >= MaxEnters {
		return q.stay(Ignored)
	}
	d.State, d.EnteredAt = Entered, &now
	d.Enters++
	return q.stay(Moved).changed()
}

// MaxEnters is how often Enter is pressed for one command: once, and once more when
// nothing confirms it.
const MaxEnters = 2

// maxTries is how often a pane may be found not ready: once, and once more after the
// hook that says that Claude Code is free.
const maxTries = 2

// NotReady is a pane that cannot be typed into.
type NotReady struct {
	ID  int
	Why string
}

func (e NotReady) apply(q *Queue, _ Time) Transition {
	d := q.undelivered(e.ID)
	if d == nil || d.State != Waiting {
		return q.stay(Ignored)
	}
	d.Tries++
	if d.Tries >= maxTries {
		return q.fail("it could not be typed: "+e.Why, "")
	}
	d.Why = e.Why
	return q.stay(Moved).changed()
}

// Held is a client that is known to be busy: that is no try.
type Held struct {
	ID  int
	Why string
}

func (e Held) apply(q *Queue, _ Time) Transition {
	d := q.undelivered(e.ID)
	if d == nil || d.State != Waiting || d.Why == e.Why {
		return q.stay(Ignored)
	}
	d.Why = e.Why
	return q.stay(Moved).changed()
}

// Undelivered is a command that nothing confirmed.
type Undelivered struct {
	ID  int
	Why string
}

func (e Undelivered) apply(q *Queue, _ Time) Transition {
	if q.undelivered(e.ID) == nil {
		return q.stay(Ignored)
	}
	return q.fail(e.Why, "")
}

// Stuck is a command that nothing moves on any more, by what its session shows: the hook that it
// waits for does not come. Where no command is active, the queue itself is stuck.
type Stuck struct {
	ID    int           // of the command; 0 where none is active
	State DeliveryState // that the command was seen in: one that moved meanwhile is not stuck
	Why   string
}

func (e Stuck) apply(q *Queue, _ Time) Transition {
	active := q.Active()
	switch {
	case active == nil && e.ID == 0:
		return q.end(Broken, e.Why)
	case active == nil || active.ID != e.ID || active.State() != e.State:
		return q.stay(Ignored)
	}
	return q.fail(e.Why, "")
}

// undelivered is the delivery of the active command, if it is that one and not
// confirmed.
func (q *Queue) undelivered(id int) *Delivery {
	active := q.Active()
	if active == nil || active.ID != id || active.Confirmed() {
		return nil
	}
	return active.Stopgate
}
