package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// The store's own subjects. A chain shows that nothing in it was changed or left out, not
// that it once went on. So the ends of the chains are written down now and then, in a
// chain of their own, whose end is written down in a file beside the database.
const (
	headsSubject = "store.heads"
	trimsSubject = "store.trims"
	headsEvery   = 1000        // events, and
	headsPause   = time.Second // in a rush: a record and its file cost more than all appends of a hundredth of a second
	headsMost    = 20_000      // events, however great the rush
)

// headsRecord is an event of headsSubject: the heads that changed since the one before.
type headsRecord struct {
	V     int                 `json:"v"`
	Heads map[string]headJSON `json:"heads,omitempty"`
	// Lost is there when the database turned out to be an older copy of itself: the
	// last position that was once known.
	Lost store.Position `json:"lost,omitempty"`
}

// headJSON is a head as [position, hash].
type headJSON store.Head

func (h headJSON) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `[%d,"%s"]`, h.Position, h.Hash), nil
}

func (h *headJSON) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &[]any{&h.Position, &text})
	if err != nil {
		return err
	}
	h.Hash, err = parseHash(text)
	return err
}

func parseHash(text string) (h store.Hash, err error) {
	if len(text) != 2*len(h) {
		return h, errors.New("a hash has 64 digits")
	}
	_, err = hex.Decode(h[:], []byte(text))
	return h, err
}

// RecordHeads records the heads of the chains that changed. The store does so itself from
// time to time, and when it is closed.
func (s *Store) RecordHeads(ctx context.Context) error {
	_, err := s.ask(ctx, request{task: func(w *writer) error { return w.transact(w.recordHeads) }})
	return err
}

// recordDue reports whether it is time for a record.
func (w *writer) recordDue() bool {
	events := w.last - w.recorded.Position
	return events >= headsMost || events >= headsEvery && time.Since(w.recordedAt) >= headsPause
}

// recordHeads records the heads that changed since the last record.
func (w *writer) recordHeads() error {
	heads := w.sinceRecord()
	if len(heads) == 0 {
		return nil
	}
	return w.record(heads)
}

// recordAllHeads records the heads of all chains.
func (w *writer) recordAllHeads() error {
	all := map[string]store.Head{}
	err := w.each("SELECT position, hash, subject FROM heads", nil, func(row []driver.Value) error {
		subject, _ := row[2].(string)
		all[subject] = headFrom(row)
		return nil
	})
	if err != nil {
		return err
	}
	maps.Copy(all, w.sinceRecord())
	return w.record(all)
}

// sinceRecord returns the heads that changed, also in the transaction under way.
func (w *writer) sinceRecord() map[string]store.Head {
	w.s.fresh.mu.RLock()
	defer w.s.fresh.mu.RUnlock()
	heads := maps.Clone(w.s.fresh.heads)
	maps.Copy(heads, w.changed)
	return heads
}

// record appends a record of heads, and brings the tables up to it.
func (w *writer) record(heads map[string]store.Head) error {
	delete(heads, headsSubject)
	for part := range parts(heads, func(subject string) int { return len(subject) + 100 }) {
		list := make(map[string]headJSON, len(part))
		for subject, head := range part {
			list[subject] = headJSON(head)
		}
		if err := w.appendOwn(headsSubject, headsRecord{V: 1, Heads: list}); err != nil {
			return err
		}
	}
	return w.closeRecord()
}

// closeRecord brings the tables up to the last event of headsSubject, which is the last
// of all.
func (w *writer) closeRecord() error {
	w.recorded = w.changed[headsSubject]
	return w.saveIndex(w.sinceRecord())
}

// appendOwn appends an event of the store's own.
func (w *writer) appendOwn(subject string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	head, err := w.head(subject)
	if err != nil {
		return err
	}
	_, err = w.insert(prepare(store.NewEvent{Subject: subject, ID: rand.Text(), Data: data}), head)
	return err
}

