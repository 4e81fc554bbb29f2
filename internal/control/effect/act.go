package effect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// task is one effect that is being carried out.
type task struct {
	*Worker
	line    *line
	owner   *engine.Owner
	effect  engine.Effect
	started bool             // its start is on record
	doubt   bool             // and was put there by a daemon that is gone
	acted   bool             // it was carried out, here and now
	became  engine.Happening // how that ended, where there is more to tell than that it did
}

// workOff carries out what waits in a line.
func (w *Worker) workOff(l *line) {
	for {
		t, ok := w.nextTask(l)
		if !ok {
			return
		}
		if t.carryOut() {
			w.mu.Lock()
			l.mine[t.effect.Key] = true
			w.mu.Unlock()
		}
	}
}

func (w *Worker) nextTask(l *line) (*task, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, ok := l.next()
	if !ok || w.stopped {
		l.working = false
		if !ok && !l.has(l.owner) {
			delete(w.lines, l.lane)
		}
		return nil, false
	}
	_, begun := l.mine[e.Key]
	l.mine[e.Key] = false
	return &task{Worker: w, line: l, owner: l.owner, effect: e.Effect, started: e.Started, doubt: e.Started && !begun}, true
}

// carryOut reports whether the effect came to an end that is on record. If not, the
// worker stops.
func (t *task) carryOut() bool {
	end, ok := t.settle()
	if !ok {
		return false
	}
	if _, ok := t.report(t.acting, t.owner.ID, t.effect.Key, end); !ok {
		return false
	}
	if t.acted {
		t.follow()
	}
	return true
}

// settle is what becomes of the effect. Of one that is no longer wanted, nothing does:
// it is done. It is false when the worker stops before the effect has come to an end.
func (t *task) settle() (engine.Happening, bool) {
	done := engine.EffectDone{Key: t.effect.Key}
	if t.doubt && t.effect.Kind.AtMostOnce() {
		return done, true
	}
	if !t.admitted() {
		t.leave()
		return done, !t.wanted()
	}
	if !t.started {
		recorded, ok := t.report(t.running, t.owner.ID, t.effect.Key, engine.EffectStarted{Key: t.effect.Key})
		if !recorded {
			t.leave()
			return done, ok
		}
	}
	return t.actPatiently()
}

// wanted reports whether the newest owner still wants the effect.
func (t *task) wanted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return wanted(t.line.owner, t.effect)
}

// admitted waits until the effect may act: an agent, until there is room for it; a message
// to people, until they may be told. It is false when the effect is no longer wanted, and
// when the worker stops.
func (t *task) admitted() bool {
	if t.effect.Kind == engine.NotifyPerson {
		return t.mayTell()
	}
	if !t.released() {
		return false
	}

	granted := t.apply()
	for t.wanted() {
		select {
		case <-granted:
			return true
		default:
		}
		select {
		case <-granted:
		case <-t.line.changed:
		case <-time.After(lookAgain):
			t.slots.look(t.effect.Agent.ID)
		case <-t.running.Done():
			return false
		}
	}
	return false
}

// released waits until the owner may begin something new. It is false when the effect is no longer wanted, and
// when the worker stops.
func (t *task) released() bool {
	if t.opts.Held == nil || !t.effect.Kind.Begins() {
		return true
	}
	held := t.opts.Held(t.owner)
	if held == nil {
		return true
	}
	for t.wanted() {
		select {
		case <-held:
			return true
		case <-t.line.changed:
		case <-t.running.Done():
			return false
		}
	}
	return false
}

// lookAgain is when the limits are read again: a person may have raised one.
const lookAgain = 10 * time.Second

// apply asks for the place that an agent needs.
func (t *task) apply() (granted <-chan struct{}) {
	if t.effect.Kind != engine.StartAgent {
		free := make(chan struct{})
		close(free)
		return free
	}
	a := t.effect.Agent
	return t.slots.apply(a.ID, limits(t.owner, a.Name, a.AtMost))
}

