package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/store"
)

// filled is a store with n events on three subjects, closed.
func filled(t testing.TB, n int) (path string, events []store.Event) {
	t.Helper()
	path = tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, n, "run.a", "run.b", "run.c")
	events = all(t, s)
	check(t, s.Close())
	return path, events
}

// copied is a copy of a store that was closed.
func copied(t testing.TB, path string) string {
	t.Helper()
	target := tempPath(t)
	for from, to := range map[string]string{path: target, sidePath(path): sidePath(target)} {
		data, err := os.ReadFile(from)
		check(t, err)
		check(t, os.WriteFile(to, data, 0o600))
	}
	return target
}

// appendTo appends n events by turns, and changes no other.
func appendTo(t testing.TB, s *Store, n int, subjects ...string) {
	t.Helper()
	appendEach(t, s, n, func(id string) []byte { return []byte(strings.Repeat(id+" ", 20)) }, subjects...)
}

// appendEach is appendTo with the data of each event.
func appendEach(t testing.TB, s *Store, n int, data func(id string) []byte, subjects ...string) {
	t.Helper()
	for i := range n {
		subject := subjects[i%len(subjects)]
		head, err := s.Head(t.Context(), subject)
		check(t, err)
		id := fmt.Sprintf("%s-%d", strings.ReplaceAll(subject, ".", "-"), head.Position)
		if _, err := s.Append(t.Context(), store.NewEvent{Subject: subject, ID: id, Expected: head.Position, Data: data(id)}); err != nil {
			t.Fatal(err)
		}
	}
}

func all(t testing.TB, s *Store) (events []store.Event) {
	t.Helper()
	for e, err := range s.ReadAll(t.Context(), s.gone()) {
		check(t, err)
		events = append(events, e)
	}
	return events
}

func verify(t testing.TB, path string) store.Report {
	t.Helper()
	report, err := Verify(t.Context(), path)
	check(t, err)
	return report
}

func wantFinding(t testing.TB, report store.Report, part string) {
	t.Helper()
	if !slices.ContainsFunc(report.Findings, func(f store.Finding) bool { return strings.Contains(f.String(), part) }) {
		t.Errorf("findings %v, want one with %q", report.Findings, part)
	}
}

// remove takes an event out of the table.
func remove(t testing.TB, path string, at store.Position) {
	t.Helper()
	tamper(t, path, "DELETE FROM events WHERE position = ?", int64(at))
}

