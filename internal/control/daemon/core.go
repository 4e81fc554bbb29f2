package daemon

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// core decides: it is the only one that appends to owners' subjects and the only one that
// changes the state.
type core struct {
	store store.Store
	log   *slog.Logger
	now   func() time.Time
	// Both are called with what an owner was, which is nil for a new one, and what it is:
	// note when that is durable and nobody knows it yet, changed when it is the state.
	// Calls for one owner come in order, one after the other. They must not block. The
	// facts are those of the step that led there, where it is known.
	note    func(before, after *engine.Owner, facts []engine.Fact)
	changed func(before, after *engine.Owner)
	held    func(subject, why string) // is called when an owner turns out to be damaged
	trouble *trouble
	// appended is called with what became of each append, and how long that took.
	appended func(took time.Duration, err error)

	seed  maphash.Seed
	turns [256]chan struct{} // one at a time for each owner, whose id says which is its

	// still is held for writing by who needs a state that is exactly that of a position.
	still sync.RWMutex

	mu     sync.RWMutex
	state  *engine.State
	last   store.Position  // of the newest event that the state has
	steps  int             // since the last snapshot
	unsure map[string]bool // owners with an append of which nobody knows what became
	unread map[string]bool // the roots of such projects

	news nudge.Bell // the state has changed
}

func newCore(s store.Store, state *engine.State, last store.Position, log *slog.Logger, now func() time.Time) *core {
	c := &core{
		store: s, log: log, now: now, state: state, last: last,
		seed: maphash.MakeSeed(), unsure: map[string]bool{}, unread: map[string]bool{},
		note: func(before, after *engine.Owner, facts []engine.Fact) {}, changed: func(before, after *engine.Owner) {},
		held: func(subject, why string) {}, trouble: &trouble{}, appended: func(took time.Duration, err error) {},
	}
	for i := range c.turns {
		c.turns[i] = make(chan struct{}, 1)
	}
	return c
}

const (
	// patience is how long an append may take before it counts as unknown.
	patience = 10 * time.Second
	// longest is the pause between two tries of what has to be recorded.
	longest = 5 * time.Second
)

// errEngine says that the engine failed on an input, and would each time.
var errEngine = errors.New("internal error of the engine")

// do tells an owner what happened, and returns the owner as it is then. When it returns
// nil, what came of the input is in the store. The error is a *engine.Refusal, or the
// store's: then nothing came of it, or nobody knows yet, and the same input may be told
// again.
//
// A panic of the engine is an error: nothing has changed by then, and one input that the
// engine cannot take must not keep the daemon from all others, at each start anew.
func (c *core) do(ctx context.Context, owner string, in engine.Input) (*engine.Owner, error) {
	if in.Time.IsZero() {
		in.Time = c.now()
	}

	end, err := c.turn(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer end()

	for range 3 {
		if why := c.heldFor(owner); why != "" {
			return nil, refuseHeld(why)
		}
		before, err := c.current(ctx, owner)
		if err != nil {
			return nil, c.examine(ctx, owner, err)
		}

		step, after, err := c.decide(before, in)
		if err != nil || len(step.Facts) == 0 && len(step.Effects) == 0 {
			return before, err
		}

		err = c.record(ctx, before, after, step)
		if err == nil {
			return after, nil
		}
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrDuplicate) {
			return before, c.examine(ctx, owner, err)
		}
		c.doubt(owner) // somebody else appended: see what
	}
	return nil, fmt.Errorf("owner %s: %w", owner, store.ErrConflict)
}

// must is do for what has to be recorded: it goes on until that has succeeded, or is
// refused, or the context ends.
func (c *core) must(ctx context.Context, owner string, in engine.Input) error {
	for range pause.Doubling(ctx, 50*time.Millisecond, longest) {
		err := c.try(ctx, owner, in)
		switch {
		case unlessRefused(err) == nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		c.log.Error("cannot record an event; trying again", "owner", owner, "error", err)
		c.trouble.set("owner "+owner, err)
	}
	return ctx.Err()
}

// try is do for what is reported. It makes a refusal of an error that would come each time:
// such an input, which the engine or the store cannot take, must not be tried for ever. It also
// keeps what people are told of the owner's trouble.
func (c *core) try(ctx context.Context, owner string, in engine.Input) error {
	_, err := c.do(ctx, owner, in)
	switch {
	case unlessRefused(err) == nil:
		c.trouble.set("owner "+owner, nil)
	case errors.Is(err, errEngine), errors.Is(err, store.ErrInvalid):
		c.log.Error("an input was skipped", "owner", owner, "input", in.ID, "error", err)
		c.trouble.set("owner "+owner, err)
		return &engine.Refusal{Code: "internal", Why: err.Error()}
	}
	return err
}

// turnOf is the lock of an owner, which some owners share.
func (c *core) turnOf(owner string) chan struct{} {
	return c.turns[maphash.String(c.seed, owner)%uint64(len(c.turns))]
}

// turn waits until it is the caller's turn with the owner.
func (c *core) turn(ctx context.Context, owner string) (end func(), err error) {
	turn := c.turnOf(owner)
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *core) decide(before *engine.Owner, in engine.Input) (step engine.Step, after *engine.Owner, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("the engine panicked", "input", in.ID, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w on %T: %v", errEngine, in.What, p)
		}
	}()
	if _, creates := in.What.(engine.Create); before == nil && !creates {
		return engine.Step{}, nil, &engine.Refusal{Code: "not_found", Why: "no such pipeline or agent run"}
	}
	return engine.Decide(before, in)
}

