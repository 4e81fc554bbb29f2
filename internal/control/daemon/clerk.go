package daemon

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// clerk starts what projects start by themselves. It is one process for all of them; what it has
// done is in the store, and what it was about to do when it was killed has an id that is the same
// the next time.
type clerk struct {
	*plane
	wake  chan struct{}
	count atomic.Pointer[daemonapi.ScheduleCount] // as of the last look

	sources sources
}

func newClerk(p *plane, wake chan struct{}) *clerk { return &clerk{plane: p, wake: wake} }

// clerkPause is how long the clerk sleeps at most: runbooks change, and clocks are set.
const clerkPause = 30 * time.Second

func (c *clerk) run(ctx context.Context) {
	c.sources.spawn = func(run func()) { go run() }
	defer c.sources.under.Wait()
	for {
		next := c.look(ctx)
		timer := time.NewTimer(next)
		if next == 0 {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-c.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// look does what is due, and says how long to sleep; 0 is until something changes.
func (c *clerk) look(ctx context.Context) (sleep time.Duration) {
	count := &daemonapi.ScheduleCount{}
	for _, root := range c.roots((*intake.Project).Busy) {
		n, due, next, err := c.keep(ctx, root)
		if ctx.Err() != nil {
			return 0
		}
		if count.Count += n; n > 0 && (count.Next == nil || due.Before(*count.Next)) {
			count.Next = &due
		}
		c.core.trouble.set("schedules and workers of "+plain.Line(root), err)
		pause := clerkPause
		if left := next.Sub(c.core.now()); !next.IsZero() && left < pause {
			pause = max(left, time.Millisecond)
		}
		if sleep == 0 || pause < sleep {
			sleep = pause
		}
	}
	c.count.Store(count)
	return sleep
}

// keep does what is due in a project: how many schedules it has, when the first of them is due, and when
// to look again.
func (c *clerk) keep(ctx context.Context, root string) (schedules int, due, next time.Time, err error) {
	shelf, err := c.shelf(root)
	var on bool
	c.core.browse(func(s intake.State) { on = s.Project(root).On })
	if on && err == nil {
		schedules, due, err = c.keepSchedules(ctx, shelf)
	}

	again, failed := c.keepWork(ctx, root, shelf)
	if failed != nil && again.IsZero() {
		again = c.core.now().Add(time.Second)
	}
	if next = due; next.IsZero() || !again.IsZero() && again.Before(next) {
		next = again
	}

	err = errors.Join(err, failed)
	if len(shelf.faults) > 0 {
		err = errors.Join(err, shelf.faults)
	}
	return schedules, due, next, err
}

// roots are those of the projects of a kind.
func (p *plane) roots(of func(*intake.Project) bool) (roots []string) {
	p.core.browse(func(s intake.State) {
		for _, root := range s.Roots() {
			if of(s[root]) {
				roots = append(roots, root)
			}
		}
	})
	return roots
}

// keepSchedules starts what is due in a project, and says how many schedules there are and when the
// next is due.
func (c *clerk) keepSchedules(ctx context.Context, shelf shelf) (n int, next time.Time, err error) {
	for _, s := range shelf.Scheduled() {
		if err = errors.Join(err, c.keepSchedule(ctx, shelf, s)); ctx.Err() != nil {
			return 0, time.Time{}, err
		}
		n++
		if at := s.Next(c.core.now()); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return n, next, err
}

// planOf is a schedule as the intake knows it.
func planOf(s runbook.Scheduled) intake.Plan {
	return intake.Plan{Key: s.Key(), Times: s.Cron + " " + s.Zone, Next: s.Next, Once: s.Missed == runbook.MissedOnce}
}

func (c *clerk) keepSchedule(ctx context.Context, shelf shelf, s runbook.Scheduled) error {
	plan, now := planOf(s), c.core.now()
	var turn intake.Turn
	c.core.browse(func(all intake.State) { turn = all.Project(shelf.root).Turn(plan, now) })

	fact := intake.Fact{Type: intake.ScheduleDue, Name: plan.Key, Due: turn.Due.UTC()}
	switch {
	case turn.Seen:
		fact = intake.Fact{Type: intake.ScheduleSeen, Name: plan.Key, Times: plan.Times}
	case turn.Due.IsZero():
		return nil
	case !turn.Start:
		fact.Error = "missed: the daemon was not running"
	default:
		fact.Owner = intake.OwnerOf(shelf.root, plan.Key, turn.Due)
		if err := c.begin(ctx, shelf, s, fact.Owner); daemonapi.Code(err) == "unavailable" {
			return err // it is tried again
		} else if err != nil {
			fact.Owner, fact.Error = "", plain.Line(err.Error())
		}
	}

	_, err := c.core.file(ctx, shelf.root, func(p *intake.Project) []intake.Fact {
		if !p.On {
			return nil
		}
		return []intake.Fact{fact}
	})
	return err
}

// begin starts what a schedule is about. The id makes it one start.
func (c *clerk) begin(ctx context.Context, shelf shelf, s runbook.Scheduled, id string) error {
	create, err := shelf.createOf(s.Command, s.Runbook, daemonapi.Start{ID: id, Project: shelf.root, Cwd: shelf.root, Command: s.Command.Name, Args: s.Args})
	if err != nil {
		return err
	}
	if s.Command.Job.On {
		_, err := c.addJob(ctx, id, shelf.root, s.Command.Job, job.Spec{Command: s.Command.Name, Args: s.Args})
		return err
	}
	create.By = "schedule"
	return c.create(ctx, create)
}

// create makes an owner that is not there yet.
func (c *clerk) create(ctx context.Context, create engine.Create) error {
	if c.core.owner(create.Owner) != nil {
		return nil
	}
	create.Site = c.site(ctx, create)
	_, err := c.do(ctx, create.Owner, engine.Input{ID: "create", What: create})
	return err
}

// SwitchSchedules lets the daemon keep a project's schedules, or no longer.
func (p *plane) SwitchSchedules(ctx context.Context, s daemonapi.ScheduleSwitch) ([]daemonapi.Schedule, error) {
	shelf, err := p.shelf(s.Project)
	if err != nil && s.On {
		return nil, err
	}

	root := filepath.Clean(s.Project)
	if s.On && len(shelf.Scheduled()) == 0 {
		hint := cmp.Or(shelf.notice, `add one to a command or a pipeline: schedule = "0 3 * * 1-5"`)
		return nil, api.Refusal("invalid", "the runbooks of "+root+" have no schedule", hint)
	}

	_, err = p.core.file(ctx, root, func(known *intake.Project) []intake.Fact {
		switch {
		case known.On == s.On:
			return nil
		case s.On:
			return []intake.Fact{{Type: intake.ScheduleOn}}
		}
		return []intake.Fact{{Type: intake.ScheduleOff}}
	})
	if err != nil {
		return nil, asFailure(err)
	}

	p.intakeChanged()
	return p.Schedules(ctx, root)
}

// Schedules are those of a project, or of all whose schedules are on.
func (p *plane) Schedules(_ context.Context, project string) ([]daemonapi.Schedule, error) {
	roots := []string{project}
	if project == "" {
		roots = p.roots(func(p *intake.Project) bool { return p.On })
	}
	all := []daemonapi.Schedule{}
	for _, root := range roots {
		shelf, err := p.shelf(root)
		if err != nil && project != "" {
			return nil, err
		}
		for _, s := range shelf.Scheduled() {
			all = append(all, p.scheduleView(shelf.root, s))
		}
	}
	return all, nil
}

func (p *plane) scheduleView(root string, s runbook.Scheduled) daemonapi.Schedule {
	view := daemonapi.Schedule{
		Project: root, Runbook: s.Runbook.Name, Kind: s.Kind, Name: s.Command.Name,
		Cron: s.Cron, Timezone: s.Location().String(), Missed: string(s.Missed),
	}

	p.core.browse(func(all intake.State) {
		project := all.Project(root)
		view.On = project.On
		if last := project.Schedules[s.Key()].Last; !last.Due.IsZero() {
			view.Last = &daemonapi.ScheduleRun{Due: last.Due, Owner: last.Owner, Error: last.Error}
		}
	})

	if view.Last != nil && view.Last.Owner != "" {
		view.Last.Status = "removed" // by retention
		if o := p.core.owner(view.Last.Owner); o != nil {
			view.Last.Status, view.Last.Error = status(o), whyThere(o)
		} else if j, known := p.jobStatus(view.Last.Owner); known {
			view.Last.Status, view.Last.Error = j.Status, j.Reason
		}
	}

	if view.On {
		next := s.Next(p.core.now())
		view.Next = &next
	}
	return view
}

// intakeChanged lets the clerk look, and leaves for those who ask while no daemon runs which projects
// depend on one.
func (p *plane) intakeChanged() {
	if p.clerk != nil {
		nudge.Reader(p.clerk.wake)
	}
	roots := p.roots((*intake.Project).Waits)
	p.core.trouble.set("cannot note which projects need the daemon", daemonapi.NoteDependents(p.opts.StateDir, slices.Clip(roots)))
}