// tamperLoosely changes a table without its index, and as if it took values of any type.
func tamperLoosely(t testing.TB, path, statement string) {
	t.Helper()
	schema := func(statements ...string) {
		db := raw(t, path)
		defer db.Close()
		conn, err := db.Conn(t.Context())
		check(t, err)
		defer conn.Close()
		for _, statement := range append([]string{"PRAGMA writable_schema = ON"}, statements...) {
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	schema(
		"CREATE TABLE saved AS SELECT * FROM sqlite_schema",
		"UPDATE sqlite_schema SET sql = replace(replace(sql, ' STRICT,', ''), ' STRICT', '')",
		"DELETE FROM sqlite_schema WHERE name = 'ids'",
	)
	tamper(t, path, statement)
	schema(
		"INSERT INTO sqlite_schema SELECT * FROM saved WHERE name = 'ids'",
		"UPDATE sqlite_schema SET sql = s.sql FROM saved s WHERE s.name = sqlite_schema.name",
	)
	schema("DROP TABLE saved")
}

func TestVerify(t *testing.T) {
	whole, _ := filled(t, 30)
	for name, test := range map[string]struct {
		damage func(t *testing.T, path string)
		want   string // empty: sound
	}{
		"sound":              {func(*testing.T, string) {}, ""},
		"data changed":       {func(t *testing.T, path string) { editEntry(t, path, 5, func(e *entry) { e.Data[3] ^= 4 }) }, "event 5 of run.b: it was changed"},
		"id changed":         {func(t *testing.T, path string) { editEntry(t, path, 5, func(e *entry) { e.ID += "x" }) }, "event 5 of run.b: it was changed"},
		"subject changed":    {func(t *testing.T, path string) { editEntry(t, path, 5, func(e *entry) { e.Subject = "run.a" }) }, "event 5 of run.a: it was changed"},
		"changed and sealed": {reseal, "event 29 of run.b: it is not the one that was recorded"},
		"event removed":      {func(t *testing.T, path string) { remove(t, path, 5) }, "event 8 of run.b: it does not follow event 2"},
		"a gap":              {func(t *testing.T, path string) { remove(t, path, 5) }, "the events 5 to 5 are missing"},
		"first removed":      {func(t *testing.T, path string) { remove(t, path, 2) }, "event 5 of run.b: the events before it are missing"},
		"last removed":       {func(t *testing.T, path string) { remove(t, path, 30) }, "run.c: it ends at event 27: events up to 30 are missing"},
		"subject removed": {func(t *testing.T, path string) {
			for at := store.Position(3); at <= 30; at += 3 {
				remove(t, path, at)
			}
		}, "run.c: all its events are missing"},
		"link changed": {func(t *testing.T, path string) { editEntry(t, path, 8, func(e *entry) { e.prior = 3 }) }, "event 8 of run.b: it does not follow"},
		"tail removed": {func(t *testing.T, path string) { tamper(t, path, "DELETE FROM events WHERE position > 20") }, "an older copy"},
		"head changed": {func(t *testing.T, path string) {
			tamper(t, path, "UPDATE heads SET position = 3 WHERE subject = 'run.a'")
		}, "the table of heads says"},
		"head removed": {func(t *testing.T, path string) {
			tamper(t, path, "DELETE FROM heads WHERE subject = 'run.a'")
		}, "run.a: it is missing from the table of heads"},
		"hash as text": {func(t *testing.T, path string) {
			tamperLoosely(t, path, "UPDATE heads SET hash = CAST(hash AS TEXT) WHERE subject = 'run.a'")
		}, "non-BLOB value in heads.hash"},
		"body as text": {func(t *testing.T, path string) {
			tamperLoosely(t, path, "UPDATE events SET data = CAST(data AS TEXT) WHERE position = 7")
		}, "non-BLOB value in events.data"},
		"id removed": {func(t *testing.T, path string) {
			const leaf = 0x0a // of an index
			breakPage(t, path, leaf, "run-a-25", func(page []byte) { page[bytes.Index(page, []byte("run-a-25"))] = 'x' })
		}, "row 28 missing from index ids"},
		"key of the last row": {func(t *testing.T, path string) {
			tamper(t, path, "UPDATE events SET position = 95 WHERE position = 31")
		}, "the events 31 to 94 are missing"},
		"row without events": {func(t *testing.T, path string) {
			tamper(t, path, "INSERT INTO events VALUES (32, '', '', 0, x'', x'', x'')")
		}, "event 32: it was changed"},
		"event twice": {func(t *testing.T, path string) {
			tamperLoosely(t, path, "INSERT INTO events SELECT 32, subject, id, prior, previous, hash, data FROM events WHERE position = 31")
		}, "event 32 of store.heads: it does not follow event 31"},
		"first with a link": {func(t *testing.T, path string) {
			editEntry(t, path, 2, func(e *entry) { e.prior = 1 })
		}, "event 2 of run.b: its link to the previous event"},
		"link removed": {func(t *testing.T, path string) {
			editEntry(t, path, 8, func(e *entry) { e.prior = 0 })
		}, "event 8 of run.b: its link to the previous event"},
		"write version":    {func(t *testing.T, path string) { overwrite(t, path, 18, []byte{3}) }, "write version 3 is above 2"},
		"snapshot changed": {func(t *testing.T, path string) { tamper(t, path, "INSERT INTO snapshots VALUES (4, x'aa', x'bb')") }, "the snapshot at 4"},
		"no rows":          {func(t *testing.T, path string) { tamper(t, path, "DELETE FROM events") }, "run.a: all its events are missing"},
		"row replaced": {func(t *testing.T, path string) {
			tamper(t, path, "UPDATE events SET data = x'aabb' WHERE position = 7")
		}, "event 7 of run.a: it was changed"},
		"row of a number": {func(t *testing.T, path string) {
			tamperLoosely(t, path, "UPDATE events SET data = 12 WHERE position = 7")
		}, "event 7 of run.a: it was changed"},
		"no header":     {func(t *testing.T, path string) { overwrite(t, path, 0, []byte("SQLite format 9")) }, "cannot read the database"},
		"truncated":     {func(t *testing.T, path string) { truncate(t, path, 6000) }, "the database"},
		"side file":     {func(t *testing.T, path string) { overwrite(t, sidePath(path), 20, []byte("9")) }, "stopgate.heads was changed"},
		"an older copy": {older, "the database is an older copy: events 32 to 37 are missing"},
		"another copy":  {another, "is a different copy"},
		"emptied":       {func(t *testing.T, path string) { truncate(t, path, 0) }, "it is empty: events up to 31 were recorded"},
		"removed":       {func(t *testing.T, path string) { os.Remove(path) }, "it does not exist: events up to 31 were recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			path := copied(t, whole)
			test.damage(t, path)
			report := verify(t, path)
			if test.want != "" {
				wantFinding(t, report, test.want)
			} else if !report.Sound() || report.Events != 30 || report.Subjects != 3 || report.Last < 30 || len(report.Notes) != 0 {
				t.Errorf("%+v", report)
			}
		})
	}
	if _, err := Verify(t.Context(), filepath.Join(t.TempDir(), "none.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
}

// The key of a row says where its event is found.
func TestVerifyKeys(t *testing.T) {
	whole := tempPath(t)
	s := mustOpen(t, whole)
	appendTogether(t, s, "run", 5)
	check(t, s.Close())
	for _, key := range []int{-1, 0, 7} {
		path := copied(t, whole)
		tamper(t, path, "UPDATE events SET position = ? WHERE position = 3", key)
		wantFinding(t, verify(t, path), "the events 3 to 3 are missing")
	}
}

// A store whose last row has another key than its last event had is not opened: events would
// be appended behind a gap, or over others.
func TestOpenWithAnotherEnd(t *testing.T) {
	whole, _ := filled(t, 5)
	for _, change := range []string{
		"UPDATE events SET position = 70 WHERE position = 6",
		"UPDATE events SET position = 0 WHERE position = 6",
		"DELETE FROM events WHERE position > 3",
	} {
		path := copied(t, whole)
		tamper(t, path, change)
		if _, err := Open(t.Context(), path); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v", change, err)
		}
		if report := verify(t, path); report.Sound() {
			t.Errorf("%s: Verify finds nothing", change)
		}
	}
}

// What a trim has left is found under its own position, and nothing leads to it that is not
// of its subject.
func TestVerifyWhatATrimHasLeft(t *testing.T) {
	whole := tempPath(t)
	s := mustOpen(t, whole)
	appendTogether(t, s, "old", 1)
	appendTo(t, s, 6, "run.a")
	saveSnapshot(t, s, 7, 10)
	appendTo(t, s, 1, "run.b")
	saveSnapshot(t, s, 8, 10)
	appendTo(t, s, 1, "run.a")
	check(t, errors.Join(trimBy(t.Context(), s, "test"), s.Close()))
	if report := verify(t, whole); !report.Sound() {
		t.Fatal(report.Findings)
	}

	for name, test := range map[string]struct {
		at     store.Position
		change func(*entry)
		want   string
	}{
		"position":                {1, func(e *entry) { e.Position = 3 }, "old.0: the table of heads says that it ends at event 1"},
		"link to another subject": {9, func(e *entry) { e.prior = 1 }, "event 9 of run.a: the events before it are missing"},
		"link behind the trim":    {9, func(e *entry) { e.prior = 8 }, "event 9 of run.a: the events before it are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			path := copied(t, whole)
			editEntry(t, path, test.at, test.change)
			wantFinding(t, verify(t, path), test.want)
		})
	}
}

// Behind a page that cannot be read Verify finds the next that can, however far it is.
func TestVerifyBehindALostPage(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendSized(t, s, 1000, 60, "run.a", "run.b")
	check(t, s.Close())
	const leaf = 0x0d // of a table with rowids
	breakPage(t, path, leaf, "run-a-29", func(page []byte) { clear(page) })

	report := verify(t, path)
	wantFinding(t, report, "cannot read the events after")
	if report.Events < 50 || report.Last != 61 {
		t.Errorf("%d events, the last is %d", report.Events, report.Last)
	}
}

// No hash covers where the event before is. A link that was changed ends no chain.
func TestChangedLink(t *testing.T) {
	whole, _ := filled(t, 30)
	for _, prior := range []store.Position{0, 2, 3, 17} {
		path := copied(t, whole)
		editEntry(t, path, 29, func(e *entry) { e.prior = prior })
		s := mustOpen(t, path)
		for e, err := range s.Read(t.Context(), "run.b", 20) {
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("with a link to %d: event %d, %v", prior, e.Position, err)
			}
		}
	}
}

