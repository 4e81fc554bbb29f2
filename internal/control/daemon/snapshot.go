package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
)

// snapshotEvery bounds how many events are read at start.
const snapshotEvery = 10_000

// load is the state that the store's events come to.
func load(ctx context.Context, s store.Store) (*engine.State, store.Position, error) {
	state, last, err := loadSnapshot(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	for e, err := range s.ReadAll(ctx, last) {
		if err != nil {
			return nil, 0, err
		}
		last = e.Position
		id, ours := ownerOf(e.Subject)
		if !ours {
			continue
		}
		owner, err := fold(state.Owner(id), e)
		if err != nil {
			return nil, 0, err
		}
		state.Put(owner)
	}
	return state, last, nil
}

func loadSnapshot(ctx context.Context, s store.Store) (*engine.State, store.Position, error) {
	snapshot, err := s.LoadSnapshot(ctx)
	if err != nil || snapshot.Position == 0 {
		return engine.NewState(), 0, err
	}
	state, err := engine.DecodeState(snapshot.Data)
	if err != nil {
		return nil, 0, fmt.Errorf("snapshot at %d: %w", snapshot.Position, err)
	}
	return state, snapshot.Position, nil
}

// ownerOf is the owner that a subject's events are about.
func ownerOf(subject string) (id string, ours bool) {
	kind, id, _ := strings.Cut(subject, ".")
	return id, kind == string(engine.Pipeline) || kind == string(engine.AgentRun)
}

// snapshot saves the state.
func (c *core) snapshot(ctx context.Context) error {
	if err := c.settle(ctx); err != nil {
		return err
	}
	owners, at, steps, err := c.exactly()
	if err != nil || at == 0 {
		return err
	}
	data, err := engine.EncodeState(owners)
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
func (c *core) exactly() (owners []*engine.Owner, at store.Position, steps int, err error) {
	c.still.Lock()
	defer c.still.Unlock()
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.unsure) > 0 {
		return nil, 0, 0, errors.New("it is not known what became of some appends")
	}
	return c.state.Owners(), c.last, c.steps, nil
}

// settle finds out what became of the appends of which that is not known.
func (c *core) settle(ctx context.Context) error {
	c.mu.RLock()
	unsure := slices.Collect(maps.Keys(c.unsure))
	c.mu.RUnlock()
	for _, owner := range unsure {
		end, err := c.turn(ctx, owner)
		if err != nil {
			return err
		}
		_, err = c.current(ctx, owner)
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
