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
	"math"
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
	return &verifier{
		path: path, chains: map[string]chain{}, heads: map[string]store.Head{},
		records: map[store.Position]bool{}, kept: map[store.Position]bool{},
	}
}

type verifier struct {
	path   string
	report store.Report
	conn   *sql.Conn

	known   store.Head  // from the side file
	witness store.Event // the event at that position
	heads   map[string]store.Head
	records map[store.Position]bool // where the records of heads are
	trim    trim
	kept    map[store.Position]bool // the events up to the trim that are still there
	indexed store.Position          // the ids of the events up to here are in prints
	prints  []uint64                // sorted
	chains  map[string]chain
	last    store.Position
	row     store.Position // the key of the last row
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
	if err := v.checkHeader(); err != nil {
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
	for _, check := range []func(context.Context) error{v.integrity, v.checkTypes, v.readRecords, v.checkHeads, v.checkIDs, v.events, v.snapshots} {
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

// checkHeader finds what SQLite takes for a file that a newer SQLite has written: one that
// can be read, and not be written to.
func (v *verifier) checkHeader() error {
	f, err := os.Open(v.path)
	if err != nil {
		return err
	}
	defer f.Close()

	header := make([]byte, 20)
	if _, err := io.ReadFull(f, header); err != nil {
		return ignoreEnd(err)
	}
	if version := header[18]; version > 2 {
		v.report.Add(0, "", "the database's header: its write version is %d, and SQLite writes to no file above 2", version)
	}
	return nil
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

// types finds the rows with a value that is not of the type that it was written as. SQLite
// keeps any type in any column, and who expects a blob reads nothing from a text.
const types = `
SELECT 'batches' FROM batches WHERE typeof(body) <> 'blob'
UNION ALL SELECT 'heads' FROM heads WHERE typeof(subject) <> 'text' OR typeof(position) <> 'integer' OR typeof(hash) <> 'blob'
UNION ALL SELECT 'ids' FROM ids WHERE typeof(prints) <> 'blob'
UNION ALL SELECT 'snapshots' FROM snapshots WHERE typeof(hash) <> 'blob' OR typeof(data) <> 'blob'`

func (v *verifier) checkTypes(ctx context.Context) error {
	err := v.each(ctx, types, func(rows *sql.Rows) error {
		var table string
		err := rows.Scan(&table)
		v.report.Add(0, "", "the table %s has a value of another type than was written", table)
		return err
	})
	return v.damage(err, "the types of the values cannot be read")
}

// readRecords reads what the store has written down about itself, before the events that
// it is about.
func (v *verifier) readRecords(ctx context.Context) error {
	return v.scan(ctx, func(b batch) {
		for _, e := range b.entries {
			// One that is not sound is found with all others.
			if store.Own(e.Subject) && e.Sound() && v.record(e.Event) != nil {
				v.report.Add(e.Position, e.Subject, "it cannot be understood")
			}
		}
	}, func(store.Position, error) {})
}

// checkHeads compares the table of heads with the records: both have the same heads, and
// the table has that of the records besides.
func (v *verifier) checkHeads(ctx context.Context) error {
	table := map[string]store.Head{}
	err := v.each(ctx, "SELECT subject, position, hash FROM heads", func(rows *sql.Rows) error {
		var subject string
		var head store.Head
		var hash []byte
		err := rows.Scan(&subject, &head.Position, &hash)
		copy(head.Hash[:], hash)
		table[subject] = head
		return err
	})
	if err != nil {
		return v.damage(err, "the table of heads cannot be read")
	}

	for _, subject := range slices.Sorted(maps.Keys(v.heads)) {
		recorded := v.heads[subject]
		if head, ok := table[subject]; !ok {
			v.report.Add(0, subject, "it is not in the table of heads, the records say that it ends at event %d", recorded.Position)
		} else if head != recorded {
			v.report.Add(0, subject, "the table of heads says that it ends at event %d, the records at %d", head.Position, recorded.Position)
		}
		delete(table, subject)
	}
	maps.Copy(v.heads, table)
	v.indexed = v.heads[headsSubject].Position
	return nil
}

// checkIDs reads the table of ids. Each of its rows belongs to a record of heads, or to a
// trim.
func (v *verifier) checkIDs(ctx context.Context) error {
	err := v.each(ctx, "SELECT last, prints FROM ids", func(rows *sql.Rows) error {
		var last store.Position
		var prints sql.RawBytes
		if err := rows.Scan(&last, &prints); err != nil {
			return err
		}
		if last > v.trim.to && !v.records[last] {
			v.report.Add(0, "", "the table of ids goes up to event %d, which is no record of heads", last)
		}
		v.prints = slices.AppendSeq(v.prints, unpack(prints))
		return nil
	})
	slices.Sort(v.prints)
	return v.damage(err, "the table of ids cannot be read")
}

// each calls do with every row of a query. A row that do fails with is damaged.
func (v *verifier) each(ctx context.Context, query string, do func(*sql.Rows) error) error {
	rows, err := v.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
	return rows.Err()
}

func (v *verifier) record(e store.Event) error {
	if e.Subject == trimsSubject {
		return v.trim.add(e.Data)
	}
	v.records[e.Position] = true
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

// batch is a row of events.
type batch struct {
	last    store.Position // its key
	entries []entry
	err     error // what is wrong behind them
}

// maxSkips is how many times a scan goes on behind what cannot be read: a tree whose pages
// point anywhere must not keep it for ever.
const maxSkips = 1000

// scan calls do with every row that can be read, and lost where some cannot.
func (v *verifier) scan(ctx context.Context, do func(batch), lost func(after store.Position, err error)) error {
	after := store.Position(0)
	for range maxSkips {
		err := v.scanRows(ctx, &after, do)
		if err == nil || !malformed(err) {
			return err
		}
		lost(after, err)

		next, ok := v.skip(ctx, after)
		if !ok {
			return ctx.Err()
		}
		after = next
	}
	return nil
}

// scanRows moves after over the rows that it has read.
func (v *verifier) scanRows(ctx context.Context, after *store.Position, do func(batch)) error {
	rows, err := v.conn.QueryContext(ctx, "SELECT last, body FROM batches WHERE last > ? ORDER BY last", int64(*after))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var b batch
		var body sql.RawBytes
		if err := rows.Scan(&b.last, &body); err != nil {
			return err
		}
		b.entries, b.err = decodeAll(body)
		do(b)
		*after = max(*after, b.last)
	}
	return rows.Err()
}

// skip returns the first position after one that cannot be read from which the rows can be
// read again. A page that is lost may stand for a million positions: the steps double, and
// what the last of them passed over is searched by halves.
func (v *verifier) skip(ctx context.Context, after store.Position) (store.Position, bool) {
	readable := func(after store.Position) bool {
		_, err := row{ctx, v.conn}.row("SELECT body FROM batches WHERE last > ? ORDER BY last LIMIT 1", int64(after))
		return err == nil || errors.Is(err, io.EOF)
	}

	bad, good := after, after+1
	for step := store.Position(1); !readable(good); step *= 2 {
		bad, good = good, good+step
		if good > math.MaxInt64 {
			return 0, false
		}
	}

	for good-bad > 1 {
		if middle := bad + (good-bad)/2; readable(middle) {
			good = middle
		} else {
			bad = middle
		}
	}
	return good, true
}

// events checks every event.
func (v *verifier) events(ctx context.Context) error { return v.scan(ctx, v.batch, v.lost) }

func (v *verifier) lost(after store.Position, err error) {
	v.report.Add(0, "", "what comes after event %d cannot be read: %v", after, err)
}

// batch checks one row, in the order of keys.
func (v *verifier) batch(b batch) {
	for _, e := range b.entries {
		v.event(e)
	}
	switch {
	case b.err != nil:
		v.lost(v.last, b.err)
	case !v.keyFits(b):
		v.report.Add(0, "", "the row with the key %d is not that of the events up to %d: they cannot be found", b.last, b.last)
	}
	v.row = b.last
}

// keyFits reports whether a row has the events behind the row before it, up to its key. A
// trim leaves the key as it was.
func (v *verifier) keyFits(b batch) bool {
	if len(b.entries) == 0 {
		return false
	}
	first, last := b.entries[0].Position, b.entries[len(b.entries)-1].Position
	return first > v.row && (last == b.last || last < b.last && b.last <= v.trim.to)
}

// event checks one event, in the order of positions.
func (v *verifier) event(e entry) {
	v.place(e)
	head, recorded := v.heads[e.Subject]
	if recorded = recorded && head.Position == e.Position; recorded {
		delete(v.heads, e.Subject) // those that stay are missing
	}
	if !e.Sound() {
		v.report.Add(e.Position, e.Subject, "it is not what was appended")
		v.chains[e.Subject] = chain{head: store.Head{Position: e.Position}, broken: true}
		return
	}

	v.link(e)
	if recorded && head.Hash != e.Hash {
		v.report.Add(e.Position, e.Subject, "it is not the one that was recorded")
	}
	if _, ok := slices.BinarySearch(v.prints, fingerprint(e.ID)); !ok && e.Position <= v.indexed {
		v.report.Add(e.Position, e.Subject, "its id is not in the table of ids: it could be appended again")
	}

	v.chains[e.Subject] = chain{head: store.Head{Position: e.Position, Hash: e.Hash}}
	if !store.Own(e.Subject) {
		v.report.Events++
	}
}

// place checks that an event comes right behind the one before it.
func (v *verifier) place(e entry) {
	if gap := max(v.last, v.trim.to); e.Position > gap+1 {
		v.report.Add(0, "", "the events %d to %d are missing", gap+1, e.Position-1)
	}
	if e.Position <= v.last {
		v.report.Add(e.Position, e.Subject, "it comes after event %d", v.last)
	}
	if e.Position <= v.trim.to {
		v.kept[e.Position] = true
	}
	if e.Position == v.known.Position {
		v.witness = e.Event
	}
	v.last = max(v.last, e.Position)
	v.report.Last = v.last
}

// link checks that an event goes on from the one before it in its subject.
func (v *verifier) link(e entry) {
	before, seen := v.chains[e.Subject]
	switch {
	case !e.linked():
		v.report.Add(e.Position, e.Subject, "where the event before it is and the hash of that do not fit together")
	case !seen && !v.mayBegin(e):
		v.report.Add(e.Position, e.Subject, "the events before it are missing")
	case seen && !before.broken && (e.Previous != before.head.Hash || e.prior != before.head.Position):
		v.report.Add(e.Position, e.Subject, "it does not go on from event %d: one between them is missing", before.head.Position)
	}
}

// mayBegin reports whether a chain may begin with e: it is the first, or a trim has
// removed those before it.
func (v *verifier) mayBegin(e entry) bool {
	if e.prior == 0 {
		return true
	}
	if e.prior > v.trim.to || v.kept[e.prior] {
		return false
	}
	return e.Position <= v.trim.to || e.Previous == v.trim.bases[e.Subject] || store.Own(e.Subject)
}

// ends compares where the chains end with where they once ended: heads has those that the
// events did not meet.
func (v *verifier) ends() {
	for _, subject := range slices.Sorted(maps.Keys(v.heads)) {
		recorded := v.heads[subject]
		switch c, seen := v.chains[subject]; {
		case !seen:
			v.report.Add(0, subject, "all its events are missing: the last known one was %d", recorded.Position)
		case c.head.Position < recorded.Position:
			v.report.Add(0, subject, "it ends at event %d: those up to %d are missing", c.head.Position, recorded.Position)
		default:
			v.report.Add(0, subject, "event %d, where it once ended, is missing", recorded.Position)
		}
	}
	if end := v.chains[headsSubject].head.Position; end != v.indexed {
		v.report.Add(0, headsSubject, "the table of heads is as of event %d, the last record is event %d", v.indexed, end)
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
	standing := v.trim.to == 0
	for _, k := range snaps {
		if !k.sound {
			v.report.Add(0, "", "the snapshot at %d is not what was saved", k.Position)
			continue
		}
		standing = standing || k.Position >= v.trim.to
	}
	if !standing {
		v.report.Add(0, "", "no sound snapshot stands for the events up to %d, which were trimmed", v.trim.to)
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
