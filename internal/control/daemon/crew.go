package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// crew is one worker of a project, with the runbooks that it comes from.
type crew struct {
	runbook.WorkerFound
	shelf shelf
}

func (w crew) known() intake.Crew {
	return intake.Crew{Name: w.Name, Queue: w.Queue.Name, Limit: w.Limit}
}

// keepWork lets the workers of a project work, and says when to look again.
func (c *clerk) keepWork(ctx context.Context, root string, shelf shelf) (next time.Time, err error) {
	crews := map[string]crew{}
	for _, w := range shelf.Workers() {
		if _, twice := crews[w.Name]; twice {
			err = errors.Join(err, fmt.Errorf("worker %q is in several runbooks: rename one", w.Name))
			continue
		}
		crews[w.Name] = crew{w, shelf}
	}
	err = errors.Join(err, c.settleItems(ctx, root, crews))

	var started []string
	c.core.browse(func(s intake.State) {
		for name := range s.Project(root).Workers {
			started = append(started, name)
		}
		next = s.Project(root).Wakes(c.core.now())
	})
	slices.Sort(started)

	for _, name := range started {
		w, known := crews[name]
		if !known {
			err = errors.Join(err, fmt.Errorf("worker %q was started, but is not in the runbooks", name))
			continue
		}
		if at := c.ask(ctx, root, w); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
		err = errors.Join(err, c.dispatch(ctx, root, w))
		err = errors.Join(err, c.forgetItems(ctx, root, w.Queue.Name, func(i *intake.Item) bool { return i.Key == "" }))
	}
	return next, err
}

// settleItems finds out what became of the items that something was started for.
func (c *clerk) settleItems(ctx context.Context, root string, crews map[string]crew) (failed error) {
	var running []intake.Item
	c.core.browse(func(s intake.State) {
		for _, i := range s.Project(root).Running() {
			running = append(running, *i)
		}
	})

	for _, i := range running {
		w, known := crews[i.Worker]
		o := c.core.owner(i.Owner)
		if o == nil && w.Job.On {
			failed = errors.Join(failed, c.settleJob(ctx, root, w, i))
			continue
		}
		switch {
		case o == nil && c.core.heldFor(i.Owner) != "":
		case o == nil && known: // the daemon was killed before it was started
			failed = errors.Join(failed, c.beginItem(ctx, root, w, i))
		case o == nil:
			failed = errors.Join(failed, c.fileItem(ctx, root, i, intake.Fact{Type: intake.ItemReturned, Error: fmt.Sprintf("worker %q is not in the runbooks", i.Worker)}))
		case o.Terminal() && c.core.heldFor(o.ID) == "":
			failed = errors.Join(failed, c.fileItem(ctx, root, i, c.resultOf(w, i, o, known)))
		}
	}
	return failed
}

// settleJob finds out what became of the job that was added for an item. Without a fleet that is not known, and waits.
func (c *clerk) settleJob(ctx context.Context, root string, w crew, i intake.Item) error {
	j, known := c.jobStatus(i.Owner)
	switch {
	case !known: // the daemon was killed before it was added, or is not linked to the fleet yet
		return c.beginItem(ctx, root, w, i)
	case j.Status == runbook.EndDone:
		return c.fileItem(ctx, root, i, intake.Fact{Type: intake.ItemDone})
	case j.Status == runbook.EndCancelled:
		return c.fileItem(ctx, root, i, intake.Fact{Type: intake.ItemFailed, Error: "cancelled: " + clipLine(j.Reason)})
	case j.Status == runbook.EndFailed:
		return c.fileItem(ctx, root, i, c.failure(w, i, cmp.Or(j.Reason, j.Status), true))
	}
	return nil
}

// resultOf is how an item ended.
func (c *clerk) resultOf(w crew, i intake.Item, o *engine.Owner, known bool) intake.Fact {
	why := plain.Line(cmp.Or(whyThere(o), o.Step))
	switch {
	case o.Step == runbook.EndDone:
		return intake.Fact{Type: intake.ItemDone}
	case o.Step == runbook.EndCancelled:
		return intake.Fact{Type: intake.ItemFailed, Error: "cancelled: " + why}
	}
	return c.failure(w, i, why, known)
}

// failure is an item that failed: it is tried again as its queue says.
func (c *clerk) failure(w crew, i intake.Item, why string, known bool) intake.Fact {
	f := intake.Fact{Type: intake.ItemFailed, Error: clipLine(why)}
	if attempt := i.Failures + 1; !known || attempt < w.Queue.Attempts() {
		f.Ready = c.core.now().UTC().Round(0).Add(max(w.Queue.Retry.Pause(attempt), time.Millisecond))
	}
	return f
}

// clipLine is as much of a line as a fact is to have.
func clipLine(text string) string { return plain.Clip(plain.Line(text), 2000) }

// fileItem puts a fact on record about an item that is as it was.
func (c *clerk) fileItem(ctx context.Context, root string, was intake.Item, f intake.Fact) error {
	f.ID = was.ID
	_, err := c.core.file(ctx, root, func(p *intake.Project) []intake.Fact {
		if i := p.Items[was.ID]; i == nil || i.State != was.State || i.Takes != was.Takes {
			return nil
		}
		return []intake.Fact{f}
	})
	return err
}

