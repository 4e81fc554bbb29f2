package effect

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// book is a daemon, as far as a worker sees one: it keeps owners, and writes down what
// happens in the order in which it does.
type book struct {
	turn   sync.Mutex // one change of an owner at a time, as in a daemon
	mu     sync.Mutex
	owners map[string]*engine.Owner
	lines  []string
	worker *Worker
	quiet  bool                     // it tells the worker of no change
	object func(engine.Input) error // nil means that it takes everything
}

func (b *book) write(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, fmt.Sprintf(format, args...))
}

func (b *book) read() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.lines)
}

// put takes an owner as it is from now on, and tells the worker.
func (b *book) put(o *engine.Owner) {
	b.mu.Lock()
	if old := b.owners[o.ID]; old != nil {
		o.Version = old.Version + 1
	}
	b.owners[o.ID] = o
	quiet := b.quiet
	b.mu.Unlock()
	if !quiet {
		b.worker.Wake(o)
	}
}

func (b *book) owner(id string) *engine.Owner {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := *b.owners[id]
	o.Effects = slices.Clone(o.Effects)
	return &o
}

// add gives an owner more to do.
func (b *book) add(id string, effects ...engine.Effect) {
	b.turn.Lock()
	defer b.turn.Unlock()
	o := b.owner(id)
	for _, e := range effects {
		o.Effects = append(o.Effects, engine.OpenEffect{Effect: e})
	}
	b.put(o)
}

// report is what the daemon makes of an input.
func (b *book) report(_ context.Context, owner string, in engine.Input) error {
	if in.ID == "" || in.Time.IsZero() {
		return fmt.Errorf("an input without id or time: %+v", in)
	}
	if b.object != nil {
		if err := b.object(in); err != nil {
			return err
		}
	}
	b.turn.Lock()
	defer b.turn.Unlock()
	b.write("%s", account(in.What))
	o := b.owner(owner)
	if key, started := keyOf(in.What); started {
		i := slices.IndexFunc(o.Effects, func(e engine.OpenEffect) bool { return e.Key == key })
		if i < 0 {
			return &engine.Refusal{Code: "conflict", Why: "not wanted"}
		}
		o.Effects[i].Started = true
	} else {
		o.Effects = slices.DeleteFunc(o.Effects, func(e engine.OpenEffect) bool { return e.Key == key })
	}
	b.put(o)
	return nil
}

func keyOf(what engine.Happening) (key string, started bool) {
	switch h := what.(type) {
	case engine.EffectStarted:
		return h.Key, true
	case engine.EffectDone:
		return h.Key, false
	case engine.EffectFailed:
		return h.Key, false
	case engine.EffectLost:
		return h.Key, false
	case engine.WorkspaceMade:
		return h.Key, false
	case engine.WorkspaceRemoved:
		return h.Key, false
	}
	return "", false
}

func account(what engine.Happening) string {
	switch h := what.(type) {
	case engine.EffectFailed:
		return "failed " + h.Key + ": " + h.Why
	case engine.EffectLost:
		return "lost " + h.Key
	case engine.EffectStarted:
		return "started " + h.Key
	case engine.EffectDone:
		return "done " + h.Key
	case engine.WorkspaceMade:
		return fmt.Sprintf("made %s from %s", h.Key, h.Commit)
	case engine.WorkspaceRemoved:
		return fmt.Sprintf("removed %s kept=%q", h.Key, h.Kept)
	case engine.ShellExited:
		return fmt.Sprintf("exited %s %d %q lost=%v", h.Key, h.Code, h.Tail, h.Lost)
	case engine.AgentExited:
		line := fmt.Sprintf("exited %s %d gone=%v", h.AgentID, h.Code, h.Gone)
		if h.Tail != "" {
			line += fmt.Sprintf(" %q", h.Tail)
		}
		return line
	}
	return fmt.Sprintf("%T", what)
}

// world is what effects act on. Each act is written into the book.
type world struct {
	*book
	mu    sync.Mutex
	ended map[string]chan errand.Result
	act   func(what string) error     // nil means that everything succeeds
	send  func(context.Context) error // what a message does then
	held  time.Time                   // until then nobody is told anything
}

func (w *world) do(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	w.write("%s", what)
	if w.act == nil {
		return nil
	}
	return w.act(what)
}

// end is where the end of a shell or an agent comes from.
func (w *world) end(name string) chan errand.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended[name] == nil {
		w.ended[name] = make(chan errand.Result, 1)
	}
	return w.ended[name]
}

func (w *world) Wait(ctx context.Context, name string) (errand.Result, error) {
	select {
	case r := <-w.end(name):
		return r, nil
	case <-ctx.Done():
		return errand.Result{}, ctx.Err()
	}
}

func (w *world) Kill(_ context.Context, name string) error { return w.do("kill %s", name) }

func (w *world) Notify(_ context.Context, _ *engine.Owner, e engine.Effect) error {
	return w.do("notify %s %s", e.Title, e.Text)
}

func (w *world) Held(*engine.Owner) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Until(w.held)
}

type fakeShells struct{ *world }

func (f fakeShells) Start(_ context.Context, _ *engine.Owner, key string, s engine.ShellStart) error {
	return f.do("run %s %s", key, s.Script)
}

type fakeAgents struct{ *world }

func (f fakeAgents) Start(_ context.Context, _ *engine.Owner, a engine.AgentStart) error {
	return f.do("agent %s", a.ID)
}

func (f fakeAgents) Send(ctx context.Context, agent, key, text string) error {
	err := f.do("send %s %s %s", agent, key, text)
	if f.send != nil {
		return f.send(ctx)
	}
	return err
}

var _ = []any{Shells(fakeShells{}), Agents(fakeAgents{}), Notifier(&world{})}

func newWorld() *world {
	b := &book{owners: map[string]*engine.Owner{}}
	w := &world{book: b, ended: map[string]chan errand.Result{}}
	b.worker = New(Options{
		Shells: fakeShells{w}, Agents: fakeAgents{w}, Notifier: w, Workspaces: fakeWorkspaces{w}, Report: b.report, Now: time.Now,
		Trouble: func(owner string, err error) { b.write("trouble %s: %v", owner, err) },
	})
	return w
}

// open are effects of an owner.
func open(id string, effects ...engine.OpenEffect) *engine.Owner {
	return &engine.Owner{ID: id, Project: "/p", Effects: effects}
}

func fresh(e engine.Effect) engine.OpenEffect { return engine.OpenEffect{Effect: e} }

func shell(key string) engine.Effect {
	return engine.Effect{Key: key, Kind: engine.StartShell, Shell: &engine.ShellStart{Script: "make"}}
}

func agent(key, id string, atMost int) engine.Effect {
	return engine.Effect{Key: key, Kind: engine.StartAgent, Agent: &engine.AgentStart{ID: id, Name: "worker", AtMost: atMost}}
}

func aim(key string, kind engine.EffectKind, target string) engine.Effect {
	return engine.Effect{Key: key, Kind: kind, Target: target, Title: "title", Text: "text"}
}
