// Package board is the fleet's jobs and caps as a member knows them, and how it changes them.
//
// What is on the board follows from the events of the fleet's store. A change is an append that expects the
// job, and the cap that it counts against, to be as they were read: of several members that change the same
// job at once, one succeeds and the others read again.
package board

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/store"
)

// Log is what a board needs of the fleet's store.
type Log interface {
	AppendAll(ctx context.Context, events ...store.NewEvent) ([]store.Position, error)
	Read(ctx context.Context, subject string, after store.Position) iter.Seq2[store.Event, error]
	ReadAll(ctx context.Context, after store.Position) iter.Seq2[store.Event, error]
	Watch(ctx context.Context, prefix string, after store.Position) iter.Seq2[store.Event, error]
	Barrier(ctx context.Context) (store.Position, error)
	LoadSnapshot(ctx context.Context) (store.Snapshot, error)
	// Rest are the events of a subject that were not trimmed.
	Rest(ctx context.Context, subject string) iter.Seq2[store.Event, error]
}

// keep is how many jobs that have ended a board remembers: the newest.
const keep = 5000

// Board is a member's copy of all jobs and caps. All methods may be called at once.
type Board struct {
	log    Log
	member string
	slog   *slog.Logger
	now    func() time.Time

	mu   sync.Mutex
	jobs map[string]entry[job.Job]
	caps map[string]entry[job.Cap]
	live map[string]bool // jobs that have not ended
	done []string        // jobs that have, as they ended
	at   store.Position  // of the newest event that came by Open and Follow

	news nudge.Bell // something has changed
}

// entry is a job or a cap, and the position of its newest event.
type entry[T any] struct {
	is      T
	version store.Position
}

// Open reads the board as it is: everything that any member had changed before is on it.
func Open(ctx context.Context, log Log, member string, now func() time.Time, to *slog.Logger) (*Board, error) {
	b := &Board{
		log: log, member: member, now: now, slog: to, jobs: map[string]entry[job.Job]{}, caps: map[string]entry[job.Cap]{},
		live: map[string]bool{},
	}
	if err := b.Reach(ctx); err != nil {
		return nil, fmt.Errorf("read the fleet's jobs: %w", err)
	}
	if err := b.load(ctx); err != nil {
		return nil, fmt.Errorf("read the fleet's jobs: %w", err)
	}
	return b, nil
}

// Follow keeps the board current until the context ends or the store cannot be read. It may be called again. What was
// trimmed since the board was current is read from the store's snapshot.
func (b *Board) Follow(ctx context.Context) error {
	err := b.follow(ctx)
	if errors.Is(err, store.ErrTrimmed) {
		if err = b.reload(ctx); err == nil {
			err = b.follow(ctx)
		}
	}
	return err
}

func (b *Board) follow(ctx context.Context) error {
	b.mu.Lock()
	after := b.at
	b.mu.Unlock()
	for e, err := range b.log.Watch(ctx, "", after) {
		if err != nil {
			return fmt.Errorf("follow the fleet's jobs: %w", err)
		}
		b.take(e)
	}
	return ctx.Err()
}

// take folds an event of the store as a whole.
func (b *Board) take(e store.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fold(e)
	b.at = max(b.at, e.Position)
}

// fold folds an event of a subject whose events before it are known. One that is known itself changes
// nothing.
func (b *Board) fold(e store.Event) {
	kind, name, _ := strings.Cut(e.Subject, ".")
	switch {
	case kind == "job" && e.Position > b.jobs[name].version:
		was := b.jobs[name].is
		was.ID = name
		b.putJob(was.After(decoded[job.Fact](b, e)), e.Position)
	case kind == "cap" && e.Position > b.caps[name].version:
		b.caps[name] = entry[job.Cap]{b.caps[name].is.After(decoded[job.CapFact](b, e)), e.Position}
		b.news.Ring()
	}
}

// decoded is a fact. One that cannot be read is said, and changes nothing.
func decoded[F any](b *Board, e store.Event) (f F) {
	if err := json.Unmarshal(e.Data, &f); err != nil {
		b.slog.Error("an event of the fleet is not a fact", "subject", e.Subject, "position", e.Position, "error", err)
		var none F
		return none
	}
	return f
}

func (b *Board) putJob(j job.Job, version store.Position) {
	b.jobs[j.ID] = entry[job.Job]{j, version}
	switch {
	case j.State != job.Ended:
		b.live[j.ID] = true
	case b.live[j.ID]:
		delete(b.live, j.ID)
		b.done = append(b.done, j.ID)
	}
	for len(b.done) > keep {
		delete(b.jobs, b.done[0])
		b.done = b.done[1:]
	}
	b.news.Ring()
}

// News is closed when something on the board has changed. To miss nothing, take it before looking.
func (b *Board) News() <-chan struct{} { return b.news.Rung() }

