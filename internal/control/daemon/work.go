package daemon

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// listedItem is an item before it is shown.
type listedItem struct {
	root string
	*intake.Item
}

// place is where the item stands among all, those of one moment by their order in the queue.
func (i listedItem) place() api.Place {
	return api.Place{Time: i.Added, ID: fmt.Sprintf("%016x-%s", ^i.Serial, i.ID)}
}

// Work are the items of queues, the newest first.
func (p *plane) Work(_ context.Context, q *api.Query) (page api.Page[daemonapi.WorkItem], err error) {
	p.core.browse(func(s intake.State) {
		wanted := func(yield func(listedItem) bool) {
			for i := range itemsOf(s) {
				if api.Is(q.Project, i.root) && api.Is(q.Queue, i.Queue) && q.Allows(string(i.State)) && q.AllowsTime(i.Added) && !yield(i) {
					return
				}
			}
		}
		page = api.View(api.PageOf(wanted, listedItem.place, q), func(i listedItem) daemonapi.WorkItem { return itemView(i.root, i.Item) })
	})
	return page, nil
}

// itemsOf are all items, in any order.
func itemsOf(s intake.State) iter.Seq[listedItem] {
	return func(yield func(listedItem) bool) {
		for root, project := range s {
			for _, i := range project.Items {
				if !yield(listedItem{root, i}) {
					return
				}
			}
		}
	}
}

func itemView(root string, i *intake.Item) daemonapi.WorkItem {
	view := daemonapi.WorkItem{
		ID: i.ID, Project: root, Queue: i.Queue, Key: i.Key, Vars: i.Vars, State: string(i.State), Worker: i.Worker, Owner: i.Owner,
		Failures: i.Failures, Error: i.Error, Added: i.Added, Updated: i.Updated,
	}
	if !i.Ready.IsZero() {
		ready := i.Ready
		view.Ready = &ready
	}
	return view
}

// WorkItem finds an item by its id or the beginning of it.
func (p *plane) WorkItem(_ context.Context, id string) (item daemonapi.WorkItem, err error) {
	p.core.browse(func(s intake.State) {
		var found []listedItem
		for i := range itemsOf(s) {
			if i.ID == id {
				found = []listedItem{i}
				break
			}
			if id != "" && strings.HasPrefix(i.ID, id) {
				found = append(found, i)
			}
		}
		item, err = onlyItem(id, found)
	})
	return item, err
}

// onlyItem refuses an id that does not mean exactly one item.
func onlyItem(id string, found []listedItem) (daemonapi.WorkItem, error) {
	switch len(found) {
	case 0:
		return daemonapi.WorkItem{}, api.Refusal("not_found", fmt.Sprintf("there is no item %.80q", id), "stopgate work list")
	case 1:
		return itemView(found[0].root, found[0].Item), nil
	}
	slices.SortFunc(found, func(a, b listedItem) int { return b.place().Compare(a.place()) })
	var lines []string
	for _, i := range found {
		lines = append(lines, fmt.Sprintf("  %s  item of %s, %s", i.ID, plain.Line(i.Queue), i.State))
	}
	return daemonapi.WorkItem{}, api.Ambiguous(id, lines)
}

// AddWork puts items into a queue. One that is there by its key, or by its id, is not added again.
func (p *plane) AddWork(ctx context.Context, w daemonapi.AddWork) ([]daemonapi.WorkItem, error) {
	shelf, err := p.shelf(w.Project)
	if err != nil {
		return nil, err
	}
	queue, err := shelf.queue(w.Queue)
	if err != nil {
		return nil, err
	}

	var values []map[string]string
	var ids []string
	for n, item := range w.Items {
		fit, err := intake.Fit(item.Vars, queue.Vars, queue.Defaults, true)
		if err == nil && queue.Key != "" && keyOf(queue, fit) == "" {
			err = fmt.Errorf("its key %q is empty", queue.Key)
		}
		if err != nil {
			return nil, api.Refusal("invalid", fmt.Sprintf("item %d: %v", n+1, err), "usage: stopgate work add "+queue.Name+" "+strings.Join(queue.Vars, "=… ")+"=…")
		}
		values, ids = append(values, fit), append(ids, item.ID)
	}

	added, err := p.addItems(ctx, shelf.root, queue, values, ids)
	if err != nil {
		return nil, asFailure(err)
	}
	p.intakeChanged()

	views := []daemonapi.WorkItem{}
	p.core.browse(func(s intake.State) {
		items := s.Project(shelf.root).Items
		for _, id := range added {
			if i := items[id]; i != nil { // else a person dropped it already
				views = append(views, itemView(shelf.root, i))
			}
		}
	})
	return views, nil
}

// queue is the one with a name.
func (s shelf) queue(name string) (runbook.Queue, error) {
	var known []string
	var found []runbook.QueueFound
	for _, q := range s.Queues() {
		known = append(known, q.Name)
		if q.Name == name {
			found = append(found, q)
		}
	}
	switch {
	case len(found) == 1:
		return found[0].Queue, nil
	case len(found) > 1:
		return runbook.Queue{}, api.Refusal("invalid", fmt.Sprintf("queue %q is in several runbooks", name), "rename one of them")
	case len(s.faults) > 0:
		return runbook.Queue{}, api.Refusal("invalid", s.faults.Error(), "see: stopgate runbook check")
	}
	return runbook.Queue{}, api.Refusal("invalid", fmt.Sprintf("there is no queue %.80q", name), cmp.Or(document.OrValid("queue", name, known), "no runbook of this project defines a queue"))
}