// Nor does one that leads to where events were trimmed, before and after a new opening.
func TestChangedLinkToTheTrimmed(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 12, "run.a", "run.b")
	saveSnapshot(t, s, 6, 10)
	saveSnapshot(t, s, 8, 10)
	check(t, trimBy(t.Context(), s, "test"))
	read := func(s *Store, want error) {
		t.Helper()
		n := 0
		for _, err := range s.Read(t.Context(), "run.a", 6) {
			if n++; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		if want == nil && n != 3 {
			t.Errorf("%d events", n)
		}
	}
	read(s, nil)
	check(t, s.Close())
	reopened := mustOpen(t, path)
	read(reopened, nil)

	editEntry(t, path, 11, func(e *entry) { e.prior = 3 })
	read(reopened, store.ErrDamaged)
}

// reseal changes an event and all links behind it, as one who covers his tracks.
func reseal(t *testing.T, path string) {
	var previous store.Hash
	for at := store.Position(2); at <= 29; at += 3 {
		editEntry(t, path, at, func(e *entry) {
			if at == 5 {
				e.Data[0] ^= 1
			}
			if at > 2 {
				e.Previous = previous
			}
			e.Hash = store.Seal(e.Previous, e.Subject, e.ID, e.Data)
			previous = e.Hash
		})
	}
}

