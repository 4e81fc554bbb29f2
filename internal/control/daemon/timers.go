package daemon

import (
	"container/heap"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/nudge"
)

// timers fires what owners wait for. There is one real timer, for the earliest.
type timers struct {
	core *core

	awake func() time.Duration // for how long this process has been, without the time in which the machine slept

	mu    sync.Mutex
	queue alarms
	wake  chan struct{}
}

// alarm is one timer of an owner. It counts only while its owner still has it so.
type alarm struct {
	owner, name string
	due         time.Time
	at          time.Time     // when it is looked at
	awake       time.Duration // it is not fired before this process has been awake for so long
}

func newTimers(core *core) *timers {
	begun := time.Now()
	return &timers{core: core, wake: make(chan struct{}, 1), awake: func() time.Duration { return time.Since(begun) }}
}

// reportTime is how long the end of a command that has ended while no daemon ran has to be
// reported, before the command counts as timed out.
const reportTime = 5 * time.Second

// newAlarm is a timer that is taken up now. A step's time does not pass while the machine sleeps, and
// one that is over when a daemon starts does not end the step before it is known what became of it.
func (t *timers) newAlarm(owner, name string, due time.Time) alarm {
	a := alarm{owner: owner, name: name, due: due, at: due}
	if name != engine.StepTimeout {
		return a
	}
	left := due.Sub(t.core.now())
	if left <= 0 {
		left = reportTime
	}
	a.awake = t.awake() + left
	return a
}

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
		heap.Push(&t.queue, t.newAlarm(after.ID, name, due))
		nudge.Reader(t.wake)
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
		now := t.core.now().Round(0)
		left := first.at.Round(0).Sub(now)
		if rest := first.awake - t.awake(); left <= 0 && rest > 0 {
			t.queue[0].at = now.Add(rest)
			heap.Fix(&t.queue, 0)
			continue
		}
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
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a alarms) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *alarms) Push(x any)        { *a = append(*a, x.(alarm)) }
func (a *alarms) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}
