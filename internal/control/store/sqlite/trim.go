package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/store"
)

// trimsSubject is the store's own: its events say what was trimmed.
const trimsSubject = "store.trims"

// trimRecord is an event of trimsSubject: what a trim is about to remove.
type trimRecord struct {
	V       int            `json:"v"`
	Trimmed store.Position `json:"trimmed"`
	// Bases are the links that will hang in the air: of each subject that goes on behind
	// Trimmed, the hash that its first event there builds upon.
	Bases map[string]store.Hash `json:"bases,omitempty"`
	// The rest is for people; an older stopgate did not write it.
	Events int       `json:"events,omitempty"` // that go
	Total  int       `json:"total,omitempty"`  // that went with this trim and those before it
	Time   time.Time `json:"time,omitzero"`
	By     string    `json:"by,omitempty"`
}

// trim is what was trimmed: events up to a position may be gone, and the chains go on behind
// it from these hashes.
type trim struct {
	to    store.Position
	bases map[string]store.Hash
	said  store.Trimmed
	last  []int64 // up to there, in order: the last event of each subject when it was declared
}

// add adds what a record of a trim says. Only the last trim counts; in format 1 it may have
// several records.
func (t *trim) add(record []byte) error {
	var r trimRecord
	if err := json.Unmarshal(record, &r); err != nil || r.Trimmed < t.to {
		return err
	}
	if r.Trimmed > t.to || t.bases == nil {
		t.to, t.bases = r.Trimmed, map[string]store.Hash{}
		t.said = store.Trimmed{To: r.Trimmed, Events: r.Events, Total: r.Total, Time: r.Time, By: r.By}
	}
	maps.Copy(t.bases, r.Bases)
	return nil
}

// loadTrim finds out what was trimmed, by the records of it.
func loadTrim(ctx context.Context, db asker) (*trim, error) {
	last := &trim{}
	e, err := headOf(ctx, db, trimsSubject)
	for err == nil && e.Position > last.to {
		if err := last.add(e.Data); err != nil {
			return last, fmt.Errorf("%w: event %d: %w", store.ErrDamaged, e.Position, err)
		}
		after := e
		e, err = entryAt(ctx, db, after.prior)
		if err == nil && after.prior > last.to && !(e.Sound() && after.follows(e.head())) {
			err = fmt.Errorf("%w: event %d, a record of a trim, is missing or was changed", store.ErrDamaged, after.prior)
		}
	}
	return last, err
}

// trimStep is how many events one transaction of a trim looks at: appends wait no longer
// than for that.
const trimStep = 1024

// Trim removes the events that two snapshots stand for.
//
// A record of what goes is durable, also beside the database, before anything is
// removed: a trim that is killed leaves a store that verifies, and the next one goes on.
// Of a damaged store nothing is removed.
func (s *Store) Trim(ctx context.Context, by string) (store.Trimmed, error) {
	if err := s.usable("all"); err != nil {
		return store.Trimmed{}, err
	}
	s.trimming.Lock()
	defer s.trimming.Unlock()
	to, err := s.trimmable(ctx)
	if err != nil || to <= s.gone() {
		return store.Trimmed{}, explain(s.path, err)
	}
	report, err := s.Verify(ctx)
	if err != nil {
		return store.Trimmed{}, err
	}
	if !report.Sound() {
		return store.Trimmed{}, explain(s.path, fmt.Errorf("%w: nothing is trimmed: %s", store.ErrDamaged, report.Findings[0]))
	}
	if _, err := s.ask(ctx, request{task: func(w *writer) error { return w.declareTrim(to, by) }}); err != nil {
		return store.Trimmed{}, err
	}
	return s.trimmed.Load().said, s.removeTrimmed(ctx)
}

// removeTrimmed removes what was declared gone.
func (s *Store) removeTrimmed(ctx context.Context) error {
	declared := s.trimmed.Load()
	for from := store.Position(0); from < declared.to; {
		_, err := s.ask(ctx, request{task: func(w *writer) (err error) {
			from, err = w.trim(declared, from)
			return err
		}})
		if err != nil {
			return err
		}
	}
	_, err := s.ask(ctx, request{task: (*writer).giveBack})
	return err
}