func older(t *testing.T, path string) {
	old, err := os.ReadFile(path)
	check(t, err)
	s := mustOpen(t, path)
	appendTo(t, s, 5, "run.a")
	check(t, s.Close())
	check(t, os.WriteFile(path, old, 0o600))
}

func another(t *testing.T, path string) {
	other, _ := filled(t, 40)
	check(t, os.Rename(other, path))
}

func overwrite(t testing.TB, path string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	defer f.Close()
	if _, err := f.WriteAt(data, at); err != nil {
		t.Fatal(err)
	}
}

func truncate(t testing.TB, path string, size int64) {
	t.Helper()
	check(t, os.Truncate(path, size))
}

// crashed is a store that nobody closed, with its log: n transactions of one event.
func crashed(t testing.TB, n int) (path string, log []byte) {
	t.Helper()
	return crashedAfter(t, func(s *Store) { appendTo(t, s, n, "run.a", "run.b") })
}

func crashedAfter(t testing.TB, fill func(*Store)) (path string, log []byte) {
	t.Helper()
	live := tempPath(t)
	s := mustOpen(t, live)
	fill(s)
	path = tempPath(t)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(live + suffix)
		check(t, err)
		check(t, os.WriteFile(path+suffix, data, 0o600))
		log = data
	}
	return path, log
}

