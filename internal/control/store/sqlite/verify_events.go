package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/stopgate/stopgate/internal/control/store"
)

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
		v.report.Add(0, "", "the row with key %d does not end at event %d: its events cannot be found", b.last, b.last)
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
		v.report.Add(e.Position, e.Subject, "its link to the previous event does not match the hash of that event")
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
