package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// headsSubject is the store's own. The heads of all chains are in the database, and so are
// put back together with it. So an event is appended here every so many events, before a
// trim, and when the store is closed. Its ID is random, and its head is written to a file
// beside the database: a database without that event is another one, or older.
const (
	headsSubject = "store.heads"
	headsEvery   = 1000
)

// headsRecord is an event of headsSubject. In format 1 it also had the heads that changed.
type headsRecord struct {
	V int `json:"v"`
	// Lost is there when the database turned out to be an older copy of itself: the
	// last position that was once known.
	Lost store.Position `json:"lost,omitempty"`
}

func sidePath(database string) string { return strings.TrimSuffix(database, ".db") + ".heads" }

// RecordHeads records that the store has come this far. The store does so itself from time
// to time, and when it is closed.
func (s *Store) RecordHeads(ctx context.Context) error {
	_, err := s.ask(ctx, request{task: (*writer).recordHeads})
	return err
}

func (w *writer) recordHeads() error {
	if err := w.refresh(); err != nil || w.side == w.end {
		return err
	}
	if head, err := w.head(headsSubject); err != nil || head != w.end {
		if err := w.appendRecord(headsRecord{V: 1}); err != nil {
			return err
		}
	}
	return w.writeSide()
}

func (w *writer) appendRecord(r headsRecord) error {
	return w.transact(func() error { return w.appendOwn(headsSubject, r) })
}

// writeSide writes the last record into the file beside the database.
func (w *writer) writeSide() error {
	head, err := w.head(headsSubject)
	if err == nil {
		err = atomicfile.Write(sidePath(w.s.path), formatSide(head), 0o600)
	}
	if err == nil {
		w.side = head
	}
	return err
}

// compareSide finds out whether the database is an older copy of itself. That is on record
// before anything else, or the next record would cover it up.
func (w *writer) compareSide(ctx context.Context) error {
	known, err := readSide(w.s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, store.ErrDamaged):
		_ = w.writeSide() // or with the next record; Verify has told
		return nil
	case err != nil:
		return err
	}
	w.side = known
	at, err := entryAt(ctx, w.conn, known.Position)
	if err != nil {
		return err
	}
	text := staleCopy(known, at.Event, w.end.Position)
	if text == "" {
		return nil
	}
	w.s.found = append(w.s.found, store.Finding{Text: text})
	if err = w.appendRecord(headsRecord{V: 1, Lost: known.Position}); err == nil {
		_ = w.writeSide() // or it is found once more
	}
	return err
}

// staleCopy compares what the file beside the database says with the event at that position.
func staleCopy(known store.Head, at store.Event, last store.Position) string {
	switch {
	case known.Position == 0 || at.Subject == headsSubject && at.Hash == known.Hash:
		return ""
	case known.Position > last:
		return fmt.Sprintf("the database is an older copy: events %d to %d are missing", last+1, known.Position)
	}
	return fmt.Sprintf("the database is a different copy: event %d is not the recorded one", known.Position)
}

// formatSide and parseSide turn a head into a line like those of the journal and back.
func formatSide(head store.Head) []byte {
	body := fmt.Sprintf(`{"position":%d,"hash":"%s"}`, head.Position, head.Hash)
	return fmt.Appendf(nil, "h1 %08x %s\n", crc32.ChecksumIEEE([]byte(body)), body)
}

func parseSide(line []byte) (store.Head, error) {
	var version int
	if n, _ := fmt.Sscanf(string(line), "h%d ", &version); n == 1 && version > 1 {
		return store.Head{}, fmt.Errorf("%w: format h%d", store.ErrNewer, version)
	}
	var head store.Head
	var sum uint32
	var digits []byte
	_, _ = fmt.Sscanf(string(line), `h1 %x {"position":%d,"hash":"%x"}`, &sum, &head.Position, &digits)
	copy(head.Hash[:], digits)
	if !bytes.Equal(line, formatSide(head)) {
		return store.Head{}, fmt.Errorf("%w: no line of heads", store.ErrDamaged)
	}
	return head, nil
}

// readSide reads the file beside a database.
func readSide(database string) (store.Head, error) {
	path := sidePath(database)
	f, err := os.Open(path)
	if err != nil {
		return store.Head{}, err
	}
	defer f.Close()
	line, err := io.ReadAll(io.LimitReader(f, 1024)) // it has some hundred bytes
	if err != nil {
		return store.Head{}, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	head, err := parseSide(line)
	if err != nil {
		return store.Head{}, fmt.Errorf("%s: %w", path, err)
	}
	return head, nil
}
