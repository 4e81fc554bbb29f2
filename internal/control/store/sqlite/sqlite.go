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

// What marks the file as ours, and which format it has.
const (
	applicationID = 0x73746761 // "stga"
	formatVersion = 1
)

// The events are in rows of many: those that were committed together, cut at 64 KiB. A row
// of its own for each would cost several times as much. heads and ids are as of the last
// record of heads, see index.go.
const schema = `
CREATE TABLE batches (
	last INTEGER PRIMARY KEY,
	body BLOB NOT NULL
);
CREATE TABLE heads (
	subject TEXT PRIMARY KEY,
	position INTEGER NOT NULL,
	hash BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE ids (
	last INTEGER PRIMARY KEY,
	prints BLOB NOT NULL
);
CREATE TABLE snapshots (
	position INTEGER PRIMARY KEY,
	hash BLOB NOT NULL,
	data BLOB NOT NULL
);`

// Store is an open database. It is a [store.Store].
type Store struct {
	path     string
	release  func() // the lock on the file
	readers  *sql.DB
	rows     *sql.Stmt
	found    []store.Finding
	requests chan request
	closing  chan struct{} // closed: nothing is begun any more
	ended    chan struct{} // closed: the writer has ended
	close    func() error
	side     *sideFile
	log      *logFile
	trimming sync.Mutex

	last    atomic.Uint64        // the position of the last event that was committed
	trimmed atomic.Pointer[trim] // the last trim
	fresh   fresh
	news    news
}

// Open opens the database at path, which is made where there is none. It belongs to one
// process at a time.
func Open(ctx context.Context, path string) (*Store, error) {
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
	s, err := open(ctx, path, release)
	if err != nil {
		release()
		return nil, explain(path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, release func()) (_ *Store, err error) {
	if err := makeFile(path); err != nil {
		return nil, err
	}
	if damage, err := checkLog(path + "-wal"); err != nil {
		return nil, err
	} else if damage != nil {
		return nil, damage.refusal(path + "-wal")
	}
	s := &Store{
		path: path, release: release,
		requests: make(chan request, maxBatch), closing: make(chan struct{}), ended: make(chan struct{}),
		side: newSideFile(path), log: &logFile{path: path + "-wal", datasync: datasync}, fresh: fresh{heads: map[string]store.Head{}},
	}
	s.trimmed.Store(&trim{})
	w, err := newWriter(ctx, s)
	if err != nil {
		return nil, err
	}
	s.close = sync.OnceValue(func() error { return s.shut(w) })
	defer func() {
		if err != nil {
			w.disconnect()
		}
	}()
	if s.readers, err = connectReaders(path, "ro"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.readers.Close()
		}
	}()
	if s.rows, err = s.readers.PrepareContext(ctx, "SELECT body FROM batches WHERE last > ? ORDER BY last"); err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	go s.side.run()
	go w.run()
	return s, nil
}

// Found is what opening found amiss and went on with: that the database is an older copy
// of itself. It is on record, for Verify.
func (s *Store) Found() []store.Finding { return s.found }

// Close makes what waits durable, records the heads of all chains, and lets the file go.
func (s *Store) Close() error { return s.close() }

func (s *Store) shut(w *writer) error {
	close(s.closing)
	<-s.ended
	err := errors.Join(s.side.close(), s.rows.Close(), s.readers.Close())
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
		return fmt.Errorf("%s is no file: %w", path, fs.ErrInvalid)
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

func connectReaders(path, mode string) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(source(path, mode, "busy_timeout(10000)", "query_only(1)"))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(4)
	return db, nil
}

// news wakes those that wait for events.
type news struct {
	mu sync.Mutex
	ch chan struct{}
}

// next is closed when something was appended after the call.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}

var _ store.Store = (*Store)(nil)
