package beat

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// mostMembers bounds what is kept of a fleet.
const mostMembers = 1000

// Observer is a Sight with a clock, for several goroutines.
type Observer struct {
	clock func() time.Duration
	now   func() time.Time

	mu    sync.Mutex
	sight Sight
	heard map[string]time.Time // by our wall clock, only to be shown
}

// NewObserver observes as the member of that name. The wall clock is only for what is shown.
func NewObserver(me string, now func() time.Time) *Observer {
	begun := time.Now()
	return &Observer{
		clock: func() time.Duration { return time.Since(begun) }, now: now,
		sight: Sight{Me: me}, heard: map[string]time.Time{},
	}
}

// Begin is called when beats are read from the beginning.
func (o *Observer) Begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sight.Begin()
}

// Hear takes a message of a member, which was sent at a time by the clock of a server. What is no beat that we
// understand is passed over.
func (o *Observer) Hear(member string, text []byte, sent time.Time) {
	b, err := Decode(text)
	o.mu.Lock()
	defer o.mu.Unlock()
	before, known := o.sight.Pulse(member)
	if err != nil || !known && len(o.heard) >= mostMembers {
		return
	}
	o.sight.Hear(member, b, o.clock())
	after, _ := o.sight.Pulse(member)
	switch {
	case !known: // it may have been there for long
		o.heard[member] = sent
	case after.Beat.Count != before.Beat.Count || after.Beat.Life != before.Beat.Life:
		o.heard[member] = o.now()
	}
}

// Forget drops a member that is not in the fleet any more.
func (o *Observer) Forget(member string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sight.Forget(member)
	delete(o.heard, member)
}

// Linked reports whether our own beats come back to us.
func (o *Observer) Linked() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sight.Linked(o.clock())
}

// State is how a member stands now.
func (o *Observer) State(member string) State {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sight.State(member, o.clock())
}

// Beat is the newest beat of a member.
func (o *Observer) Beat(member string) (b Beat, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, known := o.sight.Pulse(member)
	return p.Beat, known
}

// Heard is how long ago a member was heard of, for people: it goes by wall clocks.
func (o *Observer) Heard(member string) (ago time.Duration, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, known := o.heard[member]
	if !known {
		return 0, false
	}
	return max(o.now().Round(0).Sub(at.Round(0)), 0), true
}

// Members are those that were heard of, by name.
func (o *Observer) Members() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.heard))
}
