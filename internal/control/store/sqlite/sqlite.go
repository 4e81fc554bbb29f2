// Package sqlite is the store of one machine: one file, and a small one beside it.
//
// One goroutine writes. It takes all appends that wait and makes them durable in one
// transaction, so that many writers share one sync of the disk. Readers have their own
// connections and never wait for it. Positions are given without gaps, so that a reader
// sees when an event is missing.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// Store is an open database. It is a [store.Store].
type Store struct {
	path     string
	despite  bool   // it is opened although it is damaged
	release  func() // the lock on the file
	readers  *sql.DB
	rows     *sql.Stmt
	found    []store.Finding
	requests chan request
	closing  chan struct{} // closed: nothing is begun any more
	ended    chan struct{} // closed: the writer has ended
	close    func() error
	commit   func(*writer) error // tests have their own
	trimming sync.Mutex

	last    atomic.Uint64                 // the position of the last event that was committed
	trimmed atomic.Pointer[trim]          // the last trim
	news    atomic.Pointer[chan struct{}] // closed when something was appended
}

// Open opens the database at path, which is made where there is none. It belongs to one
// process at a time.
func Open(ctx context.Context, path string) (*Store, error) { return acquire(ctx, path, false) }

// OpenDespiteDamage is Open for a database that Open refuses, and that nothing better is known
// for. Of a log that is damaged in its middle it keeps what comes before, and puts the whole of
// it aside; it goes on without the record of how far the store had come. What was lost is in
// Found.
func OpenDespiteDamage(ctx context.Context, path string) (*Store, error) {
	return acquire(ctx, path, true)
}

func acquire(ctx context.Context, path string, despite bool) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// A process that was killed while it started another leaves the lock to that one for a
	// moment.
	release, err := lockfile.Acquire(ctx, path+".lock", time.Second)
	if errors.Is(err, lockfile.ErrBusy) {
		return nil, fmt.Errorf("store %s is open in another process: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	s, err := open(ctx, path, despite, release)
	if err != nil {
		release()
		return nil, explain(path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, despite bool, release func()) (*Store, error) {
	if err := makeFile(path); err != nil {
		return nil, err
	}
	found, err := settleLog(path, despite)
	if err != nil {
		return nil, err
	}

	s := &Store{
		path: path, despite: despite, found: found, release: release,
		requests: make(chan request, maxBatch), closing: make(chan struct{}), ended: make(chan struct{}),
		commit: func(w *writer) error { return w.exec("COMMIT") },
	}
	s.tell()

	w, err := newWriter(ctx, s)
	if err != nil {
		return nil, err
	}
	s.close = sync.OnceValue(func() error { return s.shut(w) })

	if s.readers, err = connect(path, "ro"); err == nil {
		s.rows, err = s.readers.PrepareContext(ctx, "SELECT "+entryColumns+" FROM events e WHERE position > ? ORDER BY position")
	}
	if err != nil {
		w.disconnect()
		return nil, err
	}

	go w.run()
	return s, nil
}

// Found is what opening found amiss and went on with: that the database is an older copy
// of itself, which is on record for Verify, and what OpenDespiteDamage has passed over.
func (s *Store) Found() []store.Finding { return s.found }

// Close makes what waits durable, records how far it has come, and lets the file go.
func (s *Store) Close() error { return s.close() }

func (s *Store) shut(w *writer) error {
	close(s.closing)
	<-s.ended
	err := errors.Join(w.recordHeads(), s.rows.Close(), s.readers.Close())
	w.disconnect() // the last one, as those that only read cannot clear the log away
	s.release()
	return explain(s.path, err)
}

// makeFile makes the file as one that nobody else may read: SQLite gives those beside it
// the same mode.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file: %w", path, fs.ErrInvalid)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(path, 0o600)
	}
	return nil
}

// source names the database for SQLite, whatever characters are in its path.
func source(path, mode string, pragmas ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive's letter
	}
	query := url.Values{"mode": {mode}}
	for _, p := range pragmas {
		query.Add("_pragma", p)
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}).String()
}

func connect(path, mode string) (*sql.DB, error) {
	pragmas := []string{"busy_timeout(10000)"}
	if mode == "ro" {
		pragmas = append(pragmas, "query_only(1)")
	}
	connector, err := sqlite.NewConnector(source(path, mode, pragmas...))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(4)
	return db, nil
}

// tell wakes those that wait for events.
func (s *Store) tell() {
	next := make(chan struct{})
	if last := s.news.Swap(&next); last != nil {
		close(*last)
	}
}

var _ store.Store = (*Store)(nil)
