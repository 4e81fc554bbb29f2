package effect

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// report reports what happened to an effect or an agent until it is on record, or is refused:
// then it is not wanted. It is not ok when the context ends first.
func (w *Worker) report(ctx context.Context, owner, name string, what engine.Happening) (recorded, ok bool) {
	in := input(name, what, w.opts.Now())
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

// input is what happened to what is known by a name: an effect, a command, an agent. Its id is
// the same whenever the same is told, such as KEY:started.
func input(name string, what engine.Happening, now time.Time) engine.Input {
	_, became, _ := strings.Cut(what.EventType(), ":")
	return engine.Input{ID: name + ":" + became, Time: now, What: what}
}

// watchShell reports the end of a command.
func (w *Worker) watchShell(owner, key string) {
	w.watch(owner, key, w.opts.Shells.Wait, func(r errand.Result) engine.Happening {
		return engine.ShellExited{Key: key, Code: r.Code, Tail: r.Tail, Lost: r.Lost, Output: r.Output, Fault: r.Fault}
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
	return input(agent, exited(agent, r), now)
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
			w.report(w.running, owner, name, end(r))
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watched, name)
	})
}
