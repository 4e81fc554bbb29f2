package board

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/store"
)

// savedVersion is that of what a snapshot says.
const savedVersion = 1

// saved is a snapshot of the fleet's store: all jobs and caps at its position, without the jobs that ended long ago.
type saved struct {
	Version int                       `json:"v"`
	Time    time.Time                 `json:"time"`
	Jobs    map[string]entry[job.Job] `json:"jobs,omitempty"`
	Caps    map[string]entry[job.Cap] `json:"caps,omitempty"`
}

// Keeper is what is needed of the fleet's store to trim it. Members may not: hubs do.
type Keeper interface {
	Log
	SaveSnapshot(ctx context.Context, s store.Snapshot) error
	Trim(ctx context.Context, by string) (store.Trimmed, error)
}

// Tidy trims the facts of jobs that ended longer ago than keep. It takes a snapshot each time that keep has passed,
// and removes what is below the one before: nothing that is younger than keep goes, so that a member that was away for
// less finds all events. Of each job its last fact stays for ever. A job that has ended is never begun again.
//
// One hub may call it at a time.
func Tidy(ctx context.Context, log Keeper, keep time.Duration, by string, now func() time.Time, to *slog.Logger) (store.Trimmed, error) {
	last, err := log.LoadSnapshot(ctx)
	if err != nil {
		return store.Trimmed{}, err
	}
	before, err := readSaved(last)
	if err != nil {
		return store.Trimmed{}, err
	}

	at := now().UTC().Round(0)
	if last.Position > 0 && at.Sub(before.Time).Abs() < keep { // a clock that was set back is not waited for
		return store.Trimmed{}, nil
	}

	b, err := Open(ctx, log, by, now, to)
	if err != nil {
		return store.Trimmed{}, err
	}
	data, err := json.Marshal(b.without(at.Add(-keep), at))
	if err != nil || b.at == last.Position { // nothing has happened
		return store.Trimmed{}, err
	}

	if err := log.SaveSnapshot(ctx, store.Snapshot{Position: b.at, Data: data}); err != nil {
		return store.Trimmed{}, err
	}
	return log.Trim(ctx, by)
}

// without is the board without jobs that ended before a time.
func (b *Board) without(ended, now time.Time) saved {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := saved{Version: savedVersion, Time: now, Jobs: map[string]entry[job.Job]{}, Caps: b.caps}
	for id, e := range b.jobs {
		if e.is.State != job.Ended || !e.is.Since.Before(ended) {
			s.Jobs[id] = e
		}
	}
	return s
}

// readSaved reads a snapshot; an empty one where there is none.
func readSaved(snap store.Snapshot) (s saved, err error) {
	if snap.Position == 0 {
		return s, nil
	}
	if err := json.Unmarshal(snap.Data, &s); err != nil {
		return s, fmt.Errorf("%w: the snapshot at %d: %w", store.ErrDamaged, snap.Position, err)
	}
	if s.Version > savedVersion {
		return s, fmt.Errorf("%w: the snapshot of the fleet's jobs", store.ErrNewer)
	}
	return s, nil
}

// entryText is an entry in a snapshot.
type entryText[T any] struct {
	Is      T              `json:"is"`
	Version store.Position `json:"version"`
}

// MarshalJSON and UnmarshalJSON have an entry be in a snapshot.
func (e entry[T]) MarshalJSON() ([]byte, error) { return json.Marshal(entryText[T]{e.is, e.version}) }

func (e *entry[T]) UnmarshalJSON(text []byte) error {
	var t entryText[T]
	err := json.Unmarshal(text, &t)
	e.is, e.version = t.Is, t.Version
	return err
}

// load reads everything: the newest snapshot, and what happened since.
func (b *Board) load(ctx context.Context) error {
	snap, err := b.log.LoadSnapshot(ctx)
	if err != nil {
		return err
	}
	s, err := readSaved(snap)
	if err != nil {
		return err
	}
	b.restore(s, snap.Position)
	for e, err := range b.log.ReadAll(ctx, snap.Position) {
		if err != nil {
			return err
		}
		b.take(e)
	}
	return nil
}

// restore takes a snapshot over: jobs that have ended as they ended, so that the oldest are forgotten first.
func (b *Board) restore(s saved, at store.Position) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = at
	for name, e := range s.Caps {
		b.caps[name] = e
	}
	older := func(one, other string) int {
		return cmp.Or(s.Jobs[one].is.Since.Compare(s.Jobs[other].is.Since), cmp.Compare(one, other))
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.Jobs), older) {
		e := s.Jobs[id]
		e.is.ID = id
		b.live[id] = true // until it is put
		b.putJob(e.is, e.version)
	}
}

// reload reads everything again, because events were trimmed that the board has not seen.
func (b *Board) reload(ctx context.Context) error {
	fresh, err := Open(ctx, b.log, b.member, b.now, b.slog)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs, b.caps, b.live, b.done, b.at = fresh.jobs, fresh.caps, fresh.live, fresh.done, fresh.at
	b.news.Ring()
	return nil
}

// catchUp folds a subject some of whose events were trimmed before the board has seen them. A job that is not in the
// store's snapshot has ended long ago: that is what its last event says.
func (b *Board) catchUp(ctx context.Context, subject string) error {
	kind, id, _ := strings.Cut(subject, ".")
	if _, known := b.Job(id); known || kind != "job" {
		if err := b.reload(ctx); err != nil {
			return err
		}
	}
	if kind != "job" {
		return nil
	}

	last, err := b.lastOf(ctx, subject)
	if err != nil {
		return err
	}

	b.mu.Lock()
	fact := decoded[job.Fact](b, last)
	current := b.jobs[id].version >= last.Position
	if !current && fact.Type == job.HasEnded {
		b.live[id] = true // until it is put
		b.putJob(job.Remains(id, fact), last.Position)
	}
	b.mu.Unlock()

	if !current && fact.Type != job.HasEnded { // it is in the snapshot
		return b.reload(ctx)
	}
	return nil
}

// lastOf is a subject's last event.
func (b *Board) lastOf(ctx context.Context, subject string) (last store.Event, err error) {
	for e, err := range b.log.Rest(ctx, subject) {
		if err != nil {
			return last, err
		}
		last = e
	}
	if last.Position == 0 {
		return last, errors.New(subject + " has no events")
	}
	return last, nil
}
