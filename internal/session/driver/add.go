package driver

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
)

// Add appends commands to the queue that a session has, and reports that it did. A session
// without a queue gets one, as from Create.
func (d *Driver) Add(ctx context.Context, o Order) (q queue.Queue, added bool, err error) {
	commands, err := d.check(o)
	if err != nil {
		return queue.Queue{}, false, err
	}
	if err := d.mustExist(ctx, o.Session); err != nil {
		return queue.Queue{}, false, err
	}

	q, added, err = d.grow(o.Session, commands)
	if added || err != nil {
		return q, added, err
	}

	q, err = d.Create(ctx, o)
	if errors.Is(err, queue.ErrExists) { // another process was faster
		return d.grow(o.Session, commands)
	}
	return q, false, err
}

// mustExist refuses a session that tmux does not have: its queue would never move.
func (d *Driver) mustExist(ctx context.Context, session string) error {
	_, err := d.find(ctx, session)
	if errors.Is(err, terminal.ErrNoSession) || errors.Is(err, terminal.ErrNotInstalled) {
		return err
	}
	return nil
}

// grow appends commands to a session's queue. It reports false where there is none, or no
// longer one.
func (d *Driver) grow(session string, commands []string) (q queue.Queue, added bool, err error) {
	o, err := d.apply(session, func(q queue.Queue) queue.Transition {
		return queue.Apply(named(q, session, d.Now()), queue.Added{Commands: commands}, d.Now())
	})
	switch {
	case err != nil:
		return queue.Queue{}, false, unlessGone(err)
	case o.Action == queue.Ignored:
		return queue.Queue{}, false, refuse("session %s is receiving a message, and its queue takes no commands until that has arrived", session)
	}
	return o.Queue, o.Action == queue.Grown, nil
}