// SQLite drops what comes behind a changed byte of its log, and says nothing.
func TestDamagedLog(t *testing.T) {
	const n = 20
	path, log := crashed(t, n)
	if len(log) < 50_000 {
		t.Fatalf("the log has %d bytes only", len(log))
	}
	for name, test := range map[string]struct {
		change func([]byte) []byte
		refuse bool
		atMost int // events, when it is not refused
	}{
		"whole":               {func(b []byte) []byte { return b }, false, n},
		"torn at the end":     {func(b []byte) []byte { return b[:len(b)-1000] }, false, n - 1},
		"torn frame header":   {func(b []byte) []byte { return b[:len(b)-4096-10] }, false, n - 1},
		"garbage behind":      {func(b []byte) []byte { return append(b, make([]byte, 10_000)...) }, false, n},
		"empty":               {func(b []byte) []byte { return nil }, false, 0},
		"half a header":       {func(b []byte) []byte { return b[:20] }, false, 0},
		"flip in the middle":  {func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, true, 0},
		"flip in a salt":      {func(b []byte) []byte { b[32+5*4120+9] ^= 1; return b }, true, 0},
		"flip in the header":  {func(b []byte) []byte { b[17] ^= 1; return b }, true, 0},
		"flip at the end":     {func(b []byte) []byte { b[len(b)-5] ^= 1; return b }, false, n - 1},
		"zeros in the middle": {func(b []byte) []byte { clear(b[30_000:35_000]); return b }, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "stopgate.db")
			database, err := os.ReadFile(path)
			check(t, err)
			changed := test.change(bytes.Clone(log))
			check(t, errors.Join(os.WriteFile(copied, database, 0o600), os.WriteFile(copied+"-wal", changed, 0o600)))
			s, err := Open(t.Context(), copied)
			if !test.refuse {
				check(t, err)
				defer s.Close()
				if got := len(all(t, s)); got > test.atMost || got < test.atMost-1 {
					t.Errorf("%d events, want %d", got, test.atMost)
				}
				return
			}
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "write-ahead log") || !strings.Contains(err.Error(), "truncate -s") {
				t.Fatalf("error %v", err)
			}
			wantFinding(t, verify(t, copied), "write-ahead log")
			if after, _ := os.ReadFile(copied + "-wal"); !bytes.Equal(after, changed) {
				t.Error("the log was changed")
			}
			// What the message says helps.
			damage, err := checkLog(copied)
			check(t, err)
			truncate(t, copied+"-wal", damage.offset)
			s, err = Open(t.Context(), copied)
			check(t, err)
			defer s.Close()
			if report, err := s.Verify(t.Context()); err != nil || !report.Sound() {
				t.Errorf("after it was cut: %v, %v", report.Findings, err)
			}
		})
	}
}

// An older copy is opened, is told of, and stays on record. Until then it is not called
// damaged: that is how a backup is used.
func TestOlderCopy(t *testing.T) {
	path, _ := filled(t, 10)
	older(t, path)
	if report := verify(t, path); report.Sound() || report.Damaged() || !strings.Contains(report.Findings[0].Remedy, "start the daemon once") {
		t.Errorf("%+v", report)
	}
	for round := range 3 {
		s := mustOpen(t, path)
		if found := s.Found(); (len(found) == 1) != (round == 0) {
			t.Errorf("opened the %d. time: %v", round+1, found)
		}
		appendTo(t, s, 2, "run.a")
		check(t, s.Close())
	}
	if report := verify(t, path); !report.Sound() || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "older copy") {
		t.Errorf("%+v", report)
	}
}

