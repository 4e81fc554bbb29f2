package effect

import (
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/nudge"
)

// lane is one of the two lines of an owner's effects: what is said to people goes beside
// the rest.
type lane struct {
	owner string
	notes bool
}

func (w lane) holds(e engine.OpenEffect) bool { return (e.Kind == engine.NotifyPerson) == w.notes }

func (w lane) has(o *engine.Owner) bool {
	for _, e := range o.Effects {
		if w.holds(e) {
			return true
		}
	}
	return false
}

// line is the effects that wait in a lane. The worker's mutex guards it.
type line struct {
	lane
	owner   *engine.Owner   // the newest that we know
	working bool            // somebody works it off
	mine    map[string]bool // effects that we have begun to carry out: true when their end is reported
	changed chan struct{}   // there is a newer owner
}

// take takes a newer owner.
func (l *line) take(o *engine.Owner) {
	l.owner = o
	open := make(map[string]bool, len(o.Effects))
	for _, e := range o.Effects {
		open[e.Key] = true
	}
	for key := range l.mine {
		if !open[key] {
			delete(l.mine, key)
		}
	}
	nudge.Reader(l.changed)
}

// next is the first effect that waits. One whose end was reported may still be there,
// until the owner that knows of it comes.
func (l *line) next() (engine.OpenEffect, bool) {
	for _, e := range l.owner.Effects {
		if l.holds(e) && !l.mine[e.Key] {
			return e, true
		}
	}
	return engine.OpenEffect{}, false
}
