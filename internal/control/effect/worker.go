package effect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// Options are what a worker needs.
type Options struct {
	Shells   Shells
	Agents   Agents
	Notifier Notifier
	// Workspaces may be nil where no runbook has any.
	Workspaces Workspaces
	// Children may be nil where no runbook has any.
	Children Children
	// Report hands an input, complete with id and time, to its owner, and returns when
	// it is durable. A *engine.Refusal is for good: an effect whose start is refused is
	// not carried out. After another error it is called again, with the same input. It
	// may call Wake.
	Report func(ctx context.Context, owner string, in engine.Input) error
	// Trouble is told what goes wrong for an owner and is tried again; nil means that
	// it goes well now.
	Trouble func(owner string, err error)
	// Held is closed when an owner may begin something new that may not now; nil is for one that may. Ending what
	// runs, and telling people, is not held.
	Held func(o *engine.Owner) <-chan struct{}
	// MaxAgents is how many agents may run on this machine at once, as it is now; nil or 0
	// is no limit.
	MaxAgents func() int
	Now       func() time.Time
}

// startsAtOnce bounds how many commands and agents are being started: each waits for the disk,
// which takes a thread, and Go keeps the threads that it has.
const startsAtOnce = 32

// Worker carries out the effects of all owners.
type Worker struct {
	opts   Options
	slots  slots
	starts chan struct{} // has room for as many as may be started at once

	// While it runs, new things begin. After that, only what is under way is finished,
	// within acting.
	running, acting context.Context
	stopRunning     context.CancelFunc
	stopActing      context.CancelFunc
	work            sync.WaitGroup

	mu      sync.Mutex
	stopped bool
	lines   map[lane]*line
	seen    map[string]uint64 // the newest version of each owner
	watched map[string]bool   // keys of shells and ids of agents whose end is waited for
}

// New is a worker that has nothing to do.
func New(o Options) *Worker {
	w := &Worker{
		opts: o, slots: slots{most: o.MaxAgents}, starts: make(chan struct{}, startsAtOnce),
		lines: map[lane]*line{}, seen: map[string]uint64{}, watched: map[string]bool{},
	}
	w.running, w.stopRunning = context.WithCancel(context.Background())
	w.acting, w.stopActing = context.WithCancel(context.Background())
	return w
}

// Reattach comes first, with all owners that there are: it follows what runs for them
// already, and goes on with their effects by the rules of what is in doubt.
func (w *Worker) Reattach(owners []*engine.Owner) {
	for _, o := range owners { // all that run count before anybody is let in
		w.attach(o)
	}
	for _, o := range owners {
		w.Wake(o)
	}
}

// attach waits for the end of what an owner has running. What is yet to be started, or
// may be, is followed when that is done.
func (w *Worker) attach(o *engine.Owner) {
	starting := map[string]bool{}
	for _, e := range o.Effects {
		starting[e.Key] = true
		if e.Kind == engine.StartAgent {
			starting[e.Agent.ID] = true
			if e.Started {
				w.slots.hold(e.Agent.ID, limits(o, e.Agent.Name, e.Agent.AtMost))
			}
		}
	}
	if s := o.Shell; s != nil && !starting[s.Key] {
		w.watchShell(o.ID, s.Key)
	}
	if a := o.Agent; a != nil && !a.Exited && !starting[a.ID] {
		w.slots.hold(a.ID, limits(o, a.Name, 0))
		w.watchAgent(o.ID, a.ID)
	}
}

// limits are the places that an agent takes besides that on the machine, and how many
// have room there.
func limits(o *engine.Owner, name string, atMost int) []limit {
	all := []limit{{place{project: o.Project, name: name}, atMost}}
	if o.Plan != nil {
		all = append(all, limit{place{project: o.Project, runbook: o.Plan.Runbook}, o.Plan.MaxAgents})
	}
	return all
}

// Queued reports whether an agent waits because there is no room for it.
func (w *Worker) Queued(agent string) bool { return w.slots.waits(agent) }

// Wake takes an owner whose effects have changed. It does not block. An owner that is
// older than one that it has had is passed over.
func (w *Worker) Wake(o *engine.Owner) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || o.Version < w.seen[o.ID] {
		return
	}
	w.seen[o.ID] = o.Version
	if o.Terminal() && len(o.Effects) == 0 {
		delete(w.seen, o.ID) // it moves no more
	}
	for _, notes := range []bool{false, true} {
		w.wake(lane{o.ID, notes}, o)
	}
}

func (w *Worker) wake(which lane, o *engine.Owner) {
	l := w.lines[which]
	switch {
	case l == nil && !which.has(o):
		return
	case l == nil:
		l = &line{lane: which, mine: map[string]bool{}, changed: make(chan struct{}, 1)}
		w.lines[which] = l
	}
	l.take(o)
	if !l.working {
		l.working = true
		w.work.Go(func() { w.workOff(l) })
	}
}

// Stop begins no effect any more, and returns when those under way have been carried out
// and reported, or the context ends. What was started goes on.
func (w *Worker) Stop(ctx context.Context) error {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.stopRunning()
	idle := make(chan struct{})
	go func() {
		w.work.Wait()
		close(idle)
	}()
	defer w.stopActing()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kill ends all that runs for the owners, also what they have left and is not ended yet.
// It is for a daemon that stops with everything that it has started. The error names all
// that may go on.
func (w *Worker) Kill(ctx context.Context, owners []*engine.Owner) error {
	var all errgroup.Group
	all.SetLimit(500) // each looks at the disk, and waits for a few seconds
	var mu sync.Mutex
	var failed error

	end := func(kill func(context.Context, string) error, name string) {
		all.Go(func() error {
			if err := kill(ctx, name); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			}
			return nil // the others are to end as well
		})
	}

	for _, o := range owners {
		if o.Shell != nil {
			end(w.opts.Shells.Kill, o.Shell.Key)
		}
		if o.Agent != nil {
			end(w.opts.Agents.Kill, o.Agent.ID)
		}
		for _, e := range o.Effects {
			switch e.Kind {
			case engine.KillShell:
				end(w.opts.Shells.Kill, e.Target)
			case engine.KillAgent:
				end(w.opts.Agents.Kill, e.Target)
			}
		}
	}

	_ = all.Wait() // none fails
	if a, ok := w.opts.Agents.(ender); ok {
		failed = errors.Join(failed, a.End(ctx))
	}
	return failed
}

// ender is implemented by agents that leave something behind when the last one has ended.
type ender interface {
	End(ctx context.Context) error
}
