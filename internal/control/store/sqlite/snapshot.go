package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/control/store"
)

// SaveSnapshot keeps a snapshot and the one before it.
func (s *Store) SaveSnapshot(ctx context.Context, snap store.Snapshot) error {
	if snap.Position > s.end() {
		return fmt.Errorf("%w: a snapshot at %d, behind the last event at %d", store.ErrInvalid, snap.Position, s.end())
	}
	// Who is told ErrUnknown may use the slice for something else.
	data, hash := append([]byte{}, snap.Data...), snapshotHash(snap)
	_, err := s.ask(ctx, request{task: func(w *writer) error {
		return w.transact(func() error {
			err := w.change("INSERT OR REPLACE INTO snapshots (position, hash, data) VALUES (?, ?, ?)", int64(snap.Position), hash[:], data)
			if err != nil {
				return err
			}
			return w.change("DELETE FROM snapshots WHERE position NOT IN (SELECT position FROM snapshots ORDER BY position DESC LIMIT 2)")
		})
	}})
	return err
}

func snapshotHash(snap store.Snapshot) store.Hash {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64([]byte("snapshot"), uint64(snap.Position)))
	h.Write(snap.Data)
	return store.Hash(h.Sum(nil))
}

// LoadSnapshot returns the newest sound snapshot.
func (s *Store) LoadSnapshot(ctx context.Context) (store.Snapshot, error) {
	if err := s.usable("all"); err != nil {
		return store.Snapshot{}, err
	}
	snaps, err := row{ctx, s.readers}.snapshots()
	if err != nil && !malformed(err) {
		return store.Snapshot{}, explain(s.path, err)
	}
	trimmed := s.gone()
	for _, snap := range snaps {
		if snap.sound && snap.Position >= trimmed {
			return snap.Snapshot, nil
		}
	}
	if trimmed > 0 {
		return store.Snapshot{}, explain(s.path, fmt.Errorf("%w: no snapshot is sound that stands for the events up to %d, which were trimmed", store.ErrDamaged, trimmed))
	}
	return store.Snapshot{}, nil
}

// kept is a snapshot as it is in the file.
type kept struct {
	store.Snapshot
	sound bool
}

// snapshots returns those that are there, the newest first. One by one: what cannot be read
// of one says nothing about the other.
func (r row) snapshots() (snaps []kept, err error) {
	rows, err := r.conn.QueryContext(r.ctx, "SELECT position FROM snapshots ORDER BY position DESC")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var k kept
		if err := rows.Scan(&k.Position); err != nil {
			return snaps, fmt.Errorf("%w: a snapshot: %w", store.ErrDamaged, err)
		}
		snaps = append(snaps, k)
	}
	if err := rows.Err(); err != nil {
		return snaps, err
	}
	rows.Close() // or a connection that there is one of would be waited for
	for i := range snaps {
		if err := r.fetch(&snaps[i]); err != nil {
			return snaps, err
		}
	}
	return snaps, nil
}

// fetch reads the rest of a snapshot. One that cannot be read, or has gone, is not sound.
func (r row) fetch(k *kept) error {
	values, err := r.row("SELECT hash, data FROM snapshots WHERE position = ?", int64(k.Position))
	if malformed(err) || errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	hash, _ := values[0].([]byte)
	k.Data, _ = values[1].([]byte)
	want := snapshotHash(k.Snapshot)
	k.sound = string(hash) == string(want[:])
	return nil
}

// trimRecord is an event of trimsSubject: what a trim is about to remove.
type trimRecord struct {
	V       int            `json:"v"`
	Trimmed store.Position `json:"trimmed"`
	// Bases are the links that will hang in the air: of each subject that goes on behind
	// Trimmed, the hash that its first event there builds upon.
	Bases map[string]string `json:"bases,omitempty"`
}

// trim is what was trimmed: events up to a position may be gone, and the chains go on behind
// it from these hashes.
type trim struct {
	to    store.Position
	bases map[string]store.Hash
}

// add adds what a record of a trim says. Only the records of the last trim count.
func (t *trim) add(record []byte) error {
	var r trimRecord
	if err := json.Unmarshal(record, &r); err != nil || r.Trimmed < t.to {
		return err
	}
	if r.Trimmed > t.to {
		t.to, t.bases = r.Trimmed, map[string]store.Hash{}
	}
	for subject, text := range r.Bases {
		hash, err := parseHash(text)
		if err != nil {
			return err
		}
		t.bases[subject] = hash
	}
	return nil
}

// trimStep is how many rows one transaction of a trim looks at: appends wait no longer
// than for that.
const trimStep = int64(256)

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
	plan := &trimPlan{}
	if _, err := s.ask(ctx, request{task: func(w *writer) error { return w.planTrim(to, plan) }}); err != nil {
		return err
	}
	for from := store.Position(0); from < to; {
		var next store.Position
		_, err := s.ask(ctx, request{task: func(w *writer) (err error) {
			next, err = w.trim(from, plan)
			return err
		}})
		if err != nil {
			return err
		}
		from = next
	}
	_, err = s.ask(ctx, request{task: func(w *writer) error { return w.forgetIDs(plan) }})
	return err
}

