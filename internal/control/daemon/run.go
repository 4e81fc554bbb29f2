package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet"
	"github.com/stopgate/stopgate/internal/control/fleet/desk"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/metrics"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/trace"
	"github.com/stopgate/stopgate/internal/control/web"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// daemon is one life of the control plane.
type daemon struct {
	Options
	place  *place
	store  store.Store
	core   *core
	ingest *ingest
	timers *timers
	worker *effect.Worker
	people effect.Notifier
	site   atomic.Pointer[web.Site]    // nil until it can be asked for
	fleet  atomic.Pointer[fleet.Fleet] // likewise
	starts *starts
	groups *admission
	items  chan struct{} // something that was started for an item has ended
	jobs   chan struct{} // an attempt of a job may have ended, or there is room for one
	desk   *desk.Desk

	comebacks *comebacks
	spent     *spending
	logs      *logs
	config    *globalConfig

	metrics *metrics.Metrics
	traces  *trace.Exporter

	full chan struct{} // there is enough for a snapshot

	stopping sync.Once
	stopped  chan struct{} // closed when somebody wants it to end
	removed  atomic.Bool   // the state directory is no longer this daemon's

	telling sync.WaitGroup // people of owners that are held

	house sync.Mutex      // is held by who removes what has ended
	aged  map[string]bool // owners that were old at the last look
}

