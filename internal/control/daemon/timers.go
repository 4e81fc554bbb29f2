package daemon

import (
	"container/heap"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// timers fires what owners wait for. There is one real timer, for the earliest.
type timers struct {
	core *core

	mu    sync.Mutex
	queue alarms
	wake  chan struct{}
}

// alarm is one timer of an owner. It counts only while its owner still has it so.
type alarm struct {
	owner, name string
	due         time.Time
}

func newTimers(core *core) *timers { return &timers{core: core, wake: make(chan struct{}, 1)} }

// changed takes up the timers that an owner has and had not.
func (t *timers) changed(before, after *engine.Owner) {
	var had map[string]time.Time
	if before != nil {
		had = before.Timers
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, due := range after.Timers {
		if old, known := had[name]; known && old.Equal(due) {
			continue
		}
		heap.Push(&t.queue, alarm{after.ID, name, due})
		nudge(t.wake)
	}
}

// longestSleep bounds how late a timer is when the wall clock went on without ours: a
// machine that was suspended, a clock that was set. Only a daemon with a timer looks.
const longestSleep = time.Minute

// run fires timers until the context ends. One that is due already fires at once.
func (t *timers) run(ctx context.Context) {
	for {
		next, left := t.next()
		if left <= 0 {
			if t.fire(ctx, next) != nil {
				return
			}
			continue
		}
		sleep := time.NewTimer(min(left, longestSleep))
		if next == (alarm{}) {
			sleep.Stop()
		}
		select {
		case <-ctx.Done():
			sleep.Stop()
			return
		case <-t.wake:
			sleep.Stop()
		case <-sleep.C:
		}
	}
}

// next takes the earliest timer when it is due, and says how long that is still to be.
// Without a timer it is the zero one, and for ever.
func (t *timers) next() (alarm, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) > 0 {
		first := t.queue[0]
		if !t.holds(first) {
			heap.Pop(&t.queue)
			continue
		}
		// The wall clock: a reading of ours says nothing about another daemon's.
		left := first.due.Round(0).Sub(t.core.now().Round(0))
		if left <= 0 {
			heap.Pop(&t.queue)
		}
		return first, left
	}
	return alarm{}, longestSleep
}

// holds reports whether the owner still has the timer.
func (t *timers) holds(a alarm) bool {
	o := t.core.owner(a.owner)
	if o == nil {
		return false
	}
	due, there := o.Timers[a.name]
	return there && due.Equal(a.due)
}

func (t *timers) fire(ctx context.Context, a alarm) error {
	return unlessRefused(t.core.must(ctx, a.owner, engine.Input{
		ID:   "timer:" + a.name + ":" + strconv.FormatInt(a.due.UnixNano(), 10),
		What: engine.TimerFired{Name: a.name, Due: a.due},
	}))
}

// alarms is a heap, the earliest first.
type alarms []alarm

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].due.Before(a[j].due) }
func (a alarms) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *alarms) Push(x any)        { *a = append(*a, x.(alarm)) }
func (a *alarms) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}
