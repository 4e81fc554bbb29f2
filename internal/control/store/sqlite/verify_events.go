package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/stopgate/stopgate/internal/control/store"
)

// maxSkips is how many times a scan goes on behind what cannot be read: a tree whose pages
// point anywhere must not keep it for ever.
const maxSkips = 1000

const entriesAfter = "SELECT " + entryColumns + " FROM events e WHERE position > ? ORDER BY position"

// events checks every event that can be read.
func (v *verifier) events(ctx context.Context) error {
	after, skips := store.Position(0), 0
	for {
		err := each(ctx, v.conn, func(row *sql.Rows) error {
			e, err := scanEntry(row)
			if err == nil {
				v.event(e)
				after = max(after, e.Position)
			}
			return err
		}, entriesAfter, int64(after))
		if err == nil || !malformed(err) {
			return err
		}
		v.report.Add(0, "", "cannot read the events after %d: %v", after, err)
		next, ok := v.skip(ctx, after)
		if skips++; !ok || skips > maxSkips {
			return ctx.Err()
		}
		after = next
	}
}

// skip returns the first position after one that cannot be read from which the rows can be
// read again. A page that is lost may stand for a million positions: the steps double, and
// what the last of them passed over is searched by halves.
func (v *verifier) skip(ctx context.Context, after store.Position) (store.Position, bool) {
	readable := func(after store.Position) bool {
		_, err := scanEntry(v.conn.QueryRowContext(ctx, entriesAfter+" LIMIT 1", int64(after)))
		return err == nil || errors.Is(err, sql.ErrNoRows)
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

// event checks one event, in the order of positions.
func (v *verifier) event(e entry) {
	v.place(e)
	if !e.Sound() {
		v.report.Add(e.Position, e.Subject, "it was changed")
		v.chains[e.Subject] = chain{head: store.Head{Position: e.Position}, broken: true}
		return
	}
	v.link(e)
	v.chains[e.Subject] = chain{head: e.head()}
	if !store.Own(e.Subject) {
		v.report.Events++
	} else if err := v.record(e.Event); err != nil {
		v.report.Add(e.Position, e.Subject, "invalid event: %v", err)
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
	case seen && !before.broken && !e.follows(before.head):
		v.report.Add(e.Position, e.Subject, "it does not follow event %d: an event between them is missing", before.head.Position)
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

// record reads what the store has written down about itself.
func (v *verifier) record(e store.Event) error {
	if e.Subject == trimsSubject {
		return (&trim{}).add(e.Data)
	}
	var r headsRecord
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	if r.Lost != 0 {
		v.report.Notes = append(v.report.Notes, fmt.Sprintf(
			"the database was restored from an older copy before event %d: event %d is missing", e.Position, r.Lost))
	}
	return nil
}

// ends compares where the chains end with the table of heads.
func (v *verifier) ends() {
	for _, subject := range slices.Sorted(maps.Keys(v.heads)) {
		head := v.heads[subject]
		switch c, seen := v.chains[subject]; {
		case !seen:
			v.report.Add(0, subject, "all its events are missing: the last known one was %d", head.Position)
		case c.head.Position < head.Position:
			v.report.Add(0, subject, "it ends at event %d: events up to %d are missing", c.head.Position, head.Position)
		case c.head.Position > head.Position:
			v.report.Add(0, subject, "the table of heads says that it ends at event %d, but it ends at event %d", head.Position, c.head.Position)
		case !c.broken && c.head.Hash != head.Hash:
			v.report.Add(head.Position, subject, "it is not the one that was recorded")
		}
	}
	for _, subject := range slices.Sorted(maps.Keys(v.chains)) {
		if _, ok := v.heads[subject]; !ok {
			v.report.Add(0, subject, "it is missing from the table of heads; it ends at event %d", v.chains[subject].head.Position)
		}
		if !store.Own(subject) {
			v.report.Subjects++
		}
	}
}
