package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/store"
)

// Verify checks the whole store as it is now.
func (s *Store) Verify(ctx context.Context) (store.Report, error) { return Verify(ctx, s.path) }

// Verify checks the database at path: every event, every chain, where the chains once
// ended, the snapshots, and SQLite's own structures. It changes nothing, and another
// process may have the store open. An error means that it could not be checked; what is
// damaged, also beyond opening, is in the report.
func Verify(ctx context.Context, path string) (store.Report, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return store.Report{}, err
	}
	v := newVerifier(path)
	// Before anything is read from the database, which may go on meanwhile.
	err = v.readSide()
	if err == nil {
		err = v.run(ctx)
	}
	if err != nil {
		return v.report, fmt.Errorf("store %s: %w", path, err)
	}
	return v.report, nil
}

func newVerifier(path string) *verifier {
	return &verifier{path: path, chains: map[string]chain{}, heads: map[string]store.Head{}, bases: map[string]store.Hash{}}
}

type verifier struct {
	path   string
	report store.Report
	conn   *sql.Conn

	known   store.Head  // from the side file
	witness store.Event // the event at that position
	heads   map[string]store.Head
	bases   map[string]store.Hash
	trimmed store.Position
	chains  map[string]chain
	last    store.Position
}

// chain is how far a subject's chain was followed.
type chain struct {
	head   store.Head
	broken bool // the last one was damaged: the next is not blamed for it
}

func (v *verifier) run(ctx context.Context) error {
	if _, err := os.Stat(v.path); err != nil {
		if errors.Is(err, fs.ErrNotExist) && v.gone("it is not there") {
			return nil
		}
		return err
	}
	if err := v.checkLog(); err != nil {
		return err
	}
	db, err := connectReaders(v.path, "ro")
	if err != nil {
		return err
	}
	defer db.Close()
	if v.conn, err = db.Conn(ctx); err != nil {
		return v.damage(err, "the database cannot be opened")
	}
	defer v.conn.Close()
	// One transaction: all is seen as of one moment.
	if _, err := v.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return v.damage(err, "the database cannot be read")
	}
	defer v.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	version, err := format(row{ctx, v.conn})
	if err != nil {
		return v.damage(err, "the database cannot be read")
	}
	if version == 0 {
		v.gone("it is empty")
		return nil
	}
	for _, check := range []func(context.Context) error{v.integrity, v.records, v.tables, v.events, v.snapshots} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	v.ends()
	return v.whichCopy(ctx)
}

// gone reports, and tells, that there were once events where there is nothing.
func (v *verifier) gone(what string) bool {
	if v.known.Position > 0 {
		v.report.Add(0, "", "%s: the events up to %d were once known", what, v.known.Position)
	}
	return v.known.Position > 0
}

// damage takes an error for a finding if it says that the file is damaged.
func (v *verifier) damage(err error, what string) error {
	if err == nil || !malformed(err) && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	v.report.Add(0, "", "%s: %v", what, err)
	return nil
}

func (v *verifier) readSide() error {
	var err error
	v.known, err = readSide(sidePath(v.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("%s is not there: whether the database is an older copy of itself cannot be told", sidePath(v.path)))
		return nil
	case errors.Is(err, store.ErrDamaged):
		v.report.Found(store.Finding{
			Text:   fmt.Sprintf("%s is not what was written: whether the database is an older copy of itself cannot be told", sidePath(v.path)),
			Remedy: "the daemon writes it anew when it starts",
		})
		return nil
	}
	return err
}

// checkLog looks twice: a log that is being written to may look damaged once.
func (v *verifier) checkLog() error {
	first, err := checkLog(v.path + "-wal")
	if err != nil || first == nil {
		return err
	}
	second, err := checkLog(v.path + "-wal")
	if err == nil && second != nil && second.offset == first.offset {
		v.report.Add(0, "", "%s", second)
	}
	return err
}

