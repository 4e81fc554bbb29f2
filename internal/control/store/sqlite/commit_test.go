package sqlite

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/store"
)

// SQLite syncs the log at each commit. Less would lose what was acknowledged.
func TestSynchronousIsFull(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal"} {
		var got string
		_, err := s.ask(t.Context(), request{task: func(w *writer) error {
			return w.conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got)
		}})
		if err != nil || got != want {
			t.Errorf("%s is %v, want %v: %v", pragma, got, want, err)
		}
	}
}

// After a sync that failed no later one can be believed: it is not known what became of that
// event, and nothing is appended until the database is opened again.
func TestSyncThatFails(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	repair := broken(t, s)
	_, err := s.Append(t.Context(), store.NewEvent{Subject: "run.x", ID: "first"})
	if !errors.Is(err, store.ErrUnknown) || !errors.Is(err, errBroken) {
		t.Fatalf("the first: %v", err)
	}
	repair()
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
	check(t, err)
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.x", ID: "third", Expected: head.Position}); err != nil {
		t.Error(err)
	}
	if report, err := s.Verify(t.Context()); err != nil || !report.Sound() {
		t.Errorf("%+v, %v", report, err)
	}
}
