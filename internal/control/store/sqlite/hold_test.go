package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/store"
)

// P.7: an event that was changed concerns its subject alone, also where it is the last of all.
func TestOtherSubjectsGoOn(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"its data":      func(t *testing.T, path string) { editEntry(t, path, 20, func(e *entry) { e.Data[0] ^= 1 }) },
		"its subject":   func(t *testing.T, path string) { editEntry(t, path, 20, func(e *entry) { e.Subject = "run.c" }) },
		"it is missing": func(t *testing.T, path string) { remove(t, path, 20) },
		"in the middle": func(t *testing.T, path string) { editEntry(t, path, 10, func(e *entry) { e.Data[0] ^= 1 }) },
		"one before":    func(t *testing.T, path string) { remove(t, path, 18) },
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := crashed(t, 20) // by turns on run.a and run.b
			damage(t, path)
			s := mustOpen(t, path)
			if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "more", Expected: 19}); err != nil {
				t.Errorf("the other one: %v", err)
			}
			position, err := s.Append(t.Context(), store.NewEvent{Subject: "run.new", ID: "new"})
			if err != nil || position != 22 {
				t.Errorf("a new one, at %d: %v", position, err)
			}
			damagedRead(t, s, "run.b")
			events := 0
			for _, err := range s.Read(t.Context(), "run.a", 0) {
				check(t, err)
				events++
			}
			if events != 11 {
				t.Errorf("%d events of the other one", events)
			}
			heads, err := s.Heads(t.Context())
			if check(t, err); heads["run.b"].Position != 20 || heads["run.a"].Position != 21 {
				t.Errorf("%v", heads)
			}
			if report, err := s.Verify(t.Context()); err != nil || report.Sound() {
				t.Errorf("%v, %v", report, err)
			}
		})
	}
}

func damagedRead(t *testing.T, s *Store, subject string) {
	t.Helper()
	var last error
	for _, err := range s.Read(t.Context(), subject, 0) {
		last = err
	}
	if !errors.Is(last, store.ErrDamaged) {
		t.Errorf("%s is read: %v", subject, last)
	}
}

// A table of heads with a changed row says so.
func TestChangedHeadRows(t *testing.T) {
	whole, _ := filled(t, 9)
	for _, change := range []string{
		"UPDATE heads SET hash = x'00' WHERE subject = 'run.b'",
		"UPDATE heads SET position = 0 WHERE subject = 'run.b'",
		"UPDATE heads SET subject = 'run b' WHERE subject = 'run.b'",
	} {
		path := copied(t, whole)
		tamper(t, path, change)
		s := mustOpen(t, path)
		heads, err := s.Heads(t.Context())
		if !errors.Is(err, store.ErrDamaged) || len(heads) != 2 {
			t.Errorf("%s: %d heads, %v", change, len(heads), err)
		}
	}
}

// P.7: what is not opened is opened when one is told to, and what was lost is told.
func TestOpenDespiteDamage(t *testing.T) {
	whole, _ := filled(t, 30)
	for name, test := range map[string]struct {
		damage func(t *testing.T, path string)
		found  string
	}{
		"nothing": {func(*testing.T, string) {}, ""},
		"the record of heads": {func(t *testing.T, path string) {
			editEntry(t, path, 31, func(e *entry) { e.Data = []byte("{}") })
		}, "the last of store.heads"},
		"a head far away": {func(t *testing.T, path string) {
			tamper(t, path, "UPDATE heads SET position = 1 << 40 WHERE subject = 'run.a'")
		}, "the table of heads says 1099511627776"},
	} {
		t.Run(name, func(t *testing.T) {
			path := copied(t, whole)
			test.damage(t, path)
			if s, err := Open(t.Context(), path); test.found != "" && !errors.Is(err, store.ErrDamaged) {
				t.Fatalf("it was opened: %v", err)
			} else if s != nil {
				check(t, s.Close())
			}
			s, err := OpenDespiteDamage(t.Context(), path)
			check(t, err)
			defer s.Close()
			found := ""
			for _, f := range s.Found() {
				found += f.String()
			}
			if !strings.Contains(found, test.found) || test.found == "" && found != "" {
				t.Errorf("found %q", found)
			}
			if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.new", ID: "new"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Of a damaged log nothing is thrown away.
func TestDamagedLogIsPutAside(t *testing.T) {
	path, log := crashed(t, 20)
	log[len(log)/2] ^= 1
	check(t, os.WriteFile(path+"-wal", log, 0o600))
	s, err := OpenDespiteDamage(t.Context(), path)
	check(t, err)
	defer s.Close()
	if n := len(all(t, s)); n < 5 || n > 15 {
		t.Errorf("%d events are left", n)
	}
	aside, err := filepath.Glob(path + "-wal.damaged-*")
	if err != nil || len(aside) != 1 || len(s.Found()) != 1 || !strings.Contains(s.Found()[0].Text, aside[0]) {
		t.Fatalf("%q, %v, %v", aside, err, s.Found())
	}
	if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != string(log) {
		t.Errorf("%d bytes were kept, %v", len(kept), err)
	}
}

// P.6: what was trimmed, when and by whom is in the report, and the file gets smaller.
func TestVerifyTellsOfTrims(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	if report := verify(t, path); report.Trimmed != nil {
		t.Errorf("%v", report.Trimmed)
	}
	appendSized(t, s, 100_000, 100, "run.a", "run.b")
	saveSnapshot(t, s, 90, 10)
	saveSnapshot(t, s, 100, 10)
	check(t, trimBy(t.Context(), s, "ann, with stopgate prune"))
	appendTo(t, s, 20, "run.c")
	saveSnapshot(t, s, 119, 10)
	saveSnapshot(t, s, 120, 10)
	check(t, trimBy(t.Context(), s, "the daemon"))
	check(t, s.Close())

	report := verify(t, path)
	if !report.Sound() || report.Trimmed == nil {
		t.Fatalf("%+v", report)
	}
	got := *report.Trimmed
	if got.To != 119 || got.By != "the daemon" || got.Time.IsZero() || got.Total <= got.Events || got.Total < 110 || got.Total > 119 {
		t.Errorf("%+v", got)
	}
	if text := got.String(); !strings.Contains(text, "by the daemon") || !strings.Contains(text, "since the first trim") {
		t.Error(text)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 4<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

// A subject that goes on between the record of a trim and the removal loses nothing that it goes on
// from.
func TestAppendDuringATrim(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 12, "run.a", "run.b", "run.c")
	if _, err := s.ask(t.Context(), request{task: func(w *writer) error { return w.declareTrim(12, "test") }}); err != nil {
		t.Fatal(err)
	}
	saveSnapshot(t, s, 12, 10)
	appendTo(t, s, 6, "run.a", "run.b")
	check(t, s.removeTrimmed(t.Context()))
	for range 2 {
		if report := verify(t, path); !report.Sound() {
			t.Fatal(report.Findings)
		}
		for _, subject := range []string{"run.a", "run.b", "run.c"} {
			for _, err := range s.Read(t.Context(), subject, 12) {
				check(t, err)
			}
		}
		check(t, s.Close())
		s = mustOpen(t, path)
	}
}
