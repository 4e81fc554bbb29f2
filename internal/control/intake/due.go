package intake

import "time"

const (
	// Grace is how late something may start that no daemon was there for, and still be in time.
	Grace = 10 * time.Minute
	// farAhead is how far a clock must have been put back for what is to come to count again: it was
	// wrong before.
	farAhead = 24 * time.Hour
)

// Plan is a schedule as a runbook has it.
type Plan struct {
	Key   string
	Times string // in words: other words are other times
	Next  func(after time.Time) time.Time
	Once  bool // what was missed is started once
}

// Turn is what is to be done about a schedule now.
type Turn struct {
	Seen  bool      // it is to be put on record
	Due   time.Time // it is to be dealt with
	Start bool      // something is to be started for that
}

// Turn says what is to be done about a schedule. Of several times that have passed the latest counts,
// so that nothing starts twice at once.
func (p *Project) Turn(plan Plan, now time.Time) Turn {
	s, known := p.Schedules[plan.Key]
	if !known || s.Times != plan.Times || s.After.Sub(now) > farAhead {
		return Turn{Seen: true}
	}
	due := latest(plan.Next, s.After, now)
	if due.IsZero() {
		return Turn{}
	}
	return Turn{Due: due, Start: plan.Once || now.Sub(due) <= Grace}
}

// latest is the last time after a moment that has come by now; zero where there is none. There may be
// many times between, so it asks for only a few of them.
func latest(next func(time.Time) time.Time, after, now time.Time) time.Time {
	passed := func(from time.Time) (time.Time, bool) {
		at := next(from)
		return at, !at.IsZero() && !at.After(now)
	}

	low, high := after, now
	due, some := passed(low)
	if !some {
		return time.Time{}
	}

	for span := time.Minute; ; span *= 2 {
		from := now.Add(-span)
		if !from.After(after) {
			break
		}
		if at, has := passed(from); has {
			low, due = from, at
			break
		}
		high = from
	}

	for high.Sub(low) > time.Second {
		middle := low.Add(high.Sub(low) / 2)
		if at, has := passed(middle); has {
			low, due = middle, at
		} else {
			high = middle
		}
	}
	return due
}

// OwnerOf is the id of what is started for a schedule at a time: once, however often it is asked for.
func OwnerOf(root, key string, due time.Time) string {
	return ID("schedule", root, key, due.UTC().Format(time.RFC3339))
}
