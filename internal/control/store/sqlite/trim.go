package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"

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
}

// trim is what was trimmed: events up to a position may be gone, and the chains go on behind
// it from these hashes.
type trim struct {
	to    store.Position
	bases map[string]store.Hash
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
			err = fmt.Errorf("%w: event %d, a record of a trim, is missing, or not what was appended", store.ErrDamaged, after.prior)
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
func (s *Store) Trim(ctx context.Context) error {
	if err := s.usable("all"); err != nil {
		return err
	}
	s.trimming.Lock()
	defer s.trimming.Unlock()
	to, err := s.trimmable(ctx)
	if err != nil || to <= s.gone() {
		return explain(s.path, err)
	}
	report, err := s.Verify(ctx)
	if err != nil {
		return err
	}
	if !report.Sound() {
		return explain(s.path, fmt.Errorf("%w: nothing is trimmed: %s", store.ErrDamaged, report.Findings[0]))
	}
	_, err = s.ask(ctx, request{task: func(w *writer) error { return w.declareTrim(to) }})
	for from := store.Position(0); err == nil && from < to; {
		_, err = s.ask(ctx, request{task: func(w *writer) (err error) {
			from, err = w.trim(from, to)
			return err
		}})
	}
	return err
}

// trimmable is up to where two sound snapshots stand for the events.
func (s *Store) trimmable(ctx context.Context) (store.Position, error) {
	snaps, err := snapshots(ctx, s.readers)
	if err != nil {
		return 0, err
	}
	for _, snap := range snaps {
		if !snap.sound {
			return 0, fmt.Errorf("%w: nothing is trimmed: the snapshot at %d is not what was saved", store.ErrDamaged, snap.Position)
		}
	}
	if len(snaps) < 2 {
		return 0, nil
	}
	return snaps[1].Position, nil
}

// declareTrim records the trim, and then that the record is the last event.
func (w *writer) declareTrim(to store.Position) error {
	declared := &trim{to: to}
	err := w.transact(func() (err error) {
		if declared.bases, err = w.bases(to); err != nil {
			return err
		}
		return w.appendOwn(trimsSubject, trimRecord{V: 1, Trimmed: to, Bases: declared.bases})
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

// trim removes some of the events after a position, except the last of each subject. It
// returns how far it got.
func (w *writer) trim(from, to store.Position) (store.Position, error) {
	var next any
	err := w.conn.QueryRowContext(context.Background(),
		"SELECT max(position) FROM (SELECT position FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?)",
		int64(from), int64(to), trimStep).Scan(&next)
	if err != nil || next == nil {
		return to, err
	}
	return position(next), w.transact(func() error {
		return w.exec(`DELETE FROM events WHERE position > ? AND position <= ? AND NOT EXISTS
			(SELECT 1 FROM heads h WHERE h.subject = events.subject AND h.position = events.position)`, int64(from), next)
	})
}
