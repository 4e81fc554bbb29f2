package workload

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

// events are those of the daemon's store.
type events struct {
	path string
	open *sqlite.Store // nil until the first operation
}

func newStore(state string) Part { return &events{path: filepath.Join(state, "stopgate.db")} }

func (*events) Name() string { return "store" }

const (
	subjects    = 3
	reopenEvery = 5 // closing has SQLite clear its log away, and writes the file beside the database
)

func (e *events) Do(n int) (err error) {
	ctx := context.Background()
	if e.open != nil && n%reopenEvery == 0 {
		if err := e.open.Close(); err != nil {
			return err
		}
		e.open = nil
	}
	if e.open == nil {
		if err := os.MkdirAll(filepath.Dir(e.path), 0o700); err != nil {
			return err
		}
		if e.open, err = sqlite.Open(ctx, e.path); err != nil {
			return err
		}
	}

	subject := fmt.Sprintf("run.%d", n%subjects)
	head, err := e.open.Head(ctx, subject)
	if err != nil {
		return err
	}
	_, err = e.open.Append(ctx, store.NewEvent{Subject: subject, ID: eventID(n), Expected: head.Position, Data: []byte(content("store", n))})
	return err
}

func eventID(n int) string { return fmt.Sprintf("event-%d", n) }

func (e *events) Check(acked int) (seen Seen, err error) {
	ctx := context.Background()
	if _, err := os.Lstat(e.path); err != nil {
		return seen, counted(0, acked) // the power went before the database was made
	}
	report, err := sqlite.Verify(ctx, e.path)
	if err != nil {
		return seen, err
	}
	if !report.Sound() {
		return seen, damaged("%s", report.Findings[0])
	}

	s, err := sqlite.Open(ctx, e.path)
	if err != nil {
		return seen, err
	}
	defer s.Close()
	if found := s.Found(); len(found) > 0 {
		return seen, damaged("%s", found[0])
	}
	for event, err := range s.ReadAll(ctx, 0) {
		if err != nil {
			return seen, err
		}
		seen.Last++
		if want := fmt.Sprintf("run.%d", seen.Last%subjects); event.ID != eventID(seen.Last) || event.Subject != want {
			return seen, notWritten("%s of %s where event %d should be", event.ID, event.Subject, seen.Last)
		}
		if err := same("store", seen.Last, string(event.Data)); err != nil {
			return seen, err
		}
	}
	return seen, counted(seen.Last, acked)
}
