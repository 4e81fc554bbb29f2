package effect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/errand"
)

// task is one effect that is being carried out.
type task struct {
	*Worker
	line    *line
	owner   *engine.Owner
	effect  engine.Effect
	started bool // its start is on record
	doubt   bool // and was put there by somebody who is gone
	acted   bool // it was carried out, here and now
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
	if _, ok := t.report(t.acting, t.owner.ID, end); !ok {
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
	if t.doubt {
		switch afterCrash(t.effect.Kind) {
		case takenDone:
			return done, true
		case confirm:
			return t.confirmed()
		}
	}
	if !t.admitted() {
		t.leave()
		return done, !t.wanted()
	}
	if !t.started {
		recorded, ok := t.report(t.running, t.owner.ID, engine.EffectStarted{Key: t.effect.Key})
		if !recorded {
			t.leave()
			return done, ok
		}
	}
	return t.actPatiently()
}

// confirmed is what became of an effect that is not done twice.
func (t *task) confirmed() (engine.Happening, bool) {
	var sent bool
	ok := t.patiently(t.running, t.owner.ID, func() (err error) {
		sent, err = t.opts.Agents.Sent(t.effect.Target, t.effect.Key)
		return err
	})
	if sent {
		return engine.EffectDone{Key: t.effect.Key}, ok
	}
	return engine.EffectLost{Key: t.effect.Key, Why: "the daemon ended while it was sending a message"}, ok
}

// wanted reports whether the newest owner still wants the effect.
func (t *task) wanted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return wanted(t.line.owner, t.effect)
}

// admitted waits until the effect may act: an agent, until there is room for it. It is
// false when the effect is no longer wanted, and when the worker stops.
func (t *task) admitted() bool {
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
		case <-t.running.Done():
			return false
		}
	}
	return false
}

// apply asks for the place that an agent needs.
func (t *task) apply() (granted <-chan struct{}) {
	if t.effect.Kind != engine.StartAgent {
		free := make(chan struct{})
		close(free)
		return free
	}
	a := t.effect.Agent
	return t.slots.apply(a.ID, place{t.owner.Project, a.Name}, a.AtMost)
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
		err := t.act(t.acting)
		var failure *errand.Failure
		switch {
		case errors.As(err, &failure):
			t.leave()
			end = engine.EffectFailed{Key: t.effect.Key, Why: failure.Why}
			return nil
		case err != nil && !t.wanted():
			t.leave()
			return nil
		case err == nil:
			t.acted = true
		}
		return err
	})
	return end, ok
}

// act carries the effect out.
func (t *task) act(ctx context.Context) error {
	e := t.effect
	switch e.Kind {
	case engine.StartShell:
		return t.opts.Shells.Start(ctx, t.owner, e.Key, *e.Shell)
	case engine.KillShell:
		return t.opts.Shells.Kill(ctx, e.Target)
	case engine.StartAgent:
		return t.opts.Agents.Start(ctx, t.owner, *e.Agent)
	case engine.KillAgent:
		return t.opts.Agents.Kill(ctx, e.Target)
	case engine.SendAgent:
		return t.opts.Agents.Send(ctx, e.Target, e.Key, e.Text)
	case engine.NotifyPerson:
		if err := t.opts.Notifier.Notify(t.owner, e.Title, e.Text); err != nil {
			return &errand.Failure{Why: err.Error()}
		}
		return nil
	}
	return &errand.Failure{Why: fmt.Sprintf("nobody knows how to do %q", e.Kind)}
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
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 30*time.Second) {
		err := try()
		if (err != nil || trouble != nil) && ctx.Err() == nil {
			w.opts.Trouble(owner, err)
		}
		if err == nil {
			return true
		}
		trouble = err
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
	}
}
