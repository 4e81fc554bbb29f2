package board

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// DefaultCap is what jobs count against that name no other cap.
const DefaultCap = "default"

// CapOf is the name of the cap that a job counts against.
func CapOf(s job.Spec) string {
	if s.Cap == "" {
		return DefaultCap
	}
	return s.Cap
}

// tries is how often a change is decided anew because another member was first.
const tries = 50

// errMissing says that there is no such job.
var errMissing = errors.New("there is no such job")

// ErrTaken says that another job has the id.
var ErrTaken = errors.New("another job has this id")

// Add puts a job on the board. Adding the same one again changes nothing.
//
// sign signs what shows that this member has added it; nil where members are not told apart.
func (b *Board) Add(ctx context.Context, id string, spec job.Spec, sign func(job.Job) ([]byte, error)) (job.Job, error) {
	if err := Check(spec); err != nil {
		return job.Job{}, err
	}

	fact := job.Fact{Type: job.Added, Time: b.time(), By: b.member, Spec: &spec}
	if sign != nil {
		var err error
		if fact.Signature, err = sign((job.Job{ID: id}).After(fact)); err != nil {
			return job.Job{}, err
		}
	}
	event, err := newEvent(link.Job(id), fact, 0)
	if err != nil {
		return job.Job{}, err
	}

	err = b.append(ctx, []store.NewEvent{event})
	if errors.Is(err, store.ErrConflict) {
		err = b.reread(ctx, link.Job(id))
	}
	if err != nil {
		return job.Job{}, err
	}

	j, _ := b.Job(id)
	if !j.Trimmed() && !same(j.Spec, spec) { // what was trimmed is not known: it was added long ago, and has ended
		return j, fmt.Errorf("%w: %s", ErrTaken, id)
	}
	return j, nil
}

// same compares what two jobs say as the store has it.
func same(one, other job.Spec) bool {
	a, err := json.Marshal(one)
	b, wrong := json.Marshal(other)
	return err == nil && wrong == nil && bytes.Equal(a, b)
}

// time is when a fact of this member happens.
func (b *Board) time() time.Time { return b.now().UTC().Round(0) }

// Claim takes a job for this member, and room for it under its cap, both or neither. The error is a
// *job.FullError where there is no room, job.ErrState where the job is not to be had any more.
func (b *Board) Claim(ctx context.Context, id string, labels []string, usd float64) (job.Job, error) {
	return b.Change(ctx, id, func(j job.Job) (job.Fact, error) { return j.Claim(b.member, labels, usd, b.time()) })
}

// Change appends the fact that do makes of a job as it is. What it decides about an attempt's end settles what the
// attempt holds of its cap, in the same append. do is asked again where another member was first.
func (b *Board) Change(ctx context.Context, id string, do func(job.Job) (job.Fact, error)) (job.Job, error) {
	sure := false // the cap is as the fleet has it
	for range tries {
		events, j, err := b.decide(id, do, sure)
		if errors.Is(err, errBehind) {
			if err = b.Reach(ctx); err == nil {
				err, sure = b.reread(ctx, link.Cap(CapOf(j.Spec))), true
			}
			if err != nil {
				return j, err
			}
			continue
		}
		if err != nil {
			return j, err
		}

		switch err := b.append(ctx, events); {
		case err == nil:
			j, _ := b.Job(id)
			return j, nil
		case !errors.Is(err, store.ErrConflict):
			return j, err
		}
		if err := b.reread(ctx, link.Job(id), link.Cap(CapOf(j.Spec))); err != nil {
			return j, err
		}
	}
	return job.Job{}, fmt.Errorf("job %s: %w", id, store.ErrConflict)
}

// errBehind says that the cap does not have yet what the job has: an attempt holds something of it from its claim on,
// and a change that did not know would leave that held for ever.
var errBehind = errors.New("the cap is behind its job")