// record makes the step durable and the state what it leads to.
func (c *core) record(ctx context.Context, before, after *engine.Owner, step engine.Step) error {
	data, err := engine.EncodeStep(step)
	if err != nil {
		return fmt.Errorf("%w: %w", errEngine, err)
	}

	event := store.NewEvent{Subject: engine.Subject(after.Kind, after.ID), ID: engine.EventID(after.ID, step.Input), Data: data}
	if before != nil {
		event.Expected = store.Position(before.Version)
	}

	c.still.RLock()
	defer c.still.RUnlock()
	position, err := c.append(ctx, event)
	if errors.Is(err, store.ErrUnknown) {
		c.doubt(after.ID)
	}
	switch {
	case err == nil:
		c.trouble.set("store", nil)
		c.put(before, after, step.Facts, position)
	case errors.Is(err, store.ErrDamaged): // which may be the owner's alone: see examine
	case !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrDuplicate) && !errors.Is(err, store.ErrInvalid):
		c.trouble.set("store", err)
	}
	return err
}

// append is appendEvent for the core's store.
func (c *core) append(ctx context.Context, event store.NewEvent) (store.Position, error) {
	start := time.Now()
	position, err := appendEvent(ctx, c.store, event)
	c.appended(time.Since(start), err)
	return position, err
}

// appendEvent appends an event and, where nobody knows what became of that, looks. Once
// it has begun, nobody's impatience ends it: an answer that nobody waits for is still a
// fact.
func appendEvent(ctx context.Context, s store.Store, event store.NewEvent) (store.Position, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	position, err := s.Append(ctx, event)
	if !errors.Is(err, store.ErrUnknown) {
		return position, err
	}

	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for e, err := range s.Read(ctx, event.Subject, event.Expected) {
		switch {
		case err != nil:
			return 0, fmt.Errorf("%w: %w", store.ErrUnknown, err)
		case e.ID == event.ID:
			return e.Position, nil
		}
		return 0, store.ErrConflict
	}
	return 0, store.ErrUnknown // not there yet: the same event may be appended again
}

// put is where the state changes.
func (c *core) put(before, after *engine.Owner, facts []engine.Fact, position store.Position) {
	after.Version = uint64(position)
	if after.Born == 0 {
		after.Born = after.Version
	}
	c.note(before, after, facts)
	c.mu.Lock()
	c.state.Put(after)
	c.last = max(c.last, position)
	c.steps++
	c.mu.Unlock()
	c.news.Ring()
	c.trouble.set("owner "+after.ID, nil)
	c.changed(before, after)
}

// current is the owner as the store has it. It is called by whose turn it is.
func (c *core) current(ctx context.Context, id string) (*engine.Owner, error) {
	c.mu.RLock()
	owner := c.state.Owner(id)
	unsure := c.unsure[id]
	c.mu.RUnlock()
	if !unsure {
		return owner, nil
	}
	return c.reload(ctx, id, owner)
}

func (c *core) doubt(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsure[owner] = true
}

// reload adds to an owner what the store has of it besides.
func (c *core) reload(ctx context.Context, id string, known *engine.Owner) (*engine.Owner, error) {
	for _, kind := range kinds {
		if known != nil && known.Kind != kind {
			continue
		}
		owner, last, err := c.more(ctx, engine.Subject(kind, id), known)
		if err != nil {
			return nil, err
		}
		if last > 0 {
			c.put(known, owner, nil, last)
			known = owner
		}
	}
	c.mu.Lock()
	delete(c.unsure, id)
	c.mu.Unlock()
	return known, nil
}

// more folds the subject's events that the owner does not have into a copy of it. Without
// such there is no last position.
func (c *core) more(ctx context.Context, subject string, known *engine.Owner) (owner *engine.Owner, last store.Position, err error) {
	var after store.Position
	if known != nil {
		after = store.Position(known.Version)
		owner = known.Clone()
	}
	for e, err := range c.store.Read(ctx, subject, after) {
		if err != nil {
			return nil, 0, err
		}
		if owner, err = fold(owner, e); err != nil {
			return nil, 0, err
		}
		last = e.Position
	}
	return owner, last, nil
}

// fold applies an event of the store to the owner that it is about.
func fold(owner *engine.Owner, e store.Event) (*engine.Owner, error) {
	step, err := engine.DecodeStep(e.Data)
	if err == nil {
		owner, err = engine.Apply(owner, step)
	}
	if err != nil {
		return nil, fmt.Errorf("event %d on %s: %w", e.Position, e.Subject, err)
	}
	owner.Version = uint64(e.Position)
	if owner.Born == 0 {
		owner.Born = owner.Version
	}
	return owner, nil
}

// position is that of the newest event that the state has.
func (c *core) position() store.Position {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.last
}

// look reads the state.
func (c *core) look(read func(*engine.State)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	read(c.state)
}

// owner is the owner with an id, or nil.
func (c *core) owner(id string) (o *engine.Owner) {
	c.look(func(s *engine.State) { o = s.Owner(id) })
	return o
}

// owners are all, the newest first.
func (c *core) owners() (all []*engine.Owner) {
	c.look(func(s *engine.State) { all = s.Owners() })
	return all
}

// live are those that are not at their end, the newest first.
func (c *core) live() (all []*engine.Owner) {
	c.look(func(s *engine.State) { all = s.Live() })
	return all
}

// reached waits until the state has an owner's event, for a moment: one that this daemon
// did not append may never come into it. It is nil for an owner that was forgotten.
func (c *core) reached(ctx context.Context, owner string, position store.Position) *engine.Owner {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for {
		changes := c.news.Rung()
		c.mu.RLock()
		last, o := c.last, c.state.Owner(owner)
		c.mu.RUnlock()
		if o != nil {
			last = store.Position(o.Version)
		}
		if last >= position {
			return o
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return nil
		}
	}
}
