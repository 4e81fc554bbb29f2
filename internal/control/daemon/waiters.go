package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/nudge"
)

// waiters are the hooks that wait for a person's answer, by what they ask. An answer that
// nobody waits for would be lost.
type waiters struct {
	mu   sync.Mutex
	now  func() time.Time
	refs map[string]*waiter
	came nudge.Bell // one has come
}

type waiter struct {
	waiting int       // requests that are under way
	left    time.Time // when the last one ended
}

func newWaiters(now func() time.Time) *waiters {
	return &waiters{now: now, refs: map[string]*waiter{}}
}

const (
	// between is how long a hook may take from one request to the next. It asks again at
	// once; one that was killed must not count.
	between = time.Second
	// comeback is how long one waits for a hook that is not there: the daemon may have
	// just begun.
	comeback = 3 * time.Second
)

// wait says that a hook waits for the answer to what it asks, until gone is called. One
// that did not hear what it was told does not come back.
func (w *waiters) wait(ref string) (gone func(answered bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refs[ref] == nil {
		w.refs[ref] = &waiter{}
	}
	w.refs[ref].waiting++
	w.came.Ring()
	return func(answered bool) { w.leave(ref, answered) }
}

func (w *waiters) leave(ref string, answered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.refs[ref].waiting--
	w.refs[ref].left = time.Time{}
	if answered {
		w.refs[ref].left = now
	}
	for ref, other := range w.refs { // nobody asks for it any more
		if other.waiting == 0 && now.Sub(other.left).Abs() > between {
			delete(w.refs, ref)
		}
	}
}

// there reports whether a hook waits for the answer, and else when to look again.
func (w *waiters) there(ref string) (is bool, came <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.refs[ref]
	is = one != nil && (one.waiting > 0 || w.now().Sub(one.left).Abs() <= between)
	return is, w.came.Rung()
}

// expect waits a little for a hook that waits for the answer.
func (w *waiters) expect(ctx context.Context, ref string) bool {
	late := time.NewTimer(comeback)
	defer late.Stop()
	for {
		is, came := w.there(ref)
		if is {
			return true
		}
		select {
		case <-came:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
