package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/internal/control/store"
)

// An index on subjects or ids would have each event write two more pages, at random
// places. So heads and ids are in memory as far as they are new, and are written to their
// tables, many at a time, together with the record of heads. What is newer than that is
// found again by reading the events behind it.

// fresh is the heads of the subjects that changed since the last record.
type fresh struct {
	mu    sync.RWMutex
	heads map[string]store.Head
}

func (f *fresh) get(subject string) (store.Head, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	head, ok := f.heads[subject]
	return head, ok
}

func (f *fresh) add(heads map[string]store.Head) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(f.heads, heads)
}

func (f *fresh) replace(heads map[string]store.Head) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heads = heads
}

// fingerprint stands for an id: one in 10^13 appends to a store of a million events is
// taken for a duplicate by mistake.
func fingerprint(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// resume finds out where the store stands.
func (w *writer) resume() error {
	clear(w.changed)
	clear(w.cache)
	w.newIDs, w.body = w.newIDs[:0], w.body[:0]
	row, err := w.row("SELECT coalesce(max(last), 0) FROM batches")
	if err != nil {
		return err
	}
	last, _ := row[0].(int64)
	w.last = store.Position(last)
	if w.recorded, err = headOf(w, headsSubject); err != nil {
		return err
	}
	if err := w.loadIDs(); err != nil {
		return err
	}
	if err := w.resumeTail(); err != nil {
		return err
	}
	w.s.last.Store(uint64(w.last))
	w.stale = false
	return nil
}

// loadIDs takes the fingerprints of all ids into memory.
func (w *writer) loadIDs() error {
	ids := map[uint64]struct{}{}
	for _, print := range w.newIDs {
		ids[print] = struct{}{}
	}
	err := w.each("SELECT prints FROM ids", nil, func(row []driver.Value) error {
		prints, _ := row[0].([]byte)
		for print := range unpack(prints) {
			ids[print] = struct{}{}
		}
		return nil
	})
	if err == nil {
		w.ids = ids
	}
	return err
}

// unpack returns the fingerprints in a row of the table of ids.
func unpack(prints []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for ; len(prints) >= 8; prints = prints[8:] {
			if !yield(binary.LittleEndian.Uint64(prints)) {
				return
			}
		}
	}
}

// resumeTail takes into memory what came after the last record, and checks that this is all
// there is: with a wrong last position reads would end early, or new events leave a gap.
func (w *writer) resumeTail() error {
	heads := map[string]store.Head{}
	at := w.recorded.Position
	end := at
	err := w.each("SELECT body FROM batches WHERE last > ? ORDER BY last", []any{int64(at)}, func(row []driver.Value) error {
		body, _ := row[0].([]byte)
		entries, err := decodeAll(body)
		for _, e := range entries {
			if e.Position <= at {
				continue
			}
			if err := sound(e.Event); err != nil {
				return err // whose head it is cannot be known
			}
			heads[e.Subject] = store.Head{Position: e.Position, Hash: e.Hash}
			w.noteID(fingerprint(e.ID))
			end = e.Position
		}
		return err
	})
	if err != nil {
		return err
	}
	if end != w.last {
		return fmt.Errorf("%w: the last event is %d, the last row ends at %d", store.ErrDamaged, end, w.last)
	}
	w.s.fresh.replace(heads)
	return nil
}

func (w *writer) noteID(print uint64) {
	w.ids[print] = struct{}{}
	w.newIDs = append(w.newIDs, print)
}

// head returns the end of the subject's chain.
func (w *writer) head(subject string) (store.Head, error) {
	if head, ok := w.changed[subject]; ok {
		return head, nil
	}
	if head, ok := w.cache[subject]; ok {
		return head, nil
	}
	head, ok := w.s.fresh.get(subject)
	if !ok {
		var err error
		if head, err = headOf(w, subject); err != nil {
			return store.Head{}, err
		}
	}
	if err := checkHead(w, subject, head); err != nil {
		return store.Head{}, err
	}
	if len(w.cache) >= maxHeads {
		clear(w.cache)
	}
	w.cache[subject] = head
	return head, nil
}

// headOf returns the head of a subject as of the last record of heads.
func headOf(db asker, subject string) (store.Head, error) {
	row, err := db.row("SELECT position, hash FROM heads WHERE subject = ?", subject)
	if err != nil {
		return store.Head{}, ignoreEnd(err)
	}
	return headFrom(row), nil
}

func headFrom(row []driver.Value) (head store.Head) {
	position, _ := row[0].(int64)
	hash, _ := row[1].([]byte)
	head.Position = store.Position(position)
	copy(head.Hash[:], hash)
	return head
}

// checkHead checks that the event at the end of a chain is there, and sound.
func checkHead(db asker, subject string, head store.Head) error {
	if head.Position == 0 {
		return nil
	}
	e, err := entryAt(db, head.Position)
	if err != nil {
		return err
	}
	if e.Subject != subject || e.Hash != head.Hash || !e.Sound() {
		return fmt.Errorf("%w: event %d, the last of %s, is not what was appended", store.ErrDamaged, head.Position, subject)
	}
	return nil
}

// entryAt returns the entry at a position, the zero entry when it is not there.
func entryAt(db asker, position store.Position) (entry, error) {
	row, err := db.row("SELECT body FROM batches WHERE last >= ? ORDER BY last LIMIT 1", int64(position))
	if errors.Is(err, io.EOF) {
		return entry{}, nil
	}
	if err != nil {
		return entry{}, err
	}
	body, _ := row[0].([]byte)
	for len(body) > 0 {
		var e entry
		if e, body, err = decode(body); err != nil {
			return entry{}, err
		}
		if e.Position == position {
			return e, nil
		}
	}
	return entry{}, nil
}

// saveIndex writes what is new to the tables. The record of heads has just been appended,
// but is not in a row yet.
func (w *writer) saveIndex(heads map[string]store.Head) error {
	for _, subject := range slices.Sorted(maps.Keys(heads)) {
		head := heads[subject]
		err := w.change("INSERT OR REPLACE INTO heads (subject, position, hash) VALUES (?, ?, ?)", subject, int64(head.Position), bytes.Clone(head.Hash[:]))
		if err != nil {
			return err
		}
	}
	prints := make([]byte, 0, 8*len(w.newIDs))
	for _, print := range w.newIDs {
		prints = binary.LittleEndian.AppendUint64(prints, print)
	}
	return w.change("INSERT OR REPLACE INTO ids (last, prints) VALUES (?, ?)", int64(w.last), prints)
}

// Head returns the end of the subject's chain.
func (s *Store) Head(ctx context.Context, subject string) (store.Head, error) {
	if err := s.usable(subject); err != nil {
		return store.Head{}, err
	}
	head, err := s.head(ctx, subject)
	if err == nil {
		err = checkHead(row{ctx, s.readers}, subject, head)
	}
	return head, explain(s.path, err)
}

// head returns the end of a chain as far as it is known. The tables show a transaction
// before it is synced, also when that fails: what is in them beyond the last event that
// was made known is passed over.
func (s *Store) head(ctx context.Context, subject string) (store.Head, error) {
	if head, ok := s.fresh.get(subject); ok {
		return head, nil
	}
	db := row{ctx, s.readers}
	head, err := headOf(db, subject)
	for err == nil && head.Position > s.end() {
		var e entry
		if e, err = entryAt(db, head.Position); err == nil && e.Hash != head.Hash {
			err = fmt.Errorf("%w: event %d of %s is missing, or not what was appended", store.ErrDamaged, head.Position, subject)
		}
		head = store.Head{Position: e.prior, Hash: e.Previous}
	}
	return head, err
}