// leave gives up the agent's place.
func (t *task) leave() {
	if t.effect.Kind == engine.StartAgent {
		t.slots.release(t.effect.Agent.ID)
	}
}

// actPatiently acts until it succeeds or fails for good.
func (t *task) actPatiently() (end engine.Happening, ok bool) {
	end = engine.EffectDone{Key: t.effect.Key}
	ok = t.patiently(t.running, t.owner.ID, func() error {
		err := t.act()
		var failure *errand.Failure
		var lost *Lost
		switch {
		case errors.As(err, &failure):
			t.leave()
			end = engine.EffectFailed{Key: t.effect.Key, Why: failure.Why}
			return nil
		case errors.As(err, &lost):
			end = engine.EffectLost{Key: t.effect.Key, Why: lost.Why}
			return nil
		case err != nil && !t.wanted():
			t.leave()
			if t.effect.Kind == engine.SendAgent { // somebody was told that it would arrive
				end = engine.EffectLost{Key: t.effect.Key, Why: err.Error()}
			}
			return nil
		case err == nil:
			t.acted = true
			if t.became != nil {
				end = t.became
			}
		}
		return err
	})
	return end, ok
}

// act carries the effect out.
func (t *task) act() error {
	ctx, e := t.acting, t.effect
	switch e.Kind {
	case engine.StartShell:
		return t.inTurn(func() error { return t.opts.Shells.Start(ctx, t.owner, e.Key, *e.Shell) })
	case engine.KillShell:
		return t.opts.Shells.Kill(ctx, e.Target)
	case engine.StartAgent:
		return t.inTurn(func() error { return t.opts.Agents.Start(ctx, t.owner, *e.Agent) })
	case engine.KillAgent:
		return t.opts.Agents.Kill(ctx, e.Target)
	case engine.SendAgent:
		return t.send()
	case engine.NotifyPerson:
		return t.tell()
	case engine.MakeWorkspace:
		return t.makeWorkspace()
	case engine.RemoveWorkspace:
		return t.removeWorkspace()
	case engine.StartChild, engine.CancelChild, engine.ReportToParent:
		return t.relate()
	}
	return &errand.Failure{Why: fmt.Sprintf("unknown effect kind %q", e.Kind)}
}

// inTurn starts something when not too much else is being started.
func (t *task) inTurn(start func() error) error {
	select {
	case t.starts <- struct{}{}:
		defer func() { <-t.starts }()
		return start()
	case <-t.acting.Done():
		return t.acting.Err()
	}
}

// send sends a message: an agent that is busy may take it much later.
func (t *task) send() error {
	return t.whileWanted(func(ctx context.Context) error {
		return t.opts.Agents.Send(ctx, t.effect.Target, t.effect.Key, t.effect.Text)
	})
}

// whileWanted does something for as long as the owner wants that and the worker runs.
func (t *task) whileWanted(do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(t.running)
	defer cancel(nil)
	done := make(chan error, 1)
	t.work.Go(func() { done <- do(ctx) })
	for {
		if !t.wanted() {
			cancel(ErrUnwanted)
			return <-done
		}
		select {
		case err := <-done:
			return err
		case <-t.line.changed:
		}
	}
}

// follow waits for the end of what was started.
func (t *task) follow() {
	switch t.effect.Kind {
	case engine.StartShell:
		t.watchShell(t.owner.ID, t.effect.Key)
	case engine.StartAgent:
		t.watchAgent(t.owner.ID, t.effect.Agent.ID)
	}
}

// patiently tries until it succeeds, and tells what is wrong while it does not. It is
// false when the context ends first.
func (w *Worker) patiently(ctx context.Context, owner string, try func() error) bool {
	var trouble error
	for range pause.Doubling(ctx, 100*time.Millisecond, 30*time.Second) {
		err := try()
		if (err != nil || trouble != nil) && ctx.Err() == nil {
			w.opts.Trouble(owner, err)
		}
		if err == nil {
			return true
		}
		trouble = err
	}
	return false
}