// A side file that nobody can read is written anew by whoever opens the store.
func TestSideFileIsMended(t *testing.T) {
	for _, events := range []int{0, 10} {
		path, _ := filled(t, events)
		check(t, os.WriteFile(sidePath(path), []byte("garbage"), 0o600))
		if report := verify(t, path); len(report.Findings) != 1 || report.Damaged() || !strings.Contains(report.Findings[0].Remedy, "the daemon writes it again") {
			t.Errorf("%+v", report)
		}
		check(t, mustOpen(t, path).Close())
		if report := verify(t, path); !report.Sound() {
			t.Errorf("%+v", report)
		}
	}
}

// A trim while Verify looks removes the record that the side file named at first.
func TestVerifyWhileTrimmed(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	for range 2 {
		appendTo(t, s, 20, "run.a", "run.b")
		check(t, errors.Join(s.RecordHeads(t.Context()), s.SaveSnapshot(t.Context(), store.Snapshot{Position: s.end()})))
	}
	v := newVerifier(path)
	check(t, errors.Join(v.readSide(), s.SaveSnapshot(t.Context(), store.Snapshot{Position: s.end()})))
	appendTo(t, s, 1, "run.a")
	check(t, errors.Join(s.SaveSnapshot(t.Context(), store.Snapshot{Position: s.end()}), trimBy(t.Context(), s, "test")))
	if s.gone() < v.known.Position {
		t.Fatalf("trimmed up to %d, and %d is known", s.gone(), v.known.Position)
	}
	if err := v.run(t.Context()); err != nil || !v.report.Sound() {
		t.Errorf("%+v, %v", v.report, err)
	}
}

func TestTrimmedStoreVerifies(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	for range 3 {
		appendTo(t, s, 500, "run.a", "run.b", fmt.Sprintf("run.%d", s.end()))
		check(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: s.end() - 100}))
		check(t, trimBy(t.Context(), s, "test"))
		if report := verify(t, path); !report.Sound() {
			t.Fatalf("%v", report.Findings)
		}
	}
	gone := s.gone()
	if gone < 400 {
		t.Fatalf("trimmed up to %d only", gone)
	}
	check(t, s.Close())
	if size := verify(t, path).Events; size > 1100 {
		t.Errorf("%d events are left", size)
	}
	for _, at := range []store.Position{gone + 1, gone + 2, gone + 50} {
		remove(t, path, at)
	}
	report := verify(t, path)
	wantFinding(t, report, "are missing")
	s = mustOpen(t, path)
	check(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: s.end()}))
	if err := trimBy(t.Context(), s, "test"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("of a damaged store: %v", err)
	}
}

func TestFormats(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, path string)
		want    error
		text    string
	}{
		"newer": {func(t *testing.T, path string) {
			mustOpen(t, path).Close()
			if _, err := raw(t, path).Exec("PRAGMA user_version = 3"); err != nil {
				t.Fatal(err)
			}
		}, store.ErrNewer, "format 3"},
		"another program's": {func(t *testing.T, path string) {
			check(t, os.WriteFile(path, nil, 0o600))
			if _, err := raw(t, path).Exec("CREATE TABLE recipes (name TEXT)"); err != nil {
				t.Fatal(err)
			}
		}, nil, "another program"},
		"no database": {func(t *testing.T, path string) {
			check(t, os.WriteFile(path, bytes.Repeat([]byte("hello "), 1000), 0o600))
		}, store.ErrDamaged, "not a database"},
		"a directory": {func(t *testing.T, path string) {
			check(t, os.Mkdir(path, 0o700))
		}, nil, "directory"},
	} {
		t.Run(name, func(t *testing.T) {
			path := tempPath(t)
			test.prepare(t, path)
			before, _ := os.ReadFile(path)
			_, err := Open(t.Context(), path)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
				t.Error("the file was changed")
			}
		})
	}
	path := tempPath(t)
	check(t, os.WriteFile(path, nil, 0o600))
	appendTo(t, mustOpen(t, path), 1, "run.a") // an empty file is set up
}

