package daemon

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// children are the pipelines that steps of others run. A child, its cancel and what its parent hears of
// it have ids that are the same each time, so that nothing happens twice.
type children struct{ core *core }

func (c children) Start(ctx context.Context, parent *engine.Owner, id string) error {
	create, known := parent.Child(id)
	if !known {
		return nil // its step was left
	}
	return forGood(c.core.try(ctx, id, engine.Input{ID: "create", What: create}))
}

// Cancel cancels a child. Of one that is not there nothing runs.
func (c children) Cancel(ctx context.Context, id, key, why string) error {
	if c.core.known(id) == nil {
		return &errand.Failure{Why: "there is no such pipeline"}
	}
	return forGood(c.core.try(ctx, id, engine.Input{ID: key, What: engine.Cancel{Why: why}}))
}

// Report tells a parent how far its child is. One that is gone, or that is held, hears nothing.
func (c children) Report(ctx context.Context, child *engine.Owner, key string) error {
	return unlessRefused(c.core.try(ctx, child.Parent.ID, engine.Input{ID: key, What: child.Report()}))
}

// forGood makes a failure of a refusal.
func forGood(err error) error {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return &errand.Failure{Why: refusal.Why}
	}
	return err
}

// parentsHear waits until the parents of an owner know how far it is, for a moment: a person who
// answers for a child, and then looks at its parent, sees that it goes on.
func (c *core) parentsHear(ctx context.Context, o *engine.Owner) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for o != nil && o.Parent != nil {
		news := c.news.Rung()
		now := c.owner(o.ID)
		if now == nil || !slices.ContainsFunc(now.Effects, reports) {
			o = c.owner(o.Parent.ID)
			continue
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

func reports(e engine.OpenEffect) bool { return e.Kind == engine.ReportToParent }

// cancelChildren cancels what runs for the steps of an owner that is given up: nothing else would end it,
// and lists do not show what has a parent.
func (c *core) cancelChildren(ctx context.Context, id string) (failed error) {
	var all []*engine.Owner
	c.look(func(s *engine.State) { all = s.Children(id) })
	for _, child := range all {
		err := c.try(ctx, child.ID, engine.Input{ID: "given-up:" + id, What: engine.Cancel{Why: "the pipeline that it is part of was given up"}})
		failed = errors.Join(failed, unlessRefused(err))
	}
	return failed
}

// missChildren tells pipelines of children that run by their record, and are not there: they were given
// up, or their record is lost.
func (c *core) missChildren(ctx context.Context) error {
	for _, o := range c.owners() {
		if o.Offspring == nil || !o.Offspring.Open {
			continue
		}
		for _, child := range o.Offspring.Children {
			if !child.Runs() || c.known(child.ID) != nil || slices.ContainsFunc(o.Effects, startsChild(child.ID)) {
				continue
			}
			lost := engine.ChildReported{ID: child.ID, State: engine.ChildFailed, Why: "its record is damaged, and it was given up"}
			if err := unlessRefused(c.must(ctx, o.ID, engine.Input{ID: "missing:" + child.ID, What: lost})); err != nil {
				return err
			}
		}
	}
	return nil
}

func startsChild(id string) func(engine.OpenEffect) bool {
	return func(e engine.OpenEffect) bool { return e.Kind == engine.StartChild && e.Target == id }
}
