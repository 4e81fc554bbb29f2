// Package anchor keeps in the fleet how far each member's own store has come: a store that is cut, or replaced
// by an older copy, is found out, also where everything on its machine was changed.
package anchor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Record is an event of a member's anchors.
type Record struct {
	Time     time.Time      `json:"time"`
	Position store.Position `json:"position"`
	Hash     store.Hash     `json:"hash"`
	// Lost is there where the store was no longer the one that the anchor before says: its position.
	Lost store.Position `json:"lost,omitempty"`
}

func (r Record) head() store.Head { return store.Head{Position: r.Position, Hash: r.Hash} }

// Log is what is needed of the fleet's store.
type Log interface {
	Append(ctx context.Context, e store.NewEvent) (store.Position, error)
	// Rest are the events of a subject that were not trimmed: the last one at least.
	Rest(ctx context.Context, subject string) iter.Seq2[store.Event, error]
	Barrier(ctx context.Context) (store.Position, error)
}

// Store is a member's own store.
type Store interface {
	Anchor(ctx context.Context) (store.Head, error)
	Compare(ctx context.Context, anchor store.Head) (sqlite.Standing, error)
}

const (
	// Each is after how many events there is another anchor, and every after how much time where there were any.
	Each  = 1000
	every = time.Hour
	// glance is how often it is looked.
	glance = 10 * time.Second
)

// Keeper appends the anchors of a member.
type Keeper struct {
	Store Store
	Last  func() store.Position // of the newest event, about
	Log   *slog.Logger
	Now   func() time.Time

	member string
	fleet  Log
	read   bool
	last   Record         // that was appended
	at     store.Position // of its event
	since  time.Time      // by the monotonic clock
	// reconnects is how often the connection was made again at the last look.
	reconnects uint64
}

// Run appends anchors while a link lasts.
func (k *Keeper) Run(ctx context.Context, l *link.Link) {
	k.fleet, k.member, k.read = l.Log, l.Member, false
	for {
		k.connected(l.Conn.Stats().Reconnects)
		if err := k.Look(ctx, time.Now()); err != nil && ctx.Err() == nil {
			k.Log.Warn("cannot anchor the store in the fleet yet", "error", err)
		}
		if pause.For(ctx, glance) != nil {
			return
		}
	}
}

// connected makes it time for an anchor where the connection is a new one: what was done while it was cut is not
// anchored.
func (k *Keeper) connected(reconnects uint64) {
	if reconnects != k.reconnects {
		k.reconnects, k.since = reconnects, time.Time{}
	}
}

// Look appends an anchor if it is time for one.
func (k *Keeper) Look(ctx context.Context, now time.Time) error {
	if !k.read {
		if err := k.reread(ctx); err != nil {
			return err
		}
	}
	grown := k.Last() != k.last.Position
	if !k.since.IsZero() && (!grown || k.Last()-min(k.Last(), k.last.Position) < Each && now.Sub(k.since) < every) {
		return nil
	}
	record, err := k.next(ctx)
	if err != nil || record.Position == 0 { // there is nothing yet
		return err
	}
	if err := k.append(ctx, record); err != nil {
		k.read = false
		return err
	}
	k.since = now
	return nil
}

// next is the anchor of the store as it is now.
func (k *Keeper) next(ctx context.Context) (Record, error) {
	head, err := k.Store.Anchor(ctx)
	if err != nil {
		return Record{}, err
	}
	record := Record{Time: k.Now().UTC().Round(0), Position: head.Position, Hash: head.Hash}
	if k.last.Position == 0 {
		return record, nil
	}
	standing, err := k.Store.Compare(ctx, k.last.head())
	if standing == sqlite.Cut || standing == sqlite.Replaced {
		k.Log.Error("the store is not the one that the fleet knows: it was cut or replaced by an older copy", "event", k.last.Position, "anchored", k.last.Time)
		record.Lost = k.last.Position
	}
	return record, err
}

// reread reads the last anchor.
func (k *Keeper) reread(ctx context.Context) error {
	records, at, err := read(ctx, k.fleet, k.member)
	if err != nil {
		return err
	}
	k.read, k.at, k.last = true, at, Record{}
	if len(records) > 0 {
		k.last = records[len(records)-1]
	}
	return nil
}

func (k *Keeper) append(ctx context.Context, r Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	at, err := k.fleet.Append(ctx, store.NewEvent{Subject: link.Anchor(k.member), ID: journal.NewID(), Expected: k.at, Data: data})
	if err == nil {
		k.at, k.last = at, r
	}
	return err
}

// read are a member's anchors, and the position of the last event. What is no anchor is passed over.
func read(ctx context.Context, log Log, member string) (records []Record, at store.Position, err error) {
	if _, err := log.Barrier(ctx); err != nil {
		return nil, 0, err
	}
	for e, err := range log.Rest(ctx, link.Anchor(member)) {
		if err != nil {
			return nil, 0, err
		}
		at = e.Position
		var r Record
		if json.Unmarshal(e.Data, &r) == nil && r.Position > 0 {
			records = append(records, r)
		}
	}
	return records, at, nil
}

// newest is how many of the last anchors are compared. The newest one says all; those before it tell how much is missing.
const newest = 20

// Check compares the store at a path with the anchors of its member. It adds to a report of the store what is
// wrong, and what was on an earlier day.
func Check(ctx context.Context, log Log, member, path string, report *store.Report) error {
	records, _, err := read(ctx, log, member)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Lost > 0 {
			report.Notes = append(report.Notes, fmt.Sprintf("before %s the store was cut or replaced by an older copy: the fleet knew its events up to %d", r.Time.Format(time.RFC3339), r.Lost))
		}
	}
	records = records[max(0, len(records)-newest):]
	for i := len(records) - 1; i >= 0; i-- {
		if records[i].Lost > 0 { // those before it are of a history that is known to be gone
			records = records[i:]
			break
		}
	}
	if len(records) == 0 {
		report.Notes = append(report.Notes, "the fleet has no anchor of this store yet")
		return nil
	}
	return compare(ctx, path, records, report)
}

func compare(ctx context.Context, path string, records []Record, report *store.Report) error {
	var heads []store.Head
	for _, r := range records {
		heads = append(heads, r.head())
	}
	standings, err := sqlite.CompareAt(ctx, path, heads...)
	if errors.Is(err, store.ErrDamaged) {
		return nil // which the report says
	}
	if err != nil {
		return err
	}

	last := len(records) - 1
	when := records[last].Time.Format(time.RFC3339)
	switch standings[last] {
	case sqlite.Anchored:
		report.Notes = append(report.Notes, fmt.Sprintf("as the fleet knows it: event %d, anchored on %s", records[last].Position, when))
		return nil
	case sqlite.Forgot:
		report.Notes = append(report.Notes, fmt.Sprintf("its last anchor in the fleet, event %d of %s, is older than what was trimmed: not compared", records[last].Position, when))
		return nil
	}

	text := fmt.Sprintf("the history was cut: the fleet knows events up to %d, anchored on %s", records[last].Position, when)
	if standings[last] == sqlite.Replaced {
		text = fmt.Sprintf("the history was rewritten: the events up to %d are not those that the fleet knows, anchored on %s", records[last].Position, when)
	}
	for i := last - 1; i >= 0; i-- {
		if standings[i] == sqlite.Anchored {
			text += fmt.Sprintf("; it is as it was up to event %d, of %s", records[i].Position, records[i].Time.Format(time.RFC3339))
			break
		}
	}

	report.Found(store.Finding{Text: text, Remedy: "if you have restored a backup, start the daemon once: it tells the fleet, and continues from there"})
	return nil
}
