package effect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// report reports what happened until it is on record, or is refused: then nobody wants to
// know. It is not ok when the context ends first.
func (w *Worker) report(ctx context.Context, owner string, what engine.Happening) (recorded, ok bool) {
	in := engine.Input{ID: inputID(what), Time: w.opts.Now(), What: what}
	var refusal *engine.Refusal
	ok = w.patiently(ctx, owner, func() error {
		err := w.opts.Report(ctx, owner, in)
		if errors.As(err, &refusal) {
			return nil
		}
		return err
	})
	return ok && refusal == nil, ok
}

// inputID is the same whenever the same is told.
func inputID(what engine.Happening) string {
	switch h := what.(type) {
	case engine.EffectStarted:
		return h.Key + ":started"
	case engine.EffectDone:
		return h.Key + ":done"
	case engine.EffectFailed:
		return h.Key + ":failed"
	case engine.EffectLost:
		return h.Key + ":lost"
	case engine.ShellExited:
		return h.Key + ":exited"
	case engine.AgentExited:
		return h.AgentID + ":exited"
	}
	panic(fmt.Sprintf("effect: %T is not reported here", what))
}

// watchShell reports the end of a command.
func (w *Worker) watchShell(owner, key string) {
	w.watch(owner, key, w.opts.Shells.Wait, func(r errand.Result) engine.Happening {
		return engine.ShellExited{Key: key, Code: r.Code, Tail: r.Tail, Lost: r.Lost}
	})
}

// watchAgent reports the end of an agent, and lets the next one in.
func (w *Worker) watchAgent(owner, agent string) {
	w.watch(owner, agent, w.opts.Agents.Wait, func(r errand.Result) engine.Happening {
		w.slots.release(agent)
		return exited(agent, r)
	})
}

func exited(agent string, r errand.Result) engine.AgentExited {
	return engine.AgentExited{AgentID: agent, Code: r.Code, Gone: r.Lost, Tail: r.Tail}
}

// Exit is what a worker reports of an agent that has ended so.
func Exit(agent string, r errand.Result, now time.Time) engine.Input {
	what := exited(agent, r)
	return engine.Input{ID: inputID(what), Time: now, What: what}
}

// watch waits for the end of what is known by a name. It does so once.
func (w *Worker) watch(owner, name string, wait func(context.Context, string) (errand.Result, error), end func(errand.Result) engine.Happening) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched[name] || w.stopped {
		return
	}
	w.watched[name] = true
	w.work.Go(func() {
		var r errand.Result
		ended := w.patiently(w.running, owner, func() (err error) {
			r, err = wait(w.running, name)
			return err
		})
		if ended {
			w.report(w.running, owner, end(r))
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watched, name)
	})
}