// Live are the jobs that have not ended, the oldest first.
func (b *Board) Live() []job.Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]job.Job, 0, len(b.live))
	for id := range b.live {
		all = append(all, b.jobs[id].is)
	}
	slices.SortFunc(all, older)
	return all
}

// All are the jobs that are remembered, in no order, without those that were trimmed.
func (b *Board) All() []job.Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]job.Job, 0, len(b.jobs))
	for _, e := range b.jobs {
		if e.is.State != "" && !e.is.Trimmed() {
			all = append(all, e.is)
		}
	}
	return all
}

func older(one, other job.Job) int {
	return cmp.Or(one.Added.Compare(other.Added), cmp.Compare(one.ID, other.ID))
}

// Job is a job by its id.
func (b *Board) Job(id string) (job.Job, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.jobs[id]
	return e.is, e.is.State != ""
}

// Caps are all caps, by name.
func (b *Board) Caps() map[string]job.Cap {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]job.Cap{}
	for name, e := range b.caps {
		all[name] = e.is
	}
	return all
}

// Cap is a cap by its name. One that was never set has no limit.
func (b *Board) Cap(name string) job.Cap {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.caps[name].is
}

// ErrSilent says that the fleet's store did not answer before anything was asked of it: nothing has changed.
var ErrSilent = errors.New("the fleet's store does not answer")

// Reach makes sure that the fleet's store takes changes. The error is ErrSilent and never ErrUnknown: what became of
// the barrier is of no interest.
func (b *Board) Reach(ctx context.Context) error {
	if _, err := b.log.Barrier(ctx); err != nil {
		return fmt.Errorf("%w: %v", ErrSilent, err)
	}
	return nil
}

// Fresh makes sure that a job on the board is as the fleet has it: what any member had changed before is seen.
func (b *Board) Fresh(ctx context.Context, id string) error {
	if err := b.Reach(ctx); err != nil {
		return err
	}
	return b.reread(ctx, link.Job(id))
}

// reread folds what the store has of subjects besides.
func (b *Board) reread(ctx context.Context, subjects ...string) error {
	for _, subject := range subjects {
		kind, name, _ := strings.Cut(subject, ".")
		b.mu.Lock()
		version := b.jobs[name].version
		if kind == "cap" {
			version = b.caps[name].version
		}
		b.mu.Unlock()
		err := b.readOn(ctx, subject, version)
		if errors.Is(err, store.ErrTrimmed) {
			err = b.catchUp(ctx, subject)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Board) readOn(ctx context.Context, subject string, after store.Position) error {
	for e, err := range b.log.Read(ctx, subject, after) {
		if err != nil {
			return err
		}
		b.mu.Lock()
		b.fold(e)
		b.mu.Unlock()
	}
	return nil
}

// unknown reports whether it has to be read what became of an append.
func unknown(err error) bool {
	return errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrConflict)
}

// patience is how often an append whose outcome is not known is tried again: each time takes as long as the
// election of a leader may.
const patience = 3

// append appends events of several subjects, all or none. Where it is not known what became of them, it looks.
func (b *Board) append(ctx context.Context, events []store.NewEvent) (err error) {
	for range patience {
		positions, err := b.log.AppendAll(ctx, events...)
		if unknown(err) {
			positions, err = b.became(ctx, events, err)
		}
		if err == nil {
			b.appended(events, positions)
			return nil
		}
		if !errors.Is(err, store.ErrUnknown) || ctx.Err() != nil {
			return err
		}
	}
	return store.ErrUnknown
}

// became finds events that may have been appended together: the first one is where it was to be, or another
// member's is.
func (b *Board) became(ctx context.Context, events []store.NewEvent, cause error) ([]store.Position, error) {
	for e, err := range b.log.Read(ctx, events[0].Subject, events[0].Expected) {
		switch {
		case errors.Is(err, store.ErrTrimmed): // what was there is older than a moment
			return nil, store.ErrConflict
		case err != nil:
			return nil, fmt.Errorf("%w: %w", store.ErrUnknown, err)
		case e.ID != events[0].ID:
			return nil, store.ErrConflict
		}
		positions := make([]store.Position, len(events))
		for i := range events {
			positions[i] = e.Position + store.Position(i)
		}
		return positions, nil
	}
	return nil, cause
}

// appended folds what this member has appended itself.
func (b *Board) appended(events []store.NewEvent, positions []store.Position) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, e := range events {
		kind, name, _ := strings.Cut(e.Subject, ".")
		version := b.jobs[name].version
		if kind == "cap" {
			version = b.caps[name].version
		}
		if version == e.Expected { // else it came back already
			b.fold(store.Event{Position: positions[i], Subject: e.Subject, Data: e.Data})
		}
	}
}