// parts cuts a map into such as fit into an event.
func parts[V any](whole map[string]V, size func(key string) int) func(yield func(map[string]V) bool) {
	return func(yield func(map[string]V) bool) {
		part, total := map[string]V{}, 0
		for key, value := range whole {
			if total += size(key); total > store.MaxData-1000 {
				if !yield(part) {
					return
				}
				part, total = map[string]V{}, size(key)
			}
			part[key] = value
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// compareSide finds out whether the database is an older copy of itself. That is on
// record before anything else, or the next record of heads would cover it up.
func (w *writer) compareSide() error {
	known, err := readSide(w.s.side.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, store.ErrDamaged):
		// Verify tells. It is written again with the next record.
		w.s.side.put(w.recorded)
		return nil
	case err != nil:
		return err
	}
	at, err := entryAt(w, known.Position)
	if err != nil {
		return err
	}
	if text := staleCopy(known, at.Event, w.last); text != "" {
		w.s.found = append(w.s.found, store.Finding{Text: text})
		return w.transact(func() error {
			if err := w.appendOwn(headsSubject, headsRecord{V: 1, Lost: known.Position}); err != nil {
				return err
			}
			return w.record(w.sinceRecord())
		})
	}
	w.s.side.put(w.recorded)
	return nil
}

// staleCopy compares the head in the side file with the event at its position.
func staleCopy(known store.Head, at store.Event, last store.Position) string {
	switch {
	case known.Position == 0 || (at.Subject == headsSubject && at.Hash == known.Hash):
		return ""
	case known.Position > last:
		return fmt.Sprintf("the database is an older copy of itself: the events %d to %d, which were once known, are not in it", last+1, known.Position)
	}
	return fmt.Sprintf("the database is another copy of itself: event %d is not the one that was once known", known.Position)
}

// sideFile keeps the head of headsSubject beside the database: what is only inside is put
// back together with it.
type sideFile struct {
	path string
	wake chan struct{} // has room for one
	done chan struct{}

	mu   sync.Mutex
	head store.Head

	writing sync.Mutex  // also guards what follows
	written *store.Head // what the file holds, once that is known
}

func newSideFile(database string) *sideFile {
	return &sideFile{path: sidePath(database), wake: make(chan struct{}, 1), done: make(chan struct{})}
}

func sidePath(database string) string { return strings.TrimSuffix(database, ".db") + ".heads" }

// put has the head written soon: the writer does not wait for it.
func (f *sideFile) put(head store.Head) {
	f.mu.Lock()
	f.head = head
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// run writes the newest head each time there is one, until the file is closed. What
// cannot be written now is written with the next.
func (f *sideFile) run() {
	defer close(f.done)
	for range f.wake {
		_ = f.flush()
	}
}

// flush writes the newest head.
func (f *sideFile) flush() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	head := f.head
	f.mu.Unlock()
	if f.written != nil && head == *f.written {
		return nil
	}
	if err := atomicfile.Write(f.path, formatSide(head), 0o600); err != nil {
		return err
	}
	f.written = &head
	return nil
}

// close returns when the newest head is written. Nobody may put another.
func (f *sideFile) close() error {
	close(f.wake)
	<-f.done
	return f.flush()
}

// formatSide and parseSide turn a head into a line like those of the journal and back.
func formatSide(head store.Head) []byte {
	body := fmt.Sprintf(`{"position":%d,"hash":"%s"}`, head.Position, head.Hash)
	return fmt.Appendf(nil, "h1 %08x %s\n", crc32.ChecksumIEEE([]byte(body)), body)
}

func parseSide(line []byte) (store.Head, error) {
	body, ok := strings.CutSuffix(string(line), "\n")
	version, body, _ := strings.Cut(body, " ")
	digits, body, _ := strings.Cut(body, " ")
	sum, err := strconv.ParseUint(digits, 16, 32)
	if n, isVersion := strings.CutPrefix(version, "h"); isVersion && n != "1" && n != "" && strings.Trim(n, "0123456789") == "" {
		return store.Head{}, fmt.Errorf("%w: format %s", store.ErrNewer, version)
	}
	if !ok || version != "h1" || err != nil || uint32(sum) != crc32.ChecksumIEEE([]byte(body)) {
		return store.Head{}, fmt.Errorf("%w: no line of heads", store.ErrDamaged)
	}
	var content struct {
		Position store.Position `json:"position"`
		Hash     string         `json:"hash"`
	}
	if err := json.Unmarshal([]byte(body), &content); err != nil {
		return store.Head{}, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	hash, err := parseHash(content.Hash)
	if err != nil {
		return store.Head{}, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return store.Head{Position: content.Position, Hash: hash}, nil
}

func readSide(path string) (store.Head, error) {
	f, err := os.Open(path)
	if err != nil {
		return store.Head{}, err
	}
	defer f.Close()
	line := make([]byte, 1024) // it has some hundred bytes
	n, err := f.Read(line)
	if err != nil && n == 0 {
		return store.Head{}, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	head, err := parseSide(line[:n])
	if err != nil {
		return store.Head{}, fmt.Errorf("%s: %w", path, err)
	}
	return head, nil
}