// Run is the daemon's life. It returns when the context ends or somebody asked for it:
// then everything that was begun is recorded, and what it started goes on without it.
func Run(ctx context.Context, o Options) error {
	place, err := hold(ctx, o.StateDir)
	if err != nil {
		o.Ready(err)
		return err
	}
	defer place.release()
	global := &globalConfig{path: o.Config, log: o.Log}
	o.logLimit = func() int64 { return global.now().Retention.LogSize }
	d := &daemon{
		place: place, Options: o.complete(), logs: &logs{stateDir: o.StateDir, limit: o.logLimit}, config: global,
		full: make(chan struct{}, 1), items: make(chan struct{}, 1), jobs: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	return d.live(ctx)
}

func (d *daemon) live(ctx context.Context) error {
	listener, err := d.begin(ctx)
	if err != nil {
		d.Ready(err)
		return errors.Join(err, d.close())
	}
	d.Log.Info("ready", "version", d.Version, "state", d.StateDir)
	d.Ready(nil)
	err = d.work(ctx, listener)
	d.Log.Info("stopping")
	return errors.Join(err, d.end())
}

// begin comes to where a daemon that was never away would be.
func (d *daemon) begin(ctx context.Context) (net.Listener, error) {
	var err error
	if d.store, err = d.OpenStore(ctx, d.database()); err != nil {
		return nil, fmt.Errorf("%w%s", err, d.remedy(err))
	}
	loaded := loader{store: d.store, despite: d.DespiteDamage}
	if err := loaded.load(ctx); err != nil {
		return nil, fmt.Errorf("%w%s", err, d.remedy(err))
	}

	d.core = newCore(d.store, loaded.state, loaded.last, d.Log, d.Now)
	d.metrics = metrics.New(d.Version, d.state)
	d.traces = d.newTraces()
	d.core.note = d.note
	d.core.appended = func(took time.Duration, err error) { countAppend(d.metrics, took, err) }
	d.spent = newSpending(d.core, d.StateDir, d.configDir, func() []config.Price { return d.config.now().Prices })
	d.warn(loaded.lost)

	// It is only read here, so that its limits do not matter.
	d.ingest = newIngest(d.core, journal.New(d.journalDir(), journal.Limits{}), d.journalDir(), process.BootID(), d.Log)
	d.ingest.read = d.followed
	for _, catchUp := range []func(context.Context) error{d.ingest.load, d.ingest.catchUp, d.exits, d.core.missChildren, d.core.caughtUp} {
		if err := catchUp(ctx); err != nil {
			return nil, err
		}
	}

	if d.DespiteDamage { // the next one need not be told again
		if err := d.core.snapshot(ctx); err != nil {
			return nil, err
		}
	}

	listener, err := api.Listen(d.socket())
	if err != nil {
		return nil, err
	}
	d.attach()
	return listener, nil
}

// exits reports the ends of agents of which something is still to be acted on: of one that is
// gone its silence means nothing.
func (d *daemon) exits(ctx context.Context) error {
	if d.Ended == nil {
		return nil
	}
	for _, o := range d.core.owners() {
		if !leftOver(o) || o.Agent.Exited || notStarted(o) || !d.Ended(o.Agent.ID) {
			continue
		}
		r, err := d.Agents.Wait(ctx, o.Agent.ID)
		if err != nil {
			return err
		}
		d.spent.changed(nil, o)
		d.spent.settle(ctx, o.Agent.ID)
		if err := unlessRefused(d.core.must(ctx, o.ID, effect.Exit(o.Agent.ID, r, d.Now()))); err != nil {
			return err
		}
	}
	return nil
}

// warn tells what opening the store found that is wrong, and not so wrong that it cannot
// be used, and what it goes on without because it was told to.
func (d *daemon) warn(lost []string) {
	if s, ok := d.store.(interface{ Found() []store.Finding }); ok {
		for _, f := range s.Found() {
			lost = append(lost, f.String())
		}
	}
	for i, text := range lost {
		d.Log.Error("the store has changed since the daemon stopped", "finding", text)
		d.core.trouble.set(fmt.Sprintf("store, finding %d", i+1), errors.New(text))
	}
}

// remedy is what a person can do about a store that cannot be used.
func (d *daemon) remedy(err error) string {
	switch {
	case errors.Is(err, store.ErrNewer):
		return ": use that version, or restore a backup of " + d.database()
	case errors.Is(err, store.ErrDamaged) && !d.DespiteDamage:
		return "; or start without what is damaged: stopgate daemon start --despite-damage"
	}
	return ""
}

// attach takes up effects and timers where the last daemon left them.
func (d *daemon) attach() {
	d.timers = newTimers(d.core)
	d.people = d.notifier()
	d.comebacks = newComebacks(d.core)

	d.worker = effect.New(effect.Options{
		Shells: d.Shells, Agents: d.Agents, Notifier: d.people, Workspaces: d.Workspaces, Children: children{d.core}, Now: d.Now,
		Report:    d.report,
		Held:      d.comebacks.of,
		MaxAgents: func() int { return d.config.now().Lifecycle.MaxAgents },
		Trouble: func(owner string, err error) {
			if err != nil {
				d.Log.Error("trying again", "owner", owner, "error", err)
			}
			d.core.trouble.set("effects of "+owner, err)
		},
	})

	d.starts = newStarts(d.core, d.Look, d.configDir)
	d.groups = newAdmission(d.core)
	d.core.changed, d.core.held = d.changed, d.tellHeld
	for subject, why := range d.core.heldOwners() {
		d.tellHeld(subject, why)
	}

	owners := slices.DeleteFunc(d.core.owners(), func(o *engine.Owner) bool { return d.core.heldFor(o.ID) != "" })
	for _, o := range owners {
		d.timers.changed(nil, o)
		d.starts.changed(o)
		d.spent.changed(nil, o)
	}
	d.worker.Reattach(owners)
}

// report takes what became of an effect. The last words of an agent that has exited are in
// the journal, and come before its exit; so does the prompt that a message has become, which
// is known as ours as long as the message is under way.
func (d *daemon) report(ctx context.Context, owner string, in engine.Input) error {
	switch e := in.What.(type) {
	case engine.EffectStarted:
		if err := d.spent.begins(ctx, d.core.owner(owner), e.Key); err != nil {
			return err
		}
	case engine.AgentExited:
		if err := d.ingest.settled(ctx); err != nil {
			return err
		}
		d.spent.settle(ctx, e.AgentID)
	case engine.EffectDone:
		if isMessage(d.core.owner(owner), e.Key) {
			if err := d.ingest.settled(ctx); err != nil {
				return err
			}
		}
	}
	return d.core.try(ctx, owner, in)
}

// isMessage reports whether an effect of an owner is a message to its agent.
func isMessage(o *engine.Owner, key string) bool {
	return o != nil && slices.ContainsFunc(o.Effects, func(e engine.OpenEffect) bool { return e.Key == key && e.Kind == engine.SendAgent })
}

// changed hands an owner that has changed to everyone who acts on it.
func (d *daemon) changed(before, after *engine.Owner) {
	d.timers.changed(before, after)
	d.worker.Wake(after)
	d.starts.changed(after)
	d.spent.changed(before, after)
	d.groups.changed(before, after)
	if part := d.fleet.Load(); part != nil {
		part.OwnerChanged(after.ID)
	}
	if after.Terminal() && strings.HasPrefix(after.By, "worker ") {
		nudge.Reader(d.items)
	}
	if after.Job != nil || before != nil && alive(before) && !alive(after) {
		nudge.Reader(d.jobs)
	}
	if d.core.due() {
		nudge.Reader(d.full)
	}
}

// note takes what has become of an owner as soon as that is durable.
func (d *daemon) note(before, after *engine.Owner, facts []engine.Fact) {
	d.write(before, after, facts)
	countSpent(d.metrics, before, facts)
}

// followed tells machines of a line of the journal.
func (d *daemon) followed(entry journal.Entry) {
	d.metrics.Read(entry.Damage != nil)
	if entry.Record != nil {
		d.metrics.Hear(entry.Record)
		d.traces.Add(entry.Record)
	}
}

// write keeps the owner's log. One that cannot be written is no reason to stop: the facts
// are in the store.
func (d *daemon) write(before, after *engine.Owner, facts []engine.Fact) {
	err := d.logs.changed(before, after, facts)
	if err != nil {
		d.Log.Error("cannot write to a log", "owner", after.ID, "error", err)
	}
	d.core.trouble.set("log of "+after.ID, err)
}

// work does everything at once until the daemon is to end.
func (d *daemon) work(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	go func() {
		select {
		case <-d.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()

	growth := &growth{dir: logDir(d.StateDir), tell: func(err error) { d.logError("cannot watch the logs", err) }}
	p := &plane{
		opts: d.Options, core: d.core, ingest: d.ingest, growth: growth, waiters: newWaiters(d.Now), queued: d.worker.Queued,
		started: d.Now(), pid: os.Getpid(), prune: d.prune, stop: d.stop, abandon: d.abandon,
		kept: func() time.Duration { return d.retention().Keep }, metrics: d.metrics.Handler(), global: d.config.now, prices: d.spent.prices,
	}

	d.desk = desk.New(desk.Options{
		Machine: &machine{plane: p, comebacks: d.comebacks, people: d.people, may: d.mayRun}, Name: p.fleetName, Check: p.checkJob,
		Log: d.Log, Now: d.Now, Wake: d.jobs, News: d.jobsChanged,
		Sign:    func(text []byte) ([]byte, error) { return member.Sign(d.StateDir, text) },
		Unheard: func() (time.Duration, bool) { return d.fleet.Load().Heart().Unheard() },
		InFleet: func() bool { _, err := member.Load(d.StateDir); return !errors.Is(err, member.ErrNone) },
	})

	p.desk, p.JobPlane = d.desk, d.desk
	p.clerk = newClerk(p, d.items)
	p.intakeChanged()

	reading, read := context.WithCancel(context.WithoutCancel(ctx))
	defer read()
	var all sync.WaitGroup
	all.Go(func() { d.ingest.follow(reading) })
	all.Go(func() { d.traces.Run(reading) })
	all.Go(func() { d.serveMetrics(ctx, p.metrics) })
	all.Go(func() { d.timers.run(ctx) })
	all.Go(func() { d.spent.run(ctx) })
	all.Go(func() { d.groups.run(ctx) })
	all.Go(func() { p.clerk.run(ctx) })
	defer d.starts.end()
	all.Go(func() { d.keepHouse(ctx) })

	part := d.newFleet(p)
	d.fleet.Store(part)
	site := web.New(web.Options{Plane: fleetSite{part.Merged(), p}, StateDir: d.StateDir, Version: d.Version, Log: d.Log, Now: d.Now})
	p.ui, p.seen = site.Control, site.Seen
	site.Begin(ctx)
	d.site.Store(site)
	all.Go(site.Wait)

	handler := api.New(part.Merged(), d.Version)
	d.joinFleet(ctx, &all)
	all.Go(func() { d.guard(ctx, listener, handler) })

	err := api.Serve(ctx, listener, handler)
	cancel()
	d.finish(context.WithoutCancel(ctx)) // of what an effect has led to, the journal tells
	read()
	all.Wait()
	return err
}

// How long each part of the end may take. What is not done by then is in doubt for the
// next daemon, like after a crash.
const (
	effectPatience = 10 * time.Second // for effects under way
	killPatience   = 15 * time.Second // for what is to end as well: whoever asked waits, half a minute
	savePatience   = 10 * time.Second
)

// stop makes the daemon end. With kill, what it started ends first, and the error says
// what did not. The next daemon learns how it ended, and goes on from there.
func (d *daemon) stop(ctx context.Context, kill bool) error {
	defer d.stopping.Do(func() { close(d.stopped) })
	if !kill {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // it is not begun by halves
	d.finish(ctx)
	ctx, cancel := context.WithTimeout(ctx, killPatience)
	defer cancel()
	if err := d.worker.Kill(ctx, d.core.owners()); err != nil {
		d.Log.Error("cannot end a command or an agent", "error", err)
		return api.Refusal("conflict", "the daemon stops, but some commands or agents may still run: "+plain.Line(err.Error()), "the next daemon picks them up")
	}
	return nil
}

// finish carries out the effects that are under way.
func (d *daemon) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, effectPatience)
	defer cancel()
	if err := d.worker.Stop(ctx); err != nil {
		d.Log.Error("some effects were not finished", "error", err)
	}
}

// end saves how far everything is. Where the state directory is another's by now, nothing
// may be written there, and a store that is closed writes.
func (d *daemon) end() error {
	if d.removed.Load() {
		return errRemoved
	}
	d.telling.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), savePatience)
	defer cancel()
	if err := d.core.snapshot(ctx); err != nil {
		d.Log.Error("cannot save a snapshot", "error", err)
	}
	if err := d.ingest.save(ctx); err != nil {
		d.Log.Error("cannot record the position in the journal", "error", err)
	}
	return d.close()
}

func (d *daemon) close() error {
	if d.store == nil {
		return nil
	}
	return d.store.Close()
}
