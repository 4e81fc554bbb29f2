package send

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/wake"
)

// carrier sends the letters of one box, which it holds.
type carrier struct {
	Sender
	box wake.Box
	id  string // of this sender, for those that come after it
	// waited says that we waited for the next try without holding the box.
	waited bool
}

// errTaken says that another sender has come since and waits in our place.
var errTaken = errors.New("another sender is waiting")

// try is one try to deliver a letter.
type try struct {
	letter  wake.Letter
	before  wake.State            // of the tries that failed before, of any letter
	outside registry.OutsideAgent // zero if the registry has none
	note    string                // what is worth knowing of a delivery
	err     error                 // why it was not delivered
}

// sendAll sends one letter after the other. Where a person has to put something right
// first, it tells how long to wait for the next try without the box.
func (c *carrier) sendAll(ctx context.Context) (pause time.Duration, err error) {
	for ctx.Err() == nil {
		l, found, err := c.box.Next()
		if err != nil {
			return 0, err
		}
		if !found {
			c.emptied()
			return 0, nil
		}
		// What cannot be read of former tries costs no more than a try too early.
		before, _ := c.box.State()
		if pause, err := c.await(ctx, before); pause > 0 || err != nil || ctx.Err() != nil {
			return pause, err
		}
		if err := c.send(ctx, l, before); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// await sees to the wait for the next try. We have the environment of the hook that
// started us. What a person sets, such as a token or the PATH, has only a sender that
// was started after that. So while we wait for a person, such a one can take our place.
func (c *carrier) await(ctx context.Context, before wake.State) (pause time.Duration, err error) {
	if c.waited {
		c.waited = false
		if before.Sender != "" && before.Sender != c.id {
			return 0, errTaken
		}
		return 0, nil
	}
	pause = c.untilNext(before)
	if pause == 0 || before.Since.IsZero() {
		_ = c.wait(ctx, pause)
		return 0, nil
	}
	c.waited = true
	return pause, c.insist(ctx, func() error { return c.box.Await(c.id) })
}

// send tries to deliver a letter and writes down what came of it.
func (c *carrier) send(ctx context.Context, l wake.Letter, before wake.State) error {
	t := try{letter: l, before: before}
	if t.outside, t.err = c.recipient(l); t.err == nil {
		t.note, t.err = c.deliver(ctx, t.outside, l)
	}
	if t.err != nil && ctx.Err() != nil {
		return nil // it was not the gateway that failed
	}
	result, record := c.settle(&t)
	c.logTry(t, result)
	if err := c.insist(ctx, record); err != nil {
		return err
	}
	c.discard(t)
	return nil
}

// settle decides what becomes of the letter after a try.
func (c *carrier) settle(t *try) (result string, record func() error) {
	if t.err == nil {
		return "delivered", func() error { return c.box.Sent(t.letter) }
	}

	t.err = c.clean(t.outside, t.err)
	t.note = t.err.Error()
	if paceOf(t.err) == never { // which tells nothing about the next letter
		return "dead", func() error { return c.box.Kill(t.letter, t.note) }
	}

	now := c.now()
	since := t.brokenSince(now)
	next := now.Add(pauseAfter(t.before.Tries, t.err))
	why := t.giveUp(since, now)
	if why == "" {
		return "failed", func() error { return c.box.Tried(t.letter, t.err, since, next) }
	}

	t.note = why
	if !since.IsZero() {
		next = now // it costs nobody anything to have the next letter fail too
	}
	return "dead", func() error {
		if err := c.box.Kill(t.letter, why); err != nil {
			return err
		}
		return c.box.Tried(t.letter, t.err, since, next)
	}
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
		if c.wait(ctx, pauseAfter(tries, nil)) != nil {
			return err
		}
	}
}
