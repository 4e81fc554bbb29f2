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
	check(t, err)
	conn, err := raw(t, path).Conn(t.Context())
	check(t, err)
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

// broken has the commits of a store fail as with a disk that cannot sync, until it is called.
func broken(t *testing.T, s *Store) (repair func()) {
	t.Helper()
	works := s.commit
	s.commit = func(*writer) error { return errBroken }
	return func() { s.commit = works }
}

var errBroken = errors.New("the disk is broken")

// After a sync that failed a batch is refused that is larger than the last one.
func TestBatchAfterAFailedSync(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	repair := broken(t, s)
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "first"}); !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	repair()
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
	check(t, err)
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
	check(t, errors.Join(together(t, s, events...)...))
	check(t, s.Close())
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

// Where the sync fails, what was to be committed is not to be seen.
func TestHeadsThatWereNotSynced(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	appendTo(t, s, 2, "run.old")
	before, err := s.Head(t.Context(), "run.old")
	check(t, err)
	broken(t, s)
	for _, err := range together(t, s, store.NewEvent{Subject: "run.new", ID: "new"}, store.NewEvent{Subject: "run.old", ID: "old", Expected: before.Position}) {
		if !errors.Is(err, store.ErrUnknown) {
			t.Fatal(err)
		}
	}
	checkUnseen(t.Context(), s, before, t.Error)
}

// checkUnseen checks that run.new has no event, and run.old none after one.
func checkUnseen(ctx context.Context, s *Store, before store.Head, wrong func(...any)) {
	for subject, want := range map[string]store.Head{"run.new": {}, "run.old": before} {
		if head, err := s.Head(ctx, subject); err != nil || head != want {
			wrong(subject, "is at", head.Position, "want", want.Position, err)
		}
		for e, err := range s.Read(ctx, subject, want.Position) {
			wrong(subject, "has event", e.Position, err)
		}
	}
}

// A snapshot of which nothing can be read leaves the other one.
func TestUnreadableSnapshot(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 4, "run.a")
	for i, letter := range []string{"a", "b"} {
		check(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: store.Position(i + 1), Data: bytes.Repeat([]byte(letter), 100_000)}))
	}
	check(t, s.Close())
	const overflow = 0 // its first bytes are the number of the next page, which is small
	breakPage(t, path, overflow, strings.Repeat("b", 4000), func(page []byte) { copy(page, "\xff\xff\xff\xff") })
	wantFinding(t, verify(t, path), "the snapshot at 2 was changed")
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
// What was kept is.
func TestTrimmedIDs(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 10, "run.a")
	for range 2 {
		appendTo(t, s, 1, "run.b")
		check(t, s.RecordHeads(t.Context()))
		check(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: s.end()}))
	}
	check(t, trimBy(t.Context(), s, "test"))
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.c", ID: "run-a-3"}); err != nil {
		t.Errorf("the id of an event that was trimmed: %v", err)
	}
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.d", ID: "run-a-9"}); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("the id of an event that was kept: %v", err)
	}
}

// An event whose position was changed ends no read before its time.
func TestChangedPosition(t *testing.T) {
	path, _ := filled(t, 30)
	s := mustOpen(t, path)
	editEntry(t, path, 20, func(e *entry) { e.Position += 64 })
	n := 0
	var failure error
	for _, err := range s.ReadAll(t.Context(), 0) {
		if failure = err; err == nil {
			n++
		}
	}
	if n != 19 || !errors.Is(failure, store.ErrDamaged) {
		t.Errorf("%d events, %v", n, failure)
	}
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.new", ID: "new"}); err != nil {
		t.Error(err)
	}
	check(t, s.Close())
	if _, err := Open(t.Context(), path); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("opened again: %v", err)
	}
}