// integrity has SQLite check its own structures.
func (v *verifier) integrity(ctx context.Context) error {
	rows, err := v.conn.QueryContext(ctx, "PRAGMA integrity_check")
	if err != nil {
		return v.damage(err, "the database's structure")
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if text != "ok" {
			v.report.Add(0, "", "the database's structure: %s", text)
		}
	}
	return v.damage(rows.Err(), "the database's structure")
}

// records reads what the store has written down about itself, before the events that it
// is about.
func (v *verifier) records(ctx context.Context) error {
	return v.scan(ctx, 0, func(e entry) {
		// One that is not sound is found with all others.
		if store.Own(e.Subject) && e.Sound() && v.record(e.Event) != nil {
			v.report.Add(e.Position, e.Subject, "it cannot be understood")
		}
	}, func(store.Position, error) {})
}

// tables compares the table of heads with the records.
func (v *verifier) tables(ctx context.Context) error {
	rows, err := v.conn.QueryContext(ctx, "SELECT subject, position, hash FROM heads")
	if err != nil {
		return v.damage(err, "the table of heads cannot be read")
	}
	defer rows.Close()
	for rows.Next() {
		var subject string
		var head store.Head
		var hash []byte
		if err := rows.Scan(&subject, &head.Position, &hash); err != nil {
			v.report.Add(0, "", "the table of heads: %v", err)
			continue
		}
		copy(head.Hash[:], hash)
		if recorded, ok := v.heads[subject]; ok && recorded != head {
			v.report.Add(0, subject, "the table of heads says that it ends at event %d, the records at %d", head.Position, recorded.Position)
		} else {
			v.heads[subject] = head
		}
	}
	return v.damage(rows.Err(), "the table of heads cannot be read")
}

func (v *verifier) record(e store.Event) error {
	if e.Subject == trimsSubject {
		var r trimRecord
		if err := json.Unmarshal(e.Data, &r); err != nil {
			return err
		}
		if r.Trimmed > v.trimmed {
			v.trimmed = r.Trimmed
			clear(v.bases)
		}
		for subject, text := range r.Bases {
			hash, err := parseHash(text)
			if err != nil {
				return err
			}
			v.bases[subject] = hash
		}
		return nil
	}
	var r headsRecord
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	for subject, head := range r.Heads {
		v.heads[subject] = store.Head(head)
	}
	if r.Lost != 0 {
		v.report.Notes = append(v.report.Notes, fmt.Sprintf(
			"before event %d the database was put back to an older copy of itself: event %d was once known", e.Position, r.Lost))
	}
	return nil
}

// events checks every event.
func (v *verifier) events(ctx context.Context) error {
	return v.scan(ctx, 0, v.event, func(after store.Position, err error) {
		v.report.Add(0, "", "what comes after event %d cannot be read: %v", after, err)
	})
}

// scan calls do with every entry that can be read, and lost where some cannot.
func (v *verifier) scan(ctx context.Context, after store.Position, do func(entry), lost func(after store.Position, err error)) error {
	misses := 0
	for {
		err := v.scanRows(ctx, &after, do)
		if err == nil || !malformed(err) && !errors.Is(err, store.ErrDamaged) {
			return err
		}
		if misses == 0 {
			lost(after, err)
		}
		// The rows of a page that cannot be read are passed over, key by key.
		if misses++; misses > maxMisses {
			return nil
		}
		after++
	}
}

// maxMisses is how many positions are tried behind what cannot be read.
const maxMisses = 20_000

// scanRows moves after over the rows that it has read.
func (v *verifier) scanRows(ctx context.Context, after *store.Position, do func(entry)) error {
	rows, err := v.conn.QueryContext(ctx, "SELECT last, body FROM batches WHERE last > ? ORDER BY last", int64(*after))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var last store.Position
		var body sql.RawBytes
		if err := rows.Scan(&last, &body); err != nil {
			return fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
		entries, err := decodeAll(body)
		for _, e := range entries {
			do(e)
		}
		if err != nil {
			*after = last - 1 // it is passed over next
			return err
		}
		*after = last
	}
	return rows.Err()
}