func TestBackup(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 30, "run.a", "run.b")
	check(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: 20, Data: []byte("state")}))
	want := all(t, s)
	dir := t.TempDir()
	target := filepath.Join(dir, "it's a copy")
	check(t, s.Backup(t.Context(), target))
	appendTo(t, s, 10, "run.a")
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	if report := verify(t, target); !report.Sound() || report.Events != 30 {
		t.Errorf("%+v", report)
	}
	before, _ := os.ReadFile(target)
	if err := s.Backup(t.Context(), target); !errors.Is(err, os.ErrExist) {
		t.Errorf("over an existing file: %v", err)
	}
	if after, _ := os.ReadFile(target); !bytes.Equal(before, after) {
		t.Error("the existing file was changed")
	}
	if err := s.Backup(t.Context(), filepath.Join(dir, "none", "copy")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("to a directory that is not there: %v", err)
	}
	check(t, s.Close())
	// And back.
	check(t, os.Rename(target, path))
	s = mustOpen(t, path)
	if diff := cmp.Diff(want, all(t, s)); diff != "" {
		t.Error(diff)
	}
	if len(s.Found()) != 1 {
		t.Errorf("found %v", s.Found())
	}
	if snap, err := s.LoadSnapshot(t.Context()); err != nil || string(snap.Data) != "state" {
		t.Errorf("snapshot %q, %v", snap.Data, err)
	}
	appendTo(t, s, 3, "run.a")
}

// What has the name of a backup is whole.
func TestBackupOfADamagedStore(t *testing.T) {
	path, _ := filled(t, 30)
	remove(t, path, 10)
	s := mustOpen(t, path)
	dir := t.TempDir()
	if err := s.Backup(t.Context(), filepath.Join(dir, "copy")); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("error %v", err)
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func FuzzSide(f *testing.F) {
	f.Add(formatSide(store.Head{}))
	f.Add(formatSide(store.Head{Position: 1 << 62, Hash: store.Hash{1, 2, 3}}))
	f.Add([]byte("h1 00000000 {}\n"))
	f.Add([]byte("h2 "))
	f.Fuzz(func(t *testing.T, line []byte) {
		head, err := parseSide(line)
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrNewer) {
				t.Errorf("error %v", err)
			}
			return
		}
		if again, err := parseSide(formatSide(head)); err != nil || again != head {
			t.Errorf("%v became %v, %v", head, again, err)
		}
	})
}

func FuzzLog(f *testing.F) {
	_, log := crashed(f, 3)
	f.Add(log)
	f.Add(log[:40])
	f.Fuzz(func(t *testing.T, log []byte) {
		damage, err := scanLog(bufio.NewReader(bytes.NewReader(log)))
		check(t, err)
		if damage != nil && (damage.offset > int64(len(log)) || damage.String() == "") {
			t.Errorf("%+v", damage)
		}
	})
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"v":1,"heads":{"run.a":[3,"`+strings.Repeat("ab", 32)+`"]},"lost":4}`), true)
	f.Add([]byte(`{"v":1,"trimmed":3,"bases":{"run.a":"`+strings.Repeat("ab", 32)+`"}}`), false)
	f.Add([]byte(`{"v":1,"heads":{"run.a":[3]}}`), true)
	f.Add([]byte(`{"v":1,"trimmed":0,"bases":{"run.a":"`+strings.Repeat("ab", 32)+`"}}`), false)
	f.Fuzz(func(t *testing.T, data []byte, heads bool) {
		v := newVerifier("")
		subject := trimsSubject
		if heads {
			subject = headsSubject
		}
		_ = v.record(store.Event{Subject: subject, Data: data}) // it does not panic
	})
}

func trimBy(ctx context.Context, s *Store, by string) error {
	_, err := s.Trim(ctx, by)
	return err
}
