package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/storetest/memory"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

const (
	anID      = "0123456789abcdef"
	anotherID = "fedcba9876543210"
)

var check = checktest.OK

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// shellPlan is a pipeline of shell steps, each leading to the next.
func shellPlan(steps ...string) runbook.Plan {
	p := runbook.Pipeline{Name: "build"}
	for i, name := range steps {
		step := runbook.Step{Name: name, Run: runbook.Run{Shell: "echo " + name}}
		if i+1 < len(steps) {
			step.OnDone = steps[i+1]
		}
		p.Steps = append(p.Steps, step)
	}
	return runbook.Plan{Pipeline: p}
}

// agentPlan is a pipeline of one agent.
func agentPlan(onIdle runbook.Action) runbook.Plan {
	escalate := runbook.Action{Kind: runbook.Escalate, Attempts: 1}
	return runbook.Plan{
		Pipeline: runbook.Pipeline{Name: "work", Steps: []runbook.Step{{Name: "do", Run: runbook.Run{Agent: "coder"}}}},
		Agents: map[string]runbook.Agent{"coder": {
			Name: "coder", Run: "true", OnIdle: onIdle, OnDead: escalate, OnPrompt: escalate,
		}},
	}
}

func create(id string, plan runbook.Plan) engine.Input {
	return engine.Input{ID: "create", Time: noon, What: engine.Create{
		Owner: id, Kind: engine.Pipeline, Name: plan.Pipeline.Name, Command: "c", Project: "/p", Cwd: "/p", Plan: plan,
	}}
}

// testCore is a core over an empty store.
func testCore(s store.Store) *core {
	return newCore(s, engine.NewState(), 0, quiet(), time.Now)
}

func newMemory(t *testing.T) store.Store {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

func do(t *testing.T, c *core, id string, in engine.Input) *engine.Owner {
	t.Helper()
	o, err := c.do(t.Context(), id, in)
	check(t, err)
	return o
}

// done carries out an owner's effects as far as the core is concerned.
func done(t *testing.T, c *core, id string) *engine.Owner {
	t.Helper()
	for o := c.owner(id); len(o.Effects) > 0; o = c.owner(id) {
		key := o.Effects[0].Key
		do(t, c, id, engine.Input{ID: key + ":started", What: engine.EffectStarted{Key: key}})
		do(t, c, id, engine.Input{ID: key + ":done", What: engine.EffectDone{Key: key}})
	}
	return c.owner(id)
}

// faulty is a store whose appends can go wrong.
type faulty struct {
	store.Store
	mu     sync.Mutex
	before func(store.NewEvent) error // instead of the append
	after  func(store.NewEvent) error // of one that took place
}

func (f *faulty) set(before, after func(store.NewEvent) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

// fails lets one in so many appends fail, and of one in so many others leaves it unknown whether it took
// place.
func (f *faulty) fails(random *rand.Rand, oneIn int) {
	f.set(func(store.NewEvent) error {
		if random.IntN(oneIn) == 0 {
			return errors.New("no space left on device")
		}
		return nil
	}, func(store.NewEvent) error {
		if random.IntN(oneIn) == 0 {
			return store.ErrUnknown
		}
		return nil
	})
}

func (f *faulty) Append(ctx context.Context, e store.NewEvent) (store.Position, error) {
	f.mu.Lock()
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(e); err != nil {
			return 0, err
		}
	}
	position, err := f.Store.Append(ctx, e)
	if err == nil && after != nil {
		if err := after(e); err != nil {
			return 0, err
		}
	}
	return position, err
}

// world is what effects act on.
type world struct {
	mu      sync.Mutex
	running map[string]*worldRun
	started []string // scripts, in order
	sent    []string
	notes   []string
	taking  func(text string) // before a message has arrived
	changed chan struct{}     // closed at each change
}

// worldRun is something that was started. Its result is there once it has ended.
type worldRun struct {
	ended  chan struct{}
	result errand.Result
}

func (r *worldRun) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func newWorld() *world {
	return &world{running: map[string]*worldRun{}, changed: make(chan struct{})}
}

func (w *world) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) start(key, script string) {
	w.change(func() {
		if w.running[key] == nil {
			w.running[key] = &worldRun{ended: make(chan struct{})}
			w.started = append(w.started, script)
		}
	})
}

