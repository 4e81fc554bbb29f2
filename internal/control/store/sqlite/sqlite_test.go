package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"modernc.org/sqlite"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Backend {
		path := tempPath(t)
		return storetest.Backend{
			Unique: true,
			Open:   func(t testing.TB) store.Store { return mustOpen(t, path) },
			Lose:   func(t testing.TB, s store.Store, do func(context.Context)) { lose(t, s.(*Store), do) },
			Damage: func(t testing.TB, at store.Position) {
				editEntry(t, path, at, func(e *entry) { e.Data[0] ^= 1 })
			},
			DamageSnapshot: func(t testing.TB, at store.Position) {
				tamper(t, path, "UPDATE snapshots SET data = CAST('X' || data AS BLOB) WHERE position = ?", at)
			},
		}
	})
}

// lose has the writer busy until whoever waits for it has given up.
func lose(t testing.TB, s *Store, do func(context.Context)) {
	t.Helper()
	busy, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(release)
	wg.Go(func() {
		_, err := s.ask(t.Context(), request{task: func(*writer) error { close(busy); <-release; return nil }})
		if err != nil {
			t.Error(err)
		}
	})
	<-busy
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); do(ctx) }()
	for len(s.requests) == 0 {
		runtime.Gosched()
	}
	cancel()
	<-done
}

func tempPath(t testing.TB) string { return filepath.Join(t.TempDir(), "stopgate.db") }

func mustOpen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	check(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// raw opens the database as another program would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	connector, err := sqlite.NewConnector(source(path, "rw", "busy_timeout(10000)"))
	check(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

func tamper(t testing.TB, path, statement string, args ...any) {
	t.Helper()
	db := raw(t, path)
	defer db.Close()
	result, err := db.Exec(statement, args...)
	check(t, err)
	if n, err := result.RowsAffected(); n == 0 {
		t.Fatalf("%s changed nothing: %v", statement, err)
	}
}

// editEntry changes an event behind the store's back.
func editEntry(t testing.TB, path string, at store.Position, edit func(*entry)) {
	t.Helper()
	db := raw(t, path)
	defer db.Close()
	e, err := entryAt(t.Context(), db, at)
	if err != nil || e.Position != at {
		t.Fatalf("event %d: %v", at, err)
	}
	edit(&e)
	_, err = db.Exec("UPDATE events SET position = ?, subject = ?, id = ?, prior = ?, previous = ?, hash = ?, data = ? WHERE position = ?",
		int64(e.Position), e.Subject, e.ID, int64(e.prior), e.Previous[:], e.Hash[:], e.Data, int64(at))
	check(t, err)
}