// trimmable is up to where two sound snapshots stand for the events.
func (s *Store) trimmable(ctx context.Context) (store.Position, error) {
	snaps, err := row{ctx, s.readers}.snapshots()
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

// trimPlan is what a trim goes by.
type trimPlan struct {
	to   store.Position
	kept map[store.Position]bool // those up to there that were the last of their subject
	ids  []byte                  // fingerprints of those
}

// planTrim records the trim, and all heads anew: the older records of both go.
func (w *writer) planTrim(to store.Position, plan *trimPlan) error {
	plan.to, plan.kept = to, map[store.Position]bool{}
	var bases map[string]store.Hash
	err := w.transact(func() (err error) {
		if bases, err = w.recordTrim(to); err != nil {
			return err
		}
		return w.recordAllHeads()
	})
	if err != nil {
		return err
	}
	err = w.each("SELECT position, subject FROM heads WHERE position <= ?", []any{int64(to)}, func(row []driver.Value) error {
		position, _ := row[0].(int64)
		plan.kept[store.Position(position)] = true
		return nil
	})
	if err != nil {
		return err
	}
	// If the file beside were older, it would know a record that is removed.
	if err := w.s.side.flush(); err != nil {
		return err
	}
	w.s.trimmed.Store(&trim{to, bases})
	return nil
}

// recordTrim appends the record of a trim, and returns the bases in it.
func (w *writer) recordTrim(to store.Position) (map[string]store.Hash, error) {
	bases, seen := map[string]store.Hash{}, map[string]bool{}
	err := w.each("SELECT body FROM batches WHERE last > ? ORDER BY last", []any{int64(to)}, func(row []driver.Value) error {
		body, _ := row[0].([]byte)
		entries, err := decodeAll(body)
		for _, e := range entries {
			if e.Position > to && !seen[e.Subject] {
				seen[e.Subject] = true
				if e.prior != 0 && !store.Own(e.Subject) {
					bases[e.Subject] = e.Previous
				}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(bases) == 0 {
		return nil, w.appendOwn(trimsSubject, trimRecord{V: 1, Trimmed: to})
	}
	for part := range parts(bases, func(subject string) int { return len(subject) + 80 }) {
		texts := make(map[string]string, len(part))
		for subject, hash := range part {
			texts[subject] = hash.String()
		}
		if err := w.appendOwn(trimsSubject, trimRecord{V: 1, Trimmed: to, Bases: texts}); err != nil {
			return nil, err
		}
	}
	return bases, nil
}

// trim removes some of the events after a position, and returns how far it got.
func (w *writer) trim(from store.Position, plan *trimPlan) (done store.Position, err error) {
	type change struct {
		last int64
		body []byte
	}
	var changes []change
	done = plan.to
	err = w.each("SELECT last, body FROM batches WHERE last > ? ORDER BY last LIMIT ?", []any{int64(from), trimStep}, func(row []driver.Value) error {
		last, _ := row[0].(int64)
		body, _ := row[1].([]byte)
		entries, err := decodeAll(body)
		if err != nil {
			return err
		}
		if body, gone := plan.keep(entries); gone > 0 {
			changes = append(changes, change{last, body})
		}
		done = store.Position(last)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return done, w.transact(func() error {
		for _, c := range changes {
			var err error
			if len(c.body) == 0 {
				err = w.change("DELETE FROM batches WHERE last = ?", c.last)
			} else {
				err = w.change("UPDATE batches SET body = ? WHERE last = ?", c.body, c.last)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// keep returns the body of a row with the entries that stay, and how many do not.
func (p *trimPlan) keep(entries []entry) (body []byte, gone int) {
	for _, e := range entries {
		if e.Position <= p.to {
			if !p.kept[e.Position] || store.Own(e.Subject) {
				gone++
				continue
			}
			p.ids = binary.LittleEndian.AppendUint64(p.ids, fingerprint(e.ID))
		}
		body = encode(body, &e)
	}
	return body, gone
}

// forgetIDs removes the fingerprints of the events that are gone.
func (w *writer) forgetIDs(plan *trimPlan) error {
	err := w.transact(func() error {
		if err := w.change("DELETE FROM ids WHERE last <= ?", int64(plan.to)); err != nil {
			return err
		}
		return w.change("INSERT INTO ids (last, prints) VALUES (?, ?)", int64(plan.to), append([]byte{}, plan.ids...))
	})
	if err != nil {
		return err
	}
	return w.loadIDs()
}

// loadTrimmed finds out what was trimmed, by the records of it.
func (w *writer) loadTrimmed() error {
	head, err := w.head(trimsSubject)
	if err != nil {
		return err
	}
	last := &trim{}
	for head.Position > last.to {
		if err := checkHead(w, trimsSubject, head); err != nil {
			return err
		}
		e, err := entryAt(w, head.Position)
		if err != nil {
			return err
		}
		if err := last.add(e.Data); err != nil {
			return fmt.Errorf("%w: event %d: %w", store.ErrDamaged, e.Position, err)
		}
		head = store.Head{Position: e.prior, Hash: e.Previous}
	}
	w.s.trimmed.Store(last)
	return nil
}
