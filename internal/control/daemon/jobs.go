package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// comebacks are the attempts of the fleet's jobs that a daemon found when it began. The fleet may have given them up
// in the meantime, so they begin nothing new before the machine has read their jobs.
type comebacks struct {
	core *core
	mu   sync.Mutex
	held map[string]chan struct{} // by owner
}

func newComebacks(c *core) *comebacks {
	b := &comebacks{core: c, held: map[string]chan struct{}{}}
	for _, o := range c.live() {
		if o.Job != nil {
			b.held[o.ID] = make(chan struct{})
		}
	}
	return b
}

// of is closed when an owner may begin something new; nil is for one that may. What a pipeline's steps run goes with it.
func (b *comebacks) of(o *engine.Owner) <-chan struct{} {
	if o = b.core.attempt(o); o == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held[o.ID]
}

// attempt is the attempt of a job that an owner is, or is part of; nil where it is neither.
func (c *core) attempt(o *engine.Owner) *engine.Owner {
	for o != nil && o.Job == nil && o.Parent != nil {
		o = c.owner(o.Parent.ID)
	}
	if o == nil || o.Job == nil {
		return nil
	}
	return o
}

func (b *comebacks) release(owner string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if held := b.held[owner]; held != nil {
		close(held)
		delete(b.held, owner)
	}
}

// releaseAll is for a machine that is in no fleet any more.
func (b *comebacks) releaseAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for owner, held := range b.held {
		close(held)
		delete(b.held, owner)
	}
}

// machine is this machine as the fleet's jobs see it.
type machine struct {
	*plane
	comebacks *comebacks
	people    effect.Notifier
	may       func(job.Job) error // why a job is not to be run here

	mu      sync.Mutex
	shelves map[string]shelved // of the projects that jobs are for
}

// shelved is a project's runbooks, which are read again after a while: each job that waits asks for them.
type shelved struct {
	shelf shelf
	err   error
	at    time.Time
}

// shelfKept is for how long.
const shelfKept = 2 * time.Second

var _ claim.Machine = (*machine)(nil)

// home is that of the user whose daemon this is.
func (p *plane) home() string {
	return paths.Home(func(name string) string { return environ.Get(p.opts.Environ, name) })
}

// rootOf is where a project of the fleet is here; "" where it is not.
func (p *plane) rootOf(project string) string { return p.global().Fleet.Root(project, p.home()) }

// fleetName is what the fleet calls the project at a path: as the configuration says, else as its directory is called;
// "" where that cannot be a name.
func (p *plane) fleetName(root string) string {
	if name := p.global().Fleet.NameOf(root, p.home()); name != "" {
		return name
	}
	if base := filepath.Base(root); daemonapi.IsFleetName(base) {
		return base
	}
	return ""
}

func (m *machine) Labels() []string { return m.global().Fleet.Labels }

// Room is how many more jobs there is room for. A job takes a place also while no agent works for it. Where the
// configuration has no limit of agents it is one for each CPU: else the first machine that looks took all jobs.
func (m *machine) Room() int {
	room := cmp.Or(m.global().Lifecycle.MaxAgents, runtime.NumCPU())
	for _, o := range m.core.live() {
		if alive(o) || o.Job != nil {
			room--
		}
	}
	return max(room, 0)
}

// Fits is why a job cannot be started here, or what its runbook allows it to cost.
func (m *machine) Fits(_ context.Context, j job.Job) (usd float64, err error) {
	create, err := m.create(j, job.Owner(j.ID, j.Attempt+1), true)
	return create.Plan.Pipeline.Budget.USD, err
}

// create is an attempt as it is to be started.
func (m *machine) create(j job.Job, owner string, soon bool) (engine.Create, error) {
	if err := m.may(j); err != nil {
		return engine.Create{}, err
	}
	root := m.rootOf(j.Spec.Project)
	if root == "" {
		return engine.Create{}, fmt.Errorf("project %s is not mapped here", j.Spec.Project)
	}
	shelf, err := m.shelfOf(root, soon)
	if err != nil {
		return engine.Create{}, err
	}
	start := daemonapi.Start{ID: owner, Project: root, Cwd: root, Command: j.Spec.Command, Args: j.Spec.Args}
	create, err := shelf.create(start)
	if j.Spec.Worker {
		create, err = shelf.createItem(start, j.Spec.Vars)
	}
	create.By, create.Job = "job "+j.ID, &engine.Job{ID: j.ID, Again: j.Spec.OnLost == job.Again}
	return create, err
}

// shelfOf is a project's approved runbooks: any machine may add a job, so it runs nothing else. With soon they may be a little old.
func (m *machine) shelfOf(root string, soon bool) (shelf, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.shelves[root]; ok && soon && time.Since(known.at) < shelfKept {
		return known.shelf, known.err
	}
	s, err := m.approvedShelf(root)
	if m.shelves == nil {
		m.shelves = map[string]shelved{}
	}
	m.shelves[root] = shelved{s, err, time.Now()}
	return s, err
}

// Start starts an attempt. The id makes it one start.
func (m *machine) Start(ctx context.Context, owner string, j job.Job) error {
	if m.core.owner(owner) != nil {
		return nil
	}
	create, err := m.create(j, owner, false)
	if err == nil {
		create.Site = m.site(ctx, create)
		_, err = m.do(ctx, owner, engine.Input{ID: "create", What: create})
	}
	if daemonapi.Code(err) == "unavailable" {
		return fmt.Errorf("%w: %w", claim.ErrLater, err)
	}
	return asReason(err)
}

// asReason is an error in one line that others may read.
func asReason(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(clipLine(err.Error()))
}

