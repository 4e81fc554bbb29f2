package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// file puts on record what is to be known of a project: what decide says when it sees the project as
// the store has it. When the error is nil, that is in the store. The number is how many facts there
// were.
func (c *core) file(ctx context.Context, root string, decide func(*intake.Project) []intake.Fact) (int, error) {
	subject := intake.Subject(root)
	end, err := c.turn(ctx, subject)
	if err != nil {
		return 0, err
	}
	defer end()

	if err := c.reread(ctx, root); err != nil {
		return 0, err
	}

	var step intake.Step
	var version store.Position
	c.browse(func(s intake.State) {
		p := s.Project(root)
		step = intake.Step{Project: root, Time: c.now().UTC().Round(0), Facts: decide(p)}
		version = store.Position(p.Version)
	})
	if len(step.Facts) == 0 {
		return 0, nil
	}

	data, err := intake.Encode(step)
	if err != nil {
		return 0, err
	}

	c.still.RLock()
	defer c.still.RUnlock()
	position, err := c.append(ctx, store.NewEvent{Subject: subject, ID: "intake-" + journal.NewID(), Expected: version, Data: data})
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.state.Intake.Apply(step, uint64(position))
		c.last = max(c.last, position)
		c.steps++
	case errors.Is(err, store.ErrUnknown), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrDuplicate):
		c.unread[root] = true
	}
	c.trouble.set("store", err)
	return len(step.Facts), err
}

// reread adds to a project what the store has of it besides, where that is not known. It is called by
// whose turn it is.
func (c *core) reread(ctx context.Context, root string) error {
	c.mu.RLock()
	unread, version := c.unread[root], c.state.Intake.Project(root).Version
	c.mu.RUnlock()
	if !unread {
		return nil
	}

	c.still.RLock()
	defer c.still.RUnlock()
	for e, err := range c.store.Read(ctx, intake.Subject(root), store.Position(version)) {
		if err != nil {
			return err
		}
		c.mu.Lock()
		err = takeProject(c.state.Intake, e)
		c.last = max(c.last, e.Position)
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unread, root)
	return nil
}

// takeProject applies an event of the store to the project that it is about.
func takeProject(s intake.State, e store.Event) error {
	step, err := intake.Decode(e.Data)
	if err != nil {
		return fmt.Errorf("event %d on %s: %w", e.Position, e.Subject, err)
	}
	s.Apply(step, uint64(e.Position))
	return nil
}

// browse reads what projects start by themselves.
func (c *core) browse(read func(intake.State)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	read(c.state.Intake)
}