func (w *world) wait(ctx context.Context, key string) (errand.Result, error) {
	w.mu.Lock()
	run := w.running[key]
	w.mu.Unlock()
	if run == nil {
		return errand.Result{Lost: true}, nil
	}
	select {
	case <-run.ended:
		return run.result, nil
	case <-ctx.Done():
		return errand.Result{}, ctx.Err()
	}
}

// end ends what runs under a key, unless it has ended.
func (w *world) end(key string, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	run := w.running[key]
	if run == nil {
		return
	}

	if !run.hasEnded() {
		run.result.Code = code
		close(run.ended)
	}
}

// watchdog only ends a test that fails; nothing takes that long.
const watchdog = 3 * time.Minute

// until waits for something to be so.
func (w *world) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	late := time.After(watchdog)
	for {
		w.mu.Lock()
		is, changed := so(), w.changed
		w.mu.Unlock()
		if is {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("waited for %s", what)
		}
	}
}

type worldShells struct{ *world }

func (w worldShells) Start(_ context.Context, _ *engine.Owner, key string, s engine.ShellStart) error {
	w.start(key, s.Script)
	return nil
}

func (w worldShells) Wait(ctx context.Context, key string) (errand.Result, error) {
	return w.wait(ctx, key)
}

func (w worldShells) Kill(_ context.Context, key string) error {
	w.end(key, 143)
	return nil
}

type worldAgents struct{ *world }

func (w worldAgents) Start(_ context.Context, _ *engine.Owner, a engine.AgentStart) error {
	w.start(a.ID, a.Run)
	return nil
}

func (w worldAgents) Wait(ctx context.Context, agent string) (errand.Result, error) {
	return w.wait(ctx, agent)
}

func (w worldAgents) Kill(_ context.Context, agent string) error {
	w.end(agent, 143)
	return nil
}

func (w worldAgents) Send(_ context.Context, _, _, text string) error {
	w.mu.Lock()
	taking := w.taking
	w.mu.Unlock()
	if taking != nil {
		taking(text)
	}
	w.change(func() { w.sent = append(w.sent, text) })
	return nil
}

func (w *world) Notify(_ context.Context, _ *engine.Owner, e engine.Effect) error {
	w.change(func() { w.notes = append(w.notes, e.Title) })
	return nil
}

func (w *world) Held(*engine.Owner) time.Duration { return 0 }

// running is a daemon in this process.
type running struct {
	*world
	*daemonapi.Client
	opts  Options
	kill  context.CancelFunc
	ended chan error
}

// options are those of a daemon over a world.
func options(t *testing.T, w *world, s store.Store) Options {
	t.Helper()
	dir, err := os.MkdirTemp("", "d") // a socket's path is short
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	return Options{
		StateDir: dir, Config: filepath.Join(dir, "config.yml"), Version: "v1", Log: quiet(), Now: time.Now,
		OpenStore: func(context.Context, string) (store.Store, error) { return kept{s}, nil },
		Shells:    worldShells{w}, Agents: worldAgents{w}, Notifier: w,
	}
}

// kept is a store that outlives the daemon.
type kept struct{ store.Store }

func (kept) Close() error { return nil }

// begin starts a daemon and waits until it answers.
func begin(t *testing.T, w *world, o Options) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan error, 1), make(chan error, 1)
	o.Ready = func(err error) { ready <- err }
	go func() { ended <- Run(ctx, o) }()
	r := &running{world: w, Client: daemonapi.New(o.socket(), "v1"), opts: o, kill: cancel, ended: ended}
	t.Cleanup(func() { r.stop(t) })
	check(t, <-ready)
	return r
}

// stop ends the daemon as a signal does.
func (r *running) stop(t *testing.T) {
	t.Helper()
	r.kill()
	if r.ended == nil {
		return
	}
	check(t, <-r.ended)
	r.ended = nil
}

// keys are those of what was started, sorted.
func (w *world) keys() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.running))
}

// project is a directory with a runbook.
func project(t *testing.T, runbook string) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, ".gauntlet", "runbooks")
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "book.toml"), []byte(runbook), 0o644))
	return root
}

const twoSteps = `
[command.build]
args = "<name>"
run = { pipeline = "build" }

[pipeline.build]
vars = ["name"]

[[pipeline.build.step]]
name = "one"
run = 'echo one "${var.name}"'
on_done = "two"

[[pipeline.build.step]]
name = "two"
run = "echo two"
`

func newID(n int) string { return fmt.Sprintf("%016x", n) }
