package sqlite

import (
	"database/sql/driver"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/store"
)

// Every append is synced before it is acknowledged.
func TestAppendIsSynced(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	syncs := 0
	s.log.datasync = func(f *os.File) error {
		syncs++
		return datasync(f)
	}
	var version store.Position
	for i, id := range []string{"a", "b", "c"} {
		var err error
		version, err = s.Append(t.Context(), store.NewEvent{Subject: "run.x", ID: id, Expected: version})
		if err != nil || syncs != i+1 {
			t.Fatalf("append %d: %v, %d syncs", i, err, syncs)
		}
	}
}

// SQLite syncs the log before a checkpoint, and the database after it. More it need not do,
// and less would lose what was acknowledged.
func TestSynchronousIsNormal(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	for pragma, want := range map[string]any{"synchronous": int64(1), "journal_mode": "wal"} {
		var got []driver.Value
		_, err := s.ask(t.Context(), request{task: func(w *writer) (err error) {
			got, err = w.row("PRAGMA " + pragma)
			return err
		}})
		if err != nil || got[0] != want {
			t.Errorf("%s is %v, want %v: %v", pragma, got, want, err)
		}
	}
}

// After a sync that failed no later one can be believed: nobody knows what became of that
// event, and nothing is appended until the database is opened again.
func TestSyncThatFails(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	broken := errors.New("the disk is broken")
	works := s.log.datasync
	s.log.datasync = func(*os.File) error { return broken }
	_, err := s.Append(t.Context(), store.NewEvent{Subject: "run.x", ID: "first"})
	if !errors.Is(err, store.ErrUnknown) || !errors.Is(err, broken) {
		t.Fatalf("the first: %v", err)
	}
	s.log.datasync = works
	_, err = s.Append(t.Context(), store.NewEvent{Subject: "run.y", ID: "second"})
	if err == nil || errors.Is(err, store.ErrUnknown) || !strings.Contains(err.Error(), "restart") {
		t.Fatalf("the second: %v", err)
	}
	_ = s.Close()
	s = mustOpen(t, path)
	if head, err := s.Head(t.Context(), "run.y"); err != nil || head.Position != 0 {
		t.Errorf("the second is there: %v, %v", head, err)
	}
	head, err := s.Head(t.Context(), "run.x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.x", ID: "third", Expected: head.Position}); err != nil {
		t.Error(err)
	}
	if report, err := s.Verify(t.Context()); err != nil || !report.Sound() {
		t.Errorf("%+v, %v", report, err)
	}
}
