package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/control/store"
)

// together appends events in one batch, and returns what became of each.
func together(t *testing.T, s *Store, events ...store.NewEvent) []error {
	t.Helper()
	busy, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = s.ask(t.Context(), request{task: func(*writer) error { close(busy); <-release; return nil }})
	})
	<-busy
	errs := make([]error, len(events))
	for i, e := range events {
		wg.Go(func() { _, errs[i] = s.Append(t.Context(), e) })
	}
	for len(s.requests) < len(events) {
		runtime.Gosched()
	}
	close(release)
	wg.Wait()
	return errs
}

func three() []store.NewEvent {
	return []store.NewEvent{{Subject: "run.x", ID: "x"}, {Subject: "run.y", ID: "y"}, {Subject: "run.z", ID: "z"}}
}

// Another program holds the database: everybody is told, and later it goes on.
func TestForeignLock(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	_, err := s.ask(t.Context(), request{task: func(w *writer) error { return w.exec("PRAGMA busy_timeout = 1") }})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := raw(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	for _, err := range together(t, s, three()...) {
		if err == nil || errors.Is(err, store.ErrUnknown) || !strings.Contains(err.Error(), "another program has it open") {
			t.Errorf("error %v", err)
		}
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for _, err := range together(t, s, three()...) {
		if err != nil {
			t.Error(err)
		}
	}
}

// After a sync that failed a batch is refused that is larger than the last one.
func TestBatchAfterAFailedSync(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	works := s.log.datasync
	s.log.datasync = func(*os.File) error { return errors.New("the disk is broken") }
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "first"}); !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	s.log.datasync = works
	for _, err := range together(t, s, three()...) {
		if err == nil || errors.Is(err, store.ErrUnknown) || !strings.Contains(err.Error(), "restart") {
			t.Errorf("error %v", err)
		}
	}
}

// breakPage makes a page of the database unreadable: the first of a type that holds a text.
func breakPage(t *testing.T, path string, kind byte, text string, change func(page []byte)) {
	t.Helper()
	const size = 4096
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := size; at+size <= len(data); at += size {
		page := data[at : at+size]
		if page[0] == kind && bytes.Contains(page, []byte(text)) {
			change(page)
			overwrite(t, path, int64(at), page)
			return
		}
	}
	t.Fatalf("no page of type %d holds %q", kind, text)
}

// A page of the table of heads is damaged: those whose heads are in it are told, with what
// to do about it, and the others are appended.
func TestDamagedHeads(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	var events []store.NewEvent
	for i := range 500 {
		events = append(events, store.NewEvent{Subject: fmt.Sprintf("run.%03d", i), ID: fmt.Sprint(i)})
	}
	if err := errors.Join(together(t, s, events...)...); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const leaf = 0x0a // of a table without rowids
	breakPage(t, path, leaf, "run.000", func(page []byte) { clear(page) })
	s = mustOpen(t, path)
	errs := together(t, s, store.NewEvent{Subject: "run.000", ID: "broken", Expected: 1}, store.NewEvent{Subject: "zebra", ID: "whole"})
	if !errors.Is(errs[0], store.ErrDamaged) || !strings.Contains(errs[0].Error(), path) || strings.Count(errs[0].Error(), "stopgate log verify") != 1 {
		t.Errorf("the damaged one: %v", errs[0])
	}
	if errs[1] != nil {
		t.Errorf("the other: %v", errs[1])
	}
	if head, err := s.Head(t.Context(), "zebra"); err != nil || head.Position == 0 {
		t.Errorf("the other is at %d, %v", head.Position, err)
	}
}