// giveBack makes the file smaller where most of it is free. SQLite would use that for events to
// come, which may be long.
func (w *writer) giveBack() error {
	const little = 4 << 20
	var pages, free, size int64
	for query, into := range map[string]*int64{"PRAGMA page_count": &pages, "PRAGMA freelist_count": &free, "PRAGMA page_size": &size} {
		if err := w.conn.QueryRowContext(context.Background(), query).Scan(into); err != nil {
			return err
		}
	}
	if w.failed != nil {
		return nil
	}
	if free*size >= little && free >= pages/2 {
		// It is one transaction, which a process that is killed leaves undone.
		if err := w.exec("VACUUM"); err != nil {
			return err
		}
	}
	// Who reads for long, as Verify does, is not waited for: others want to append.
	defer func() { _ = w.exec("PRAGMA busy_timeout = 10000") }()
	if err := w.exec("PRAGMA busy_timeout = 100"); err != nil {
		return err
	}
	return w.exec("PRAGMA wal_checkpoint(TRUNCATE)")
}

// trimmable is up to where two sound snapshots stand for the events.
func (s *Store) trimmable(ctx context.Context) (store.Position, error) {
	snaps, err := snapshots(ctx, s.readers)
	if err != nil {
		return 0, err
	}
	for _, snap := range snaps {
		if !snap.sound {
			return 0, fmt.Errorf("%w: nothing is trimmed: the snapshot at %d was changed", store.ErrDamaged, snap.Position)
		}
	}
	if len(snaps) < 2 {
		return 0, nil
	}
	return snaps[1].Position, nil
}

// declareTrim records the trim, and then that the record is the last event.
func (w *writer) declareTrim(to store.Position, by string) error {
	declared := &trim{to: to}
	err := w.transact(func() (err error) {
		if declared.bases, err = w.bases(to); err != nil {
			return err
		}
		if declared.last, err = w.lastEvents(to); err != nil {
			return err
		}
		said, err := w.describeTrim(to, len(declared.last), by)
		declared.said = said
		if err != nil {
			return err
		}
		return w.appendOwn(trimsSubject, trimRecord{
			V: 1, Trimmed: to, Bases: declared.bases,
			Events: said.Events, Total: said.Total, Time: said.Time, By: said.By,
		})
	})
	if err != nil {
		return err
	}

	// If the file beside were older, it would know an event that is removed.
	if err := w.recordHeads(); err != nil {
		return err
	}
	w.s.trimmed.Store(declared)
	return nil
}

// describeTrim is what a trim is about to remove, in numbers: all but the last events.
func (w *writer) describeTrim(to store.Position, last int, by string) (store.Trimmed, error) {
	said := store.Trimmed{To: to, Time: time.Now().UTC().Truncate(time.Second), By: by}
	err := w.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM events WHERE position <= ?", int64(to)).Scan(&said.Events)
	said.Events -= last
	said.Total = w.s.trimmed.Load().said.Total + said.Events
	return said, err
}

// lastEvents are the positions up to one at which subjects end. What a subject goes on from later
// is among them, and not among the bases.
func (w *writer) lastEvents(to store.Position) (last []int64, err error) {
	err = each(context.Background(), w.conn, func(row *sql.Rows) error {
		var at int64
		err := row.Scan(&at)
		last = append(last, at)
		return err
	}, "SELECT position FROM heads WHERE position <= ? ORDER BY position", int64(to))
	return last, err
}

// bases returns the links that will hang in the air.
func (w *writer) bases(to store.Position) (map[string]store.Hash, error) {
	bases := map[string]store.Hash{}
	err := each(context.Background(), w.conn, func(row *sql.Rows) error {
		var subject string
		var previous any
		err := row.Scan(&subject, &previous)
		if !store.Own(subject) {
			bases[subject] = hash(previous)
		}
		return err
	}, "SELECT subject, previous FROM events WHERE position > ?1 AND prior BETWEEN 1 AND ?1", int64(to))
	return bases, err
}

// trim removes some of the events after a position, except those that were the last of their
// subjects. It returns how far it got.
func (w *writer) trim(declared *trim, from store.Position) (store.Position, error) {
	var next any
	err := w.conn.QueryRowContext(context.Background(),
		"SELECT max(position) FROM (SELECT position FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?)",
		int64(from), int64(declared.to), trimStep).Scan(&next)
	if err != nil || next == nil {
		return declared.to, err
	}
	first, _ := slices.BinarySearch(declared.last, int64(from)+1)
	behind, _ := slices.BinarySearch(declared.last, int64(position(next))+1)
	stay, err := json.Marshal(append([]int64{}, declared.last[first:behind]...))
	if err != nil {
		return from, err
	}
	return position(next), w.transact(func() error {
		return w.exec("DELETE FROM events WHERE position > ? AND position <= ? AND position NOT IN (SELECT value FROM json_each(?))", int64(from), next, string(stay))
	})
}
