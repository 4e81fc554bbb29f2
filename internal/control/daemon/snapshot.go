package daemon

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/store"
)

// snapshotEvery bounds how many events are read at start.
const snapshotEvery = 10_000

// snapshot saves the state.
func (c *core) snapshot(ctx context.Context) error {
	if err := c.settle(ctx); err != nil {
		return err
	}
	owners, held, projects, at, steps, err := c.exactly()
	if err != nil || at == 0 {
		return err
	}
	data, err := engine.EncodeState(owners, held, projects)
	if err != nil {
		return err
	}
	if err := c.store.SaveSnapshot(ctx, store.Snapshot{Position: at, Data: data}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps -= steps
	return nil
}

// exactly is all owners as the events up to a position make them. While it looks, nothing
// is appended.
func (c *core) exactly() (owners []*engine.Owner, held map[string]string, projects intake.State, at store.Position, steps int, err error) {
	c.still.Lock()
	defer c.still.Unlock()
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.unsure)+len(c.unread) > 0 {
		return nil, nil, nil, 0, 0, errors.New("the outcome of some appends is unknown")
	}
	return c.state.Owners(), maps.Clone(c.state.Held), c.state.Intake.Clone(), c.last, c.steps, nil
}

// mark appends an event that is about no owner, and that the next snapshot is to come behind.
func (c *core) mark(ctx context.Context, e store.NewEvent) error {
	c.still.RLock()
	defer c.still.RUnlock()
	position, err := c.append(ctx, e)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, position)
	return nil
}

// settle finds out what became of the appends of which that is not known.
func (c *core) settle(ctx context.Context) error {
	c.mu.RLock()
	unsure, unread := slices.Collect(maps.Keys(c.unsure)), slices.Collect(maps.Keys(c.unread))
	c.mu.RUnlock()
	for _, root := range unread {
		if _, err := c.file(ctx, root, func(*intake.Project) []intake.Fact { return nil }); err != nil {
			return err
		}
	}
	for _, owner := range unsure {
		end, err := c.turn(ctx, owner)
		if err != nil {
			return err
		}
		_, err = c.current(ctx, owner)
		if err != nil {
			err = unlessRefused(c.examine(ctx, owner, err))
		}
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// due reports whether enough was appended for a snapshot.
func (c *core) due() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.steps >= snapshotEvery
}