// A commit is to be seen before it is synced. Where the sync fails, nobody takes what the
// tables show for known.
func TestHeadsThatWereNotSynced(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 2, "run.old")
	if err := s.RecordHeads(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := s.Head(t.Context(), "run.old")
	if err != nil {
		t.Fatal(err)
	}
	s.log.datasync = func(*os.File) error { return errors.New("the disk is broken") }
	_, err = s.ask(t.Context(), request{task: func(w *writer) error {
		return w.transact(func() error {
			for _, e := range []store.NewEvent{{Subject: "run.new", ID: "new"}, {Subject: "run.old", ID: "old", Expected: before.Position}} {
				if _, err := w.append(prepare(e)); err != nil {
					return err
				}
			}
			return w.recordHeads()
		})
	}})
	if !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	for subject, want := range map[string]store.Head{"run.new": {}, "run.old": before} {
		if head, err := s.Head(t.Context(), subject); err != nil || head != want {
			t.Errorf("%s is at %d, want %d: %v", subject, head.Position, want.Position, err)
		}
		for e, err := range s.Read(t.Context(), subject, want.Position) {
			t.Errorf("%s has event %d, %v", subject, e.Position, err)
		}
	}
}

// What wrote nothing needs no sync.
func TestNothingToSync(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	appendTo(t, s, 1, "run.a")
	syncs := 0
	s.log.datasync = func(f *os.File) error {
		syncs++
		return datasync(f)
	}
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "x"}); !errors.Is(err, store.ErrConflict) || syncs != 0 {
		t.Errorf("%v, %d syncs", err, syncs)
	}
	for want := 1; want < 3; want++ { // the first has something to record
		if err := s.RecordHeads(t.Context()); err != nil || syncs != 1 {
			t.Errorf("%v, %d syncs", err, syncs)
		}
	}
}

// A snapshot of which nothing can be read leaves the other one.
func TestUnreadableSnapshot(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 4, "run.a")
	for i, letter := range []string{"a", "b"} {
		if err := s.SaveSnapshot(t.Context(), store.Snapshot{Position: store.Position(i + 1), Data: bytes.Repeat([]byte(letter), 100_000)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const overflow = 0 // its first bytes are the number of the next page, which is small
	breakPage(t, path, overflow, strings.Repeat("b", 4000), func(page []byte) { copy(page, "\xff\xff\xff\xff") })
	wantFinding(t, verify(t, path), "the snapshot at 2 is not what was saved")
	s = mustOpen(t, path)
	if snap, err := s.LoadSnapshot(t.Context()); err != nil || snap.Position != 1 || len(snap.Data) != 100_000 {
		t.Errorf("the snapshot at %d with %d bytes, %v", snap.Position, len(snap.Data), err)
	}
}

// What is saved is what was given, also when whoever gave up uses the slice again.
func TestSnapshotIsCloned(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	appendTo(t, s, 1, "run.a")
	data := []byte("state")
	lose(t, s, func(ctx context.Context) {
		if err := s.SaveSnapshot(ctx, store.Snapshot{Position: 1, Data: data}); !errors.Is(err, store.ErrUnknown) {
			t.Error(err)
		}
		copy(data, "other")
	})
	appendTo(t, s, 1, "run.a") // what was asked before it is done
	if snap, err := s.LoadSnapshot(t.Context()); err != nil || string(snap.Data) != "state" {
		t.Errorf("%q, %v", snap.Data, err)
	}
}

// What was trimmed is not in the store: its id can be used again, without a new opening.
// What was kept is, and rows in which nothing goes are not written again.
func TestTrimmedIDs(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 10, "run.a")
	for range 2 {
		appendTo(t, s, 1, "run.b")
		if err := s.RecordHeads(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveSnapshot(t.Context(), store.Snapshot{Position: s.end()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.c", ID: "run-a-3"}); err != nil {
		t.Errorf("the id of an event that was trimmed: %v", err)
	}
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.d", ID: "run-a-9"}); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("the id of an event that was kept: %v", err)
	}
	if body, gone := (&trimPlan{to: 9, kept: map[store.Position]bool{5: true}}).keep([]entry{{Event: store.Event{Position: 5}}, {Event: store.Event{Position: 10}}}); gone != 0 || len(body) == 0 {
		t.Errorf("%d go", gone)
	}
}

// An event whose position was changed ends no read before its time.
func TestChangedPosition(t *testing.T) {
	path, _ := filled(t, 30)
	editEntry(t, path, 20, func(e *entry) { e.Position += 64 })
	if events, err := readDamaged(t, path); len(events) != 19 || !errors.Is(err, store.ErrDamaged) {
		t.Errorf("%d events, %v", len(events), err)
	}
}