func (m *machine) Attempt(owner string) (claim.Attempt, bool) {
	o := m.core.owner(owner)
	if o == nil {
		return claim.Attempt{}, m.core.heldFor(owner) != ""
	}
	a := claim.Attempt{Ended: o.Terminal(), USD: o.Cost().USD}
	if a.Ended {
		a.Status, a.Reason = o.Step, clipLine(whyThere(o))
	}
	return a, true
}

func (m *machine) Attempts() map[string]claim.Task {
	all := map[string]claim.Task{}
	for _, o := range m.core.live() {
		if o.Job != nil {
			all[o.ID] = claim.Task{Job: o.Job.ID, Again: o.Job.Again}
		}
	}
	return all
}

func (m *machine) Cancel(ctx context.Context, owner, why string) error {
	_, err := m.do(ctx, owner, engine.Input{ID: "job:" + why, What: engine.Cancel{Why: why}})
	return err
}

func (m *machine) Release(owner string) { m.comebacks.release(owner) }

// Tell tells people what became of a job, as of a pipeline.
func (m *machine) Tell(ctx context.Context, n claim.Notice) {
	o := &engine.Owner{Project: m.rootOf(n.Project)}
	if n.Decision != "" {
		o.Decision = &engine.Decision{ID: n.Decision}
		for _, name := range n.Options {
			o.Decision.Options = append(o.Decision.Options, engine.Option{Name: name})
		}
	}
	err := m.people.Notify(ctx, o, engine.Effect{Kind: engine.NotifyPerson, Title: plain.Line(n.Title), Text: plain.Line(n.Text), Decision: n.Decision})
	if err != nil {
		m.opts.Log.Error("cannot tell people about a job", "error", err)
	}
}

// createItem is what a worker runs for an item.
func (shelf shelf) createItem(s daemonapi.Start, vars map[string]string) (engine.Create, error) {
	for _, w := range shelf.Workers() {
		if w.Name == s.Command {
			return shelf.createOf(w.Start(vars), w.Runbook, s)
		}
	}
	return engine.Create{}, api.Refusal("invalid", "there is no worker "+s.Command+" in the runbooks", shelf.notice)
}

// checkJob is why a job of the project here could not be started, by its runbooks as they may run here: a start would be
// refused for the same reason. Where there are none, other machines know better.
func (p *plane) checkJob(root, command string, args []string) error {
	shelf, err := p.shelf(root)
	if err != nil || shelf.unapproved != nil || len(shelf.Runbooks) == 0 {
		return nil
	}
	_, err = shelf.create(daemonapi.Start{Project: root, Cwd: root, Command: command, Args: args})
	if refused, ok := errors.AsType[*api.Error](err); ok {
		failure := refused.Failure
		failure.Hint = strings.Replace(failure.Hint, "usage: stopgate start ", "usage: stopgate job add ", 1)
		return &api.Error{Failure: failure}
	}
	return err
}

// addJob adds a job for what a runbook says is one, once for an id.
func (p *plane) addJob(ctx context.Context, id, root string, says runbook.Job, spec job.Spec) (daemonapi.Job, error) {
	if spec.Project = p.fleetName(root); spec.Project == "" {
		return daemonapi.Job{}, api.Refusal("invalid", "the runbook makes a job of it, and the fleet has no name for the project "+root, "name it in the global configuration, under fleet.projects; or start it here: stopgate start --host "+daemonapi.Here+" "+spec.Command)
	}
	spec.Needs, spec.OnLost, spec.Cap = says.Needs, job.OnLost(says.OnLost), says.Cap
	if p.desk == nil {
		return daemonapi.Job{}, api.Refusal("unavailable", "this daemon does not take part in a fleet", "")
	}
	return p.desk.Add(ctx, id, spec)
}

// startJob adds a job in the place of a start: what any machine may do is not started here. It is shown as what it is
// on the machine that takes it first.
func (p *plane) startJob(ctx context.Context, s daemonapi.Start, create engine.Create, says runbook.Job) (daemonapi.Owner, error) {
	j, err := p.addJob(ctx, s.ID, create.Project, says, job.Spec{Command: s.Command, Args: s.Args})
	if err != nil {
		return daemonapi.Owner{}, err
	}
	return daemonapi.Owner{
		ID: job.Owner(j.ID, 1), Kind: string(create.Kind), Name: create.Name, Command: create.Command, Project: create.Project, Cwd: create.Cwd,
		Status: string(engine.Queued), Reason: strings.Join(j.Waits, "; "), Created: j.Added, Updated: j.Since, By: "job " + j.ID, Job: j.ID,
	}, nil
}

// jobsChanged lets the clerk look, whose items may have become jobs that ended, and pages and lists that show what
// people are asked about jobs.
func (d *daemon) jobsChanged() {
	nudge.Reader(d.items)
	d.core.news.Ring()
}

// ofJob adds to a decision of an owner which job of the fleet that works for: many may run the same command.
func (p *plane) ofJob(o *engine.Owner, d daemonapi.Decision) daemonapi.Decision {
	attempt := p.core.attempt(o)
	if attempt == nil {
		return d
	}
	d.Job = attempt.Job.ID
	if j, known := p.jobStatus(d.Job); known && j.Command != "" {
		d.JobCommand = strings.Join(append([]string{j.Command}, j.Args...), " ")
	}
	return d
}

// jobStatus is where a job stands, as far as this machine knows.
func (p *plane) jobStatus(id string) (j daemonapi.Job, known bool) {
	if p.desk == nil {
		return j, false
	}
	return p.desk.Known(id)
}