// decide is what is to be appended for a change.
func (b *Board) decide(id string, do func(job.Job) (job.Fact, error), sure bool) ([]store.NewEvent, job.Job, error) {
	b.mu.Lock()
	known := b.jobs[id]
	name := CapOf(known.is.Spec)
	limit := b.caps[name]
	b.mu.Unlock()

	j := known.is
	if j.State == "" {
		return nil, j, fmt.Errorf("%w: %s", errMissing, id)
	}
	fact, err := do(j)
	if err != nil {
		return nil, j, err
	}
	event, err := newEvent(link.Job(id), fact, known.version)
	if err != nil {
		return nil, j, err
	}
	events := []store.NewEvent{event}
	if _, holds := limit.is.Held[id]; fact.Over() && !holds && j.State != job.Pending && !sure {
		return nil, j, errBehind
	}

	about, changes, err := capFact(limit.is, j, fact)
	if err != nil || !changes {
		return events, j, err
	}
	event, err = newEvent(link.Cap(name), about, limit.version)
	return append(events, event), j, err
}

// capFact is what a fact about a job means for its cap, if anything.
func capFact(c job.Cap, j job.Job, f job.Fact) (job.CapFact, bool, error) {
	held, holds := c.Held[j.ID]
	switch {
	case f.Type == job.HasClaimed:
		about, err := c.Reserve(j.ID, f.Attempt, f.Reserve)
		return about, true, err
	case !f.Over() || !holds:
		return job.CapFact{}, false, nil
	}
	usd := f.USD
	if f.Type != job.HasRefused && f.By != j.Member { // what a lost attempt has cost is not known: at most this, if it keeps to it
		usd = held.USD
	}
	about, err := c.Settle(j.ID, held.Attempt, usd)
	return about, true, err
}

// SetCap changes a limit. change gets the limit as it is.
func (b *Board) SetCap(ctx context.Context, name string, change func(*job.Limit)) (job.Cap, error) {
	if err := link.CheckName(name); err != nil {
		return job.Cap{}, err
	}
	for range tries {
		b.mu.Lock()
		known := b.caps[name]
		b.mu.Unlock()
		limit := known.is.Limit
		change(&limit)
		event, err := newEvent(link.Cap(name), job.CapFact{Type: "set", Limit: &limit}, known.version)
		if err == nil {
			err = b.append(ctx, []store.NewEvent{event})
		}
		if !errors.Is(err, store.ErrConflict) {
			return b.Cap(name), err
		}
		if err := b.reread(ctx, link.Cap(name)); err != nil {
			return job.Cap{}, err
		}
	}
	return job.Cap{}, fmt.Errorf("cap %s: %w", name, store.ErrConflict)
}

func newEvent(subject string, fact any, expected store.Position) (store.NewEvent, error) {
	data, err := json.Marshal(fact)
	return store.NewEvent{Subject: subject, ID: journal.NewID(), Expected: expected, Data: data}, err
}

// maxSpec is how large what a job says may be.
const maxSpec = 64 << 10

// Check is what is wrong with a job that is to be added.
func Check(s job.Spec) error {
	text, err := json.Marshal(s)
	switch {
	case err != nil:
		return err
	case len(text) > maxSpec:
		return fmt.Errorf("the job has more than %d KiB", maxSpec>>10)
	case s.Command == "":
		return errors.New("a command is needed")
	case s.OnLost != "" && s.OnLost != job.Ask && s.OnLost != job.Again:
		return fmt.Errorf("on_lost is %q, and must be ask or again", s.OnLost)
	case !(s.USD >= 0 && s.USD <= 1e6):
		return fmt.Errorf("usd is %g, and must be between 0 and 1000000", s.USD)
	case slices.ContainsFunc(s.Args, func(arg string) bool { return strings.ContainsRune(arg, 0) }):
		return errors.New("an argument has a zero byte")
	}

	if err := named("project", s.Project); err != nil {
		return err
	}
	if s.Host != "" {
		err = errors.Join(err, named("host", s.Host))
	}
	if s.Cap != "" {
		err = errors.Join(err, named("cap", s.Cap))
	}
	for _, label := range s.Needs {
		err = errors.Join(err, named("label", label))
	}
	return err
}

func named(what, name string) error {
	if err := link.CheckName(name); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