// RetryWork lets an item be tried again that failed or is dead.
func (p *plane) RetryWork(ctx context.Context, id string) (daemonapi.WorkItem, error) {
	return p.changeItem(ctx, id, intake.ItemRetried, "only an item that failed or is dead can be retried", intake.Failed, intake.Dead)
}

// DropWork removes an item that nothing runs for.
func (p *plane) DropWork(ctx context.Context, id string) (daemonapi.WorkItem, error) {
	return p.changeItem(ctx, id, intake.ItemDropped, "cancel its pipeline first: stopgate pipeline cancel", intake.Pending, intake.Failed, intake.Dead, intake.Done)
}

// triedAgain is the item that an owner failed for and that waits for its next attempt, or "".
func (p *plane) triedAgain(owner string) (item string) {
	p.core.browse(func(s intake.State) {
		for i := range itemsOf(s) {
			if i.Owner == owner && i.State == intake.Failed {
				item = i.ID
			}
		}
	})
	return item
}

// changeItem does what a person wants with an item that is in one of the states.
func (p *plane) changeItem(ctx context.Context, id string, to intake.Type, hint string, from ...intake.Standing) (daemonapi.WorkItem, error) {
	view, err := p.WorkItem(ctx, id)
	if err != nil {
		return view, err
	}

	changed, err := p.core.file(ctx, view.Project, func(known *intake.Project) []intake.Fact {
		i := known.Items[view.ID]
		if i == nil || !i.Is(from...) {
			return nil
		}
		return []intake.Fact{{Type: to, ID: i.ID}}
	})
	switch {
	case err != nil:
		return view, asFailure(err)
	case changed == 0:
		return view, api.Refusal("conflict", "the item is "+view.State, hint)
	}

	p.intakeChanged()
	if now, err := p.WorkItem(ctx, view.ID); err == nil {
		return now, nil
	}
	return view, nil
}

// Workers are those of a project, or of all projects with some that were started.
func (p *plane) Workers(_ context.Context, project string) ([]daemonapi.Worker, error) {
	roots := []string{project}
	if project == "" {
		roots = p.roots(func(p *intake.Project) bool { return len(p.Workers) > 0 })
	}
	all := []daemonapi.Worker{}
	for _, root := range roots {
		shelf, err := p.shelf(root)
		if err != nil && project != "" {
			return nil, err
		}
		for _, w := range shelf.Workers() {
			all = append(all, p.workerView(shelf.root, w))
		}
	}
	return all, nil
}

func (p *plane) workerView(root string, w runbook.WorkerFound) daemonapi.Worker {
	view := daemonapi.Worker{Project: root, Runbook: w.Runbook.Name, Name: w.Name, Queue: w.Queue.Name, Pipeline: w.Run.Pipeline, Limit: w.Limit}
	p.core.browse(func(s intake.State) {
		project := s.Project(root)
		view.On = project.Workers[w.Name]
		for _, i := range project.Items {
			if i.Queue != w.Queue.Name {
				continue
			}
			switch i.State {
			case intake.Running:
				view.Running++
			case intake.Dead:
				view.Dead++
			case intake.Pending, intake.Failed:
				view.Pending++
			}
		}
	})
	if w.Queue.Source.Command != "" {
		view.Source = p.sourceView(root, w)
	}
	return view
}

func (p *plane) sourceView(root string, w runbook.WorkerFound) *daemonapi.WorkSource {
	view := &daemonapi.WorkSource{Command: w.Queue.Source.Command, Every: w.Queue.Source.Every.Seconds()}
	if p.clerk == nil {
		return view
	}
	p.clerk.sources.mu.Lock()
	defer p.clerk.sources.mu.Unlock()
	if state := p.clerk.sources.of(root, w.Queue.Name); !state.at.IsZero() {
		at := state.at.UTC().Round(time.Second)
		view.Asked, view.Error = &at, state.fault
	}
	return view
}

// SwitchWorker lets a worker work, or no longer.
func (p *plane) SwitchWorker(ctx context.Context, s daemonapi.WorkerSwitch) (daemonapi.Worker, error) {
	shelf, err := p.shelf(s.Project)
	if err != nil && s.On {
		return daemonapi.Worker{}, err
	}

	root := filepath.Clean(s.Project)
	found := runbook.WorkerFound{Worker: runbook.Worker{Name: s.Name}}
	known := []string{}
	for _, w := range shelf.Workers() {
		known = append(known, w.Name)
		if w.Name == s.Name {
			found = w
		}
	}
	if found.Queue.Name == "" && s.On {
		return daemonapi.Worker{}, api.Refusal("invalid", fmt.Sprintf("there is no worker %.80q", s.Name), cmp.Or(document.OrValid("worker", s.Name, known), "no runbook of this project defines a worker"))
	}

	changed, err := p.core.file(ctx, root, func(known *intake.Project) []intake.Fact {
		switch {
		case known.Workers[s.Name] == s.On:
			return nil
		case s.On:
			return []intake.Fact{{Type: intake.WorkerStarted, Name: s.Name}}
		}
		return []intake.Fact{{Type: intake.WorkerStopped, Name: s.Name}}
	})
	switch {
	case err != nil:
		return daemonapi.Worker{}, asFailure(err)
	case changed == 0 && found.Queue.Name == "":
		return daemonapi.Worker{}, api.Refusal("invalid", fmt.Sprintf("there is no worker %.80q", s.Name), cmp.Or(document.OrValid("worker", s.Name, known), "no runbook of this project defines a worker"))
	}

	p.intakeChanged()
	return p.workerView(root, found), nil
}
