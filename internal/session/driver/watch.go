package driver

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Watch sees to it that no queue waits for what does not come. Hooks move queues on, but much that
// happens to a client fires none: a person clears the input box or presses Esc in a dialog, the
// process that types is killed, a client crashes. One process watches over the queues of all
// sessions; it ends when there is neither a queue nor a message left.
func (d *Driver) Watch(ctx context.Context) error {
	for {
		release, err := lockfile.Acquire(ctx, d.queues().WatchLock(), 0)
		if errors.Is(err, lockfile.ErrBusy) {
			return nil // another process watches
		}
		if err != nil {
			return err
		}

		w := &watcher{Driver: d, pace: d.pace(), sights: map[string]*sight{}}
		err = w.run(ctx)
		release()
		// A queue that was made after the last look found the lock taken.
		if err != nil || !w.hasWork() {
			return err
		}
	}
}

// ensureWatched starts a process that watches over the queues, unless there is one.
func (d *Driver) ensureWatched() {
	if d.StartWatch == nil {
		return
	}
	if held, err := lockfile.Held(d.queues().WatchLock()); err == nil && held {
		return
	}
	if err := d.StartWatch(); err != nil {
		d.Log("cannot watch over the queues: %v", err)
	}
}

// watcher is the process that watches.
type watcher struct {
	*Driver
	pace    Pace
	sights  map[string]*sight // by session
	guarded time.Time         // when tmux was last told to start another watcher
	sent    time.Time         // when a sender was last started
}

func (w *watcher) run(ctx context.Context) error {
	for {
		queues, err := w.queues().List()
		if err != nil {
			return err
		}
		if len(queues) == 0 && !w.outbox().Waiting() {
			return nil
		}

		w.resend()
		w.guard(ctx, queues)
		w.forget(queues)
		for _, l := range queues {
			if err := w.see(ctx, l); ctx.Err() == nil {
				w.log(l.Session, err)
			}
		}
		if err := pause.For(ctx, min(tick, w.pace.Look)); err != nil {
			return err
		}
	}
}

const (
	// tick lies between two looks at the files of the queues: so soon the watcher notices that
	// the last one is gone.
	tick = time.Second
	// again lies between two processes that type, or send, for the same reason. It is more than
	// one needs to confirm a command.
	again = 20 * time.Second
)

func (w *watcher) hasWork() bool {
	queues, err := w.queues().List()
	return err == nil && len(queues) > 0 || w.outbox().Waiting()
}

// resend starts a sender where messages wait: the last one may have been killed. Senders take
// turns, and keep the pauses of the one before.
func (w *watcher) resend() {
	if !w.outbox().Waiting() {
		w.sent = w.Now()
		return
	}
	if w.Now().Sub(w.sent) < again {
		return
	}
	w.sent = w.Now()
	if err := w.Send(); err != nil {
		w.Log("a message waits in the outbox: %v", err)
	}
}

// forget drops what was seen of queues that are gone.
func (w *watcher) forget(queues []queue.Listed) {
	live := map[string]bool{}
	for _, l := range queues {
		live[l.Session] = true
	}
	for session := range w.sights {
		if !live[session] {
			delete(w.sights, session)
		}
	}
}

// see looks after one queue.
func (w *watcher) see(ctx context.Context, l queue.Listed) error {
	now := w.Now()
	s := w.sightOf(l, now)
	if !s.looked.IsZero() && now.Sub(s.looked) < w.pace.Look {
		return nil
	}
	s.looked = now
	switch {
	case l.Err != nil && now.Sub(s.began) < w.pace.Dropped:
		return nil // a person may be writing it
	case l.Err != nil, l.Queue.Stopgate != nil && l.Queue.Stopgate.Ending != nil:
		return w.finish(l.Session) // it is damaged, or a process died before it had told of its end
	}

	left, err := w.isLeft(l.Session)
	if err != nil {
		return err
	}
	s.note(w.look(ctx, l, s), left, now)

	switch do, why := s.due(w.pace, now); do {
	case typeIt:
		s.driven = now
		return w.Drive(l.Session)
	case giveUp:
		return w.fail(l, s.position, why)
	}
	return nil
}

// log tells of what went wrong with a session's queue, and not again as long as it is the same.
func (w *watcher) log(session string, err error) {
	s := w.sights[session]
	if err == nil || s == nil || s.logged == err.Error() {
		return
	}
	s.logged = err.Error()
	w.Log("session %s: %v", session, err)
}

// sightOf is what was seen of a queue since it last moved.
func (w *watcher) sightOf(l queue.Listed, now time.Time) *sight {
	at := positionOf(l.Queue)
	if s := w.sights[l.Session]; s != nil && s.position == at {
		return s
	}
	s := &sight{position: at, began: now}
	w.sights[l.Session] = s
	return s
}

// isLeft reports whether no process types into a session, or waits for a confirmation.
func (w *watcher) isLeft(session string) (bool, error) {
	held, err := lockfile.Held(w.queues().DriverLock(session))
	return !held, err
}

// look is what a queue's client does, by what it shows and what its hooks told.
func (w *watcher) look(ctx context.Context, l queue.Listed, s *sight) finding {
	t := &typist{Driver: w.Driver, ctx: ctx, session: l.Session, pace: w.pace}
	var err error
	if t.pane, err = t.find(l.Queue); err != nil {
		return finding{standing: hidden, why: err.Error()}
	}
	if t.screen, err = w.patterns(); err != nil {
		return finding{standing: hidden, why: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	captured, err := t.pane.Capture(ctx)
	if err != nil {
		return finding{standing: hidden, why: err.Error()}
	}

	moved := captured != s.screen
	s.screen = captured
	view := t.screen.Look(captured)
	works, known := t.screen.Works(captured)
	box := view.State == terminal.Ready || view.State == terminal.Occupied
	switch {
	case works || box && !known && moved:
		return finding{standing: working}
	case view.State == terminal.Dialog && t.reported() == presence.Asking:
		return finding{standing: working} // its agent was told, and a hook follows the answer
	case view.State == terminal.Ready:
		return finding{standing: free, why: "Claude Code is idle"}
	case view.State == terminal.Occupied:
		return finding{standing: occupied, why: view.State.String()}
	}
	return finding{standing: hidden, why: view.State.String(), moved: moved}
}

// fail ends a queue at the position that it was seen at.
func (w *watcher) fail(l queue.Listed, at position, why string) error {
	_, err := w.apply(l.Session, func(q queue.Queue) queue.Transition {
		if q.ID() != at.queue {
			return queue.Transition{Queue: q, Action: queue.Ignored} // another one took its place
		}
		stuck := queue.Stuck{ID: at.command, State: at.state, Why: why}
		return queue.Apply(named(q, l.Session, w.Now()), stuck, w.Now())
	})
	return unlessGone(err)
}
