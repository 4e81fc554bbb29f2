package send

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/registry"
	"github.com/stopgate/stopgate/internal/wake"
)

// carrier sends the letters of one box, which it holds.
type carrier struct {
	Sender
	box wake.Box
	// mending is since when the first letter waits for a person to put something right;
	// zero if it does not.
	mending time.Time
}

// try is one try to deliver a letter.
type try struct {
	letter wake.Letter
	before wake.State     // of the tries before
	agent  registry.Agent // zero if the registry has none
	note   string         // what is worth knowing of a delivery
	err    error          // why it was not delivered
}

// sendAll sends one letter after the other.
func (c *carrier) sendAll(ctx context.Context) error {
	for ctx.Err() == nil {
		l, found, err := c.box.Next()
		if err != nil {
			return err
		}
		if !found {
			c.emptied()
			return nil
		}
		if err := c.send(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// send tries to deliver a letter once, when it is time for that, and writes down what
// came of it.
func (c *carrier) send(ctx context.Context, l wake.Letter) error {
	t := try{letter: l}
	// What cannot be read of former tries costs no more than a try too early.
	if state, _ := c.box.State(); state.Key == l.Key {
		t.before = state
	}
	if c.wait(ctx, c.untilNext(t.before)) != nil {
		return nil
	}
	if t.agent, t.err = c.recipient(l); t.err == nil {
		t.note, t.err = c.deliver(ctx, t.agent, l)
	}
	if t.err != nil && ctx.Err() != nil {
		return nil // it was not the gateway that failed
	}
	outcome, record := c.settle(&t)
	c.logTry(t, outcome)
	if err := c.insist(ctx, record); err != nil {
		return err
	}
	c.discard(t)
	return nil
}

// settle decides what becomes of the letter after a try.
func (c *carrier) settle(t *try) (outcome string, record func() error) {
	if t.err == nil {
		c.mending = time.Time{}
		return "delivered", func() error { return c.box.Sent(t.letter) }
	}
	t.err = c.clean(t.agent, t.err)
	now := c.now()
	if paceOf(t.err) != slow {
		c.mending = time.Time{}
	} else if c.mending.IsZero() {
		c.mending = now
	}
	if why := c.giveUp(*t, now); why != "" {
		c.mending = time.Time{}
		t.note = why
		return "dead", func() error { return c.box.Kill(t.letter, why) }
	}
	t.note = t.err.Error()
	next := now.Add(pause(t.before.Tries, t.err))
	return "failed", func() error { return c.box.Tried(t.letter, t.err, now, next) }
}

// insist repeats what the disk refuses until it does not. Before that there is no other
// try: a letter that was delivered would be sent twice.
func (c *carrier) insist(ctx context.Context, record func() error) error {
	for tries := 0; ; tries++ {
		err := record()
		if err == nil {
			return nil
		}
		c.log("%v", err)
		if c.wait(ctx, pause(tries, nil)) != nil {
			return err
		}
	}
}