// event checks one event, in the order of positions.
func (v *verifier) event(e entry) {
	if gap := max(v.last, v.trimmed); e.Position > gap+1 {
		v.report.Add(0, "", "the events %d to %d are missing", gap+1, e.Position-1)
	}
	v.last = max(v.last, e.Position)
	v.report.Last = v.last
	if e.Position == v.known.Position {
		v.witness = e.Event
	}
	before, seen := v.chains[e.Subject]
	if !e.Sound() {
		v.report.Add(e.Position, e.Subject, "it is not what was appended")
		v.chains[e.Subject] = chain{head: store.Head{Position: e.Position}, broken: true}
		return
	}
	switch {
	case !seen && !v.mayBegin(e.Event):
		v.report.Add(e.Position, e.Subject, "the events before it are missing")
	case seen && !before.broken && (e.Previous != before.head.Hash || e.prior != before.head.Position):
		v.report.Add(e.Position, e.Subject, "it does not go on from event %d: one between them is missing", before.head.Position)
	}
	if head, ok := v.heads[e.Subject]; ok && head.Position == e.Position && head.Hash != e.Hash {
		v.report.Add(e.Position, e.Subject, "it is not the one that was recorded")
	}
	v.chains[e.Subject] = chain{head: store.Head{Position: e.Position, Hash: e.Hash}}
	if !store.Own(e.Subject) {
		v.report.Events++
	}
}

// mayBegin reports whether a chain may begin with e: it is the first, or a trim has
// removed those before it.
func (v *verifier) mayBegin(e store.Event) bool {
	return e.Previous == store.Hash{} || e.Position <= v.trimmed || e.Previous == v.bases[e.Subject] || v.trimmed > 0 && store.Own(e.Subject)
}

// ends compares where the chains end with where they once ended.
func (v *verifier) ends() {
	for _, subject := range slices.Sorted(maps.Keys(v.heads)) {
		recorded := v.heads[subject]
		switch c, seen := v.chains[subject]; {
		case !seen:
			v.report.Add(0, subject, "all its events are missing: the last known one was %d", recorded.Position)
		case c.head.Position < recorded.Position:
			v.report.Add(0, subject, "it ends at event %d: those up to %d are missing", c.head.Position, recorded.Position)
		}
	}
	for subject := range v.chains {
		if !store.Own(subject) {
			v.report.Subjects++
		}
	}
}

// whichCopy finds out whether the database is an older copy of itself. The record that the
// side file named may have been trimmed since we read that: then it names another one.
func (v *verifier) whichCopy(ctx context.Context) error {
	text := staleCopy(v.known, v.witness, v.last)
	if text == "" {
		return nil
	}
	if again, err := readSide(sidePath(v.path)); err == nil && again != v.known {
		if again.Position > v.last {
			return nil // the store goes on, and we look at what it was
		}
		at, err := entryAt(row{ctx, v.conn}, again.Position)
		if err != nil {
			return v.damage(err, fmt.Sprintf("event %d cannot be read", again.Position))
		}
		text = staleCopy(again, at.Event, v.last)
	}
	if text != "" {
		v.report.Found(store.Finding{Text: text, Remedy: "if you have put a backup back, start the daemon once: it takes note of it and goes on from there"})
	}
	return nil
}

func (v *verifier) snapshots(ctx context.Context) error {
	snaps, err := row{ctx, v.conn}.snapshots()
	if err != nil {
		return v.damage(err, "the snapshots cannot be read")
	}
	standing := v.trimmed == 0
	for _, k := range snaps {
		if !k.sound {
			v.report.Add(0, "", "the snapshot at %d is not what was saved", k.Position)
			continue
		}
		standing = standing || k.Position >= v.trimmed
	}
	if !standing {
		v.report.Add(0, "", "no sound snapshot stands for the events up to %d, which were trimmed", v.trimmed)
	}
	return nil
}

// row asks a connection of package sql, or any of several, for one row.
type row struct {
	ctx  context.Context
	conn interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (r row) row(query string, args ...any) ([]driver.Value, error) {
	rows, err := r.conn.QueryContext(r.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]driver.Value, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = (*any)(&values[i])
	}
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	return values, nil
}