// dispatch lets a worker take the items that it has room for. That it took one is on record before
// anything is started for it.
func (c *clerk) dispatch(ctx context.Context, root string, w crew) error {
	var items []intake.Item
	c.core.browse(func(s intake.State) {
		for _, i := range s.Project(root).Next(w.known(), c.core.now()) {
			items = append(items, *i)
		}
	})

	for _, i := range items {
		var taken *intake.Item
		_, err := c.core.file(ctx, root, func(p *intake.Project) []intake.Fact {
			for _, next := range p.Next(w.known(), c.core.now()) {
				if next.ID == i.ID {
					f := p.Take(w.known(), next)
					one := *next
					one.State, one.Owner, one.Worker, one.Takes = intake.Running, f.Owner, f.Worker, next.Takes+1
					taken = &one
					return []intake.Fact{f}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if taken == nil {
			continue // it is not there any more
		}
		if err := c.beginItem(ctx, root, w, *taken); err != nil {
			return err
		}
	}
	return nil
}

// beginItem starts what a worker took an item for. The owner's id makes it one start. What cannot be
// started fails, and is tried again as the queue says.
func (c *clerk) beginItem(ctx context.Context, root string, w crew, i intake.Item) error {
	create, err := w.shelf.createOf(w.Start(i.Vars), w.Runbook, daemonapi.Start{ID: i.Owner, Project: root, Cwd: root, Command: w.Name})
	if err == nil && w.Job.On {
		_, err = c.addJob(ctx, i.Owner, root, w.Job, job.Spec{Command: w.Name, Worker: true, Vars: i.Vars})
	} else if err == nil {
		create.By = "worker " + w.Name
		err = c.create(ctx, create)
	}
	if err == nil || daemonapi.Code(err) == "unavailable" {
		return err
	}
	return c.fileItem(ctx, root, i, c.failure(w, i, "not started: "+err.Error(), true))
}

// forgetItems removes items of a queue that were done so long ago that they are not kept. One whose key
// may still come again is, so that it is not taken twice: gone says which may not.
func (c *clerk) forgetItems(ctx context.Context, root, queue string, gone func(*intake.Item) bool) error {
	if c.kept == nil {
		return nil
	}
	before := c.core.now().Add(-c.kept())
	_, err := c.core.file(ctx, root, func(p *intake.Project) (facts []intake.Fact) {
		for _, i := range p.InOrder() {
			if i.Queue == queue && i.State == intake.Done && i.Updated.Before(before) && gone(i) && len(facts) < mostForgotten {
				facts = append(facts, intake.Fact{Type: intake.ItemDropped, ID: i.ID})
			}
		}
		return facts
	})
	return err
}

// mostForgotten is how many items one event removes.
const mostForgotten = 1000

// busy are the owners that an item waits for: what they ended as is to be known before they go.
func (c *core) busy() map[string]bool {
	owners := map[string]bool{}
	c.browse(func(s intake.State) {
		for _, p := range s {
			for _, i := range p.Running() {
				owners[i.Owner] = true
			}
		}
	})
	return owners
}

// giveUpItems lets the items be dead that something was started for which is to be given up. That comes
// first: for an item whose pipeline is not there, it would be started under the same id.
func (c *core) giveUpItems(ctx context.Context, owner string) (failed error) {
	var roots []string
	c.browse(func(s intake.State) { roots = s.Roots() })
	for _, root := range roots {
		_, err := c.file(ctx, root, func(p *intake.Project) (facts []intake.Fact) {
			for _, i := range p.Running() {
				if i.Owner == owner {
					facts = append(facts, intake.Fact{Type: intake.ItemFailed, ID: i.ID, Error: "its pipeline was given up, because the record of it is damaged"})
				}
			}
			return facts
		})
		failed = errors.Join(failed, err)
	}
	return failed
}

// sources are the commands that list items.
type sources struct {
	mu    sync.Mutex
	known map[string]*sourceState // by project and queue
	under sync.WaitGroup
	spawn func(func()) // runs one beside the clerk; nil runs it at once
}

// sourceState is when a source was asked last, and what is wrong with it.
type sourceState struct {
	at      time.Time
	running bool
	fault   string
}

// of is what is known of a source.
func (s *sources) of(root, queue string) *sourceState {
	if s.known == nil {
		s.known = map[string]*sourceState{}
	}
	key := root + "\n" + queue
	if s.known[key] == nil {
		s.known[key] = &sourceState{}
	}
	return s.known[key]
}

// due reports whether it is time to ask a source, which is noted, and when it is the next time. While the
// source is being asked that is not known: its end wakes the clerk.
func (s *sources) due(root string, q runbook.Queue, now time.Time) (bool, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.of(root, q.Name)
	switch {
	case state.running:
		return false, time.Time{}
	case !state.at.IsZero() && now.Sub(state.at).Abs() < q.Source.Every:
		return false, state.at.Add(q.Source.Every)
	}
	state.running, state.at = true, now
	return true, now.Add(q.Source.Every)
}

func (s *sources) done(root, queue string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.of(root, queue)
	state.running, state.fault = false, ""
	if err != nil {
		state.fault = clipLine(err.Error())
	}
}

// ask asks the source of a worker's queue where it is time for that, and says when it is the next time.
func (c *clerk) ask(ctx context.Context, root string, w crew) (next time.Time) {
	if w.Queue.Source.Command == "" {
		return time.Time{}
	}
	due, next := c.sources.due(root, w.Queue, c.core.now())
	if !due {
		return next
	}

	run := func() {
		err := c.fetch(ctx, root, w)
		c.sources.done(root, w.Queue.Name, err)
		if ctx.Err() == nil {
			c.core.trouble.set("source of queue "+w.Queue.Name+" in "+plain.Line(root), err)
		}
		nudge.Reader(c.wake)
	}

	if c.sources.spawn == nil {
		run()
		return next
	}
	c.sources.under.Add(1)
	c.sources.spawn(func() {
		defer c.sources.under.Done()
		run()
	})
	return next
}

const (
	sourcePatience = 2 * time.Minute // with a command that lists items
	sourceSize     = 16 << 20        // of what it prints
	maxListed      = 10_000          // items
)

// fetch has a source list its items, and adds those that are new.
func (c *clerk) fetch(ctx context.Context, root string, w crew) error {
	script := w.shelf.pin(runbook.Plan{Pipeline: runbook.Pipeline{Steps: []runbook.Step{{Run: runbook.Run{Shell: w.Queue.Source.Command}}}}}, root).Pipeline.Steps[0].Run.Shell
	r := process.Run(ctx, process.Command{Args: process.Shell(script), Dir: root, Env: c.opts.Environ, Timeout: sourcePatience, Lines: 5, KeepStdout: sourceSize + 1})
	switch {
	case !r.OK():
		return fmt.Errorf("%s: %s%s", firstLine(w.Queue.Source.Command), r, because(plain.Line(r.Tail)))
	case len(r.Stdout) > sourceSize:
		return fmt.Errorf("%s: prints more than %d MiB", firstLine(w.Queue.Source.Command), sourceSize>>20)
	}

	listed, err := daemonapi.ParseItems(r.Stdout)
	if len(listed) > maxListed {
		err = fmt.Errorf("%d items; at most %d", len(listed), maxListed)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", firstLine(w.Queue.Source.Command), err)
	}

	var wrong error
	var fit []map[string]string
	for n, values := range listed {
		one, err := intake.Fit(values, w.Queue.Vars, w.Queue.Defaults, false)
		if err == nil && keyOf(w.Queue, one) == "" {
			err = fmt.Errorf("its key %q is empty", w.Queue.Key)
		}
		if err != nil {
			wrong = cmp.Or(wrong, fmt.Errorf("%s: item %d: %w", firstLine(w.Queue.Source.Command), n+1, err))
			continue
		}
		fit = append(fit, one)
	}

	if _, err := c.addItems(ctx, root, w.Queue, fit, nil); err != nil {
		return err
	}

	keys := map[string]bool{}
	for _, values := range listed {
		keys[keyOf(w.Queue, values)] = true
	}
	if err := c.forgetItems(ctx, root, w.Queue.Name, func(i *intake.Item) bool { return i.Key != "" && !keys[i.Key] }); err != nil {
		return err
	}
	return wrong
}

// addItems puts items into a queue that are not in it: by their keys, else by the ids that they are
// given. It returns the ids of all.
func (p *plane) addItems(ctx context.Context, root string, queue runbook.Queue, values []map[string]string, ids []string) (all []string, err error) {
	for _, some := range intake.Portions(values) {
		added, err := p.addPortion(ctx, root, queue, some, ids[min(len(all), len(ids)):])
		if err != nil {
			return nil, err
		}
		all = append(all, added...)
	}
	return all, nil
}

func (p *plane) addPortion(ctx context.Context, root string, queue runbook.Queue, values []map[string]string, ids []string) (all []string, err error) {
	_, err = p.core.file(ctx, root, func(known *intake.Project) (facts []intake.Fact) {
		keys := known.Keys(queue.Name)
		for n, vars := range values {
			key, id := keyOf(queue, vars), ""
			if n < len(ids) {
				id = ids[n]
			}
			if key != "" {
				id = cmp.Or(keys[key], id, intake.ID("key", root, queue.Name, key))
			}
			all = append(all, id)
			if known.Items[id] != nil || key != "" && keys[key] != "" {
				continue
			}
			keys[key] = id
			facts = append(facts, intake.Fact{Type: intake.ItemAdded, ID: id, Queue: queue.Name, Key: key, Vars: vars})
		}
		return facts
	})
	return all, err
}

// keyOf is what tells an item apart.
func keyOf(q runbook.Queue, vars map[string]string) string {
	if q.Key == "" {
		return ""
	}
	return cmp.Or(vars[q.Key], q.Defaults[q.Key])
}
