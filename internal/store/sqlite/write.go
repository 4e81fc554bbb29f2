package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stopgate/stopgate/internal/store"
)

const (
	maxBatch     = 1024     // events in a transaction
	maxBatchData = 4 << 20  // bytes of data in it
	maxRow       = 64 << 10 // bytes after which a row of events ends
	maxHeads     = 1 << 16  // heads that the writer remembers
)

// request is something for the writer to do: an event to append, or else a task, which
// gets a transaction of its own.
type request struct {
	event  newEvent
	task   func(*writer) error
	answer chan answer // has room for one
}

// newEvent is an event with what can be computed before its turn: many compute, one
// writes.
type newEvent struct {
	store.NewEvent
	digest store.Hash
	print  uint64
}

func prepare(e store.NewEvent) newEvent {
	return newEvent{e, store.Digest(e.Subject, e.ID, e.Data), fingerprint(e.ID)}
}

type answer struct {
	position store.Position
	err      error
}

// Append appends an event.
func (s *Store) Append(ctx context.Context, e store.NewEvent) (store.Position, error) {
	if err := e.Check(); err != nil {
		return 0, err
	}
	// Who is told ErrUnknown may use the slice for something else.
	e.Data = bytes.Clone(e.Data)
	return s.ask(ctx, request{event: prepare(e)})
}

// ask has the writer do something. What is begun is done, also if the context ends.
func (s *Store) ask(ctx context.Context, r request) (store.Position, error) {
	r.answer = make(chan answer, 1)
	select {
	case <-s.closing:
		return 0, store.ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	default:
	}
	select {
	case s.requests <- r:
	case <-s.closing:
		return 0, store.ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case a := <-r.answer:
		return a.position, a.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: %w", store.ErrUnknown, ctx.Err())
	case <-s.ended:
	}
	select {
	case a := <-r.answer:
		return a.position, a.err
	default: // it came after the last one that was taken
		return 0, store.ErrClosed
	}
}

// writer owns the connection that writes, and what it knows of the state of things.
type writer struct {
	s    *Store
	conn driver.Conn
	stmt map[string]driver.Stmt

	last     store.Position        // in the transaction under way, else the store's
	changed  map[string]store.Head // in the transaction under way
	body     []byte                // entries of it that are not in a row yet
	cache    map[string]store.Head // of some subjects, as they were committed
	ids      map[uint64]struct{}   // fingerprints of all
	newIDs   []uint64              // those since the last record
	recorded store.Head            // the last record of heads
	stale    bool                  // what the writer knows may be wrong

	args    []driver.NamedValue
	batch   []request
	answers []answer
}

func newWriter(ctx context.Context, s *Store) (*writer, error) {
	connector, err := sqlite.NewConnector(source(s.path, "rw", "busy_timeout(10000)"))
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{
		s: s, conn: conn, stmt: map[string]driver.Stmt{},
		changed: map[string]store.Head{}, cache: map[string]store.Head{}, ids: map[uint64]struct{}{},
	}
	if err := w.setUp(); err != nil {
		w.disconnect()
		return nil, err
	}
	return w, nil
}

// setUp looks whose file it is before it changes anything in it.
func (w *writer) setUp() error {
	version, err := format(w)
	if err != nil {
		return err
	}
	// With NORMAL the log is synced before it goes into the database, and not at each
	// commit: that the writer does itself, see logFile. The log is cut back to 16 MiB
	// after it grew, as by a long read.
	for _, pragma := range []string{
		"journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 4000",
		"journal_size_limit = 16777216", "trusted_schema = OFF", "cache_size = -16384",
	} {
		if err := w.exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	if version == formatVersion {
		return nil
	}
	return w.transact(func() error {
		return w.exec(fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, formatVersion))
	})
}

// asker is a connection that can be asked for one row.
type asker interface {
	row(query string, args ...any) ([]driver.Value, error)
}

// format returns the file's format, zero for one that is empty.
func format(db asker) (int64, error) {
	var values [3]int64
	for i, query := range []string{"PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema"} {
		row, err := db.row(query)
		if err != nil {
			return 0, err
		}
		values[i], _ = row[0].(int64)
	}
	id, version, tables := values[0], values[1], values[2]
	switch {
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, errors.New("it is the database of another program")
	case version > formatVersion:
		return 0, fmt.Errorf("%w: format %d; this one knows %d", store.ErrNewer, version, formatVersion)
	case version != formatVersion:
		return 0, fmt.Errorf("%w: format %d", store.ErrDamaged, version)
	}
	return version, checkSchema(db)
}

// checkSchema finds damage in what SQLite knows of the tables: it would say of a statement
// that it is wrong.
func checkSchema(db asker) error {
	row, err := db.row("SELECT group_concat(sql || ';', '\n') FROM (SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid)")
	if err != nil {
		return err
	}
	if text, _ := row[0].(string); text != strings.TrimSpace(schema) {
		return fmt.Errorf("%w: its tables are not what they were made", store.ErrDamaged)
	}
	return nil
}

func (w *writer) disconnect() {
	for _, s := range w.stmt {
		_ = s.Close()
	}
	_ = w.conn.Close()
	w.s.log.close()
}

// run does what is asked until the store is closed.
func (w *writer) run() {
	defer close(w.s.ended)
	for {
		select {
		case r := <-w.s.requests:
			w.serve(r)
		case <-w.s.closing:
			w.finish()
			return
		}
	}
}

// finish does what was asked before the store was closed.
func (w *writer) finish() {
	for {
		select {
		case r := <-w.s.requests:
			w.serve(r)
		default:
			// What cannot be recorded now is at the next opening.
			_ = w.transact(w.recordHeads)
			return
		}
	}
}

// serve does what r asks, together with what waits behind it.
func (w *writer) serve(r request) {
	for more := true; more; {
		if r.task != nil {
			r.answer <- answer{err: explain(w.s.path, r.task(w))}
			return
		}
		w.batch = append(w.batch[:0], r)
		w.linger()
		r, more = w.gather(len(r.event.Data))
		w.commit()
	}
}

// linger lets those that were just answered come with their next, as long as more come:
// the more share a sync, the better.
func (w *writer) linger() {
	for waiting := -1; len(w.s.requests) > waiting; {
		waiting = len(w.s.requests)
		runtime.Gosched()
	}
}

// gather adds the events that wait to the batch. It returns what does not belong to it.
func (w *writer) gather(size int) (next request, more bool) {
	for len(w.batch) < maxBatch {
		select {
		case r := <-w.s.requests:
			size += len(r.event.Data)
			if r.task != nil || size > maxBatchData {
				return r, true
			}
			w.batch = append(w.batch, r)
		default:
			return request{}, false
		}
	}
	return request{}, false
}

// commit appends the batch in one transaction, and answers.
func (w *writer) commit() {
	err := w.transact(w.appendBatch)
	if errors.Is(err, errMoved) {
		err = w.transact(w.appendBatch)
	}
	for i, r := range w.batch {
		if err != nil {
			w.answers[i] = answer{err: explain(w.s.path, err)}
		}
		r.answer <- w.answers[i]
	}
	clear(w.batch)
}

// appendBatch fails as a whole only if no event can be appended.
func (w *writer) appendBatch() error {
	w.answers = w.answers[:0]
	for _, r := range w.batch {
		position, err := w.append(r.event)
		if err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrDuplicate) && !errors.Is(err, store.ErrDamaged) {
			return err
		}
		w.answers = append(w.answers, answer{position, err})
	}
	if w.last >= w.recorded.Position+headsEvery {
		return w.recordHeads()
	}
	return nil
}

// append inserts one event.
func (w *writer) append(e newEvent) (store.Position, error) {
	head, err := w.head(e.Subject)
	if err != nil {
		return 0, err
	}
	if head.Position != e.Expected {
		return 0, fmt.Errorf("%w: %s is at %d, not at %d", store.ErrConflict, e.Subject, head.Position, e.Expected)
	}
	return w.insert(e, head)
}

// insert puts an event behind the head of its subject.
func (w *writer) insert(e newEvent, head store.Head) (store.Position, error) {
	if _, ok := w.ids[e.print]; ok {
		return 0, fmt.Errorf("%w: %s", store.ErrDuplicate, e.ID)
	}
	added := entry{Event: store.Event{Position: w.last + 1, Subject: e.Subject, ID: e.ID, Data: e.Data, Previous: head.Hash}, prior: head.Position}
	added.Hash = store.Link(added.Previous, e.digest)
	if len(w.body) > 0 && len(w.body)+len(e.Data) > maxRow {
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	w.body = encode(w.body, &added)
	w.last = added.Position
	w.noteID(e.print)
	w.changed[e.Subject] = store.Head{Position: added.Position, Hash: added.Hash}
	return added.Position, nil
}

// flush writes the entries that wait into a row.
func (w *writer) flush() error {
	if len(w.body) == 0 {
		return nil
	}
	err := w.exec("INSERT INTO batches (last, body) VALUES (?, ?)", int64(w.last), w.body)
	w.body = w.body[:0]
	switch code(err) {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return errMoved
	}
	return err
}

// errMoved says that somebody else has written: the lock does not keep out other
// programs.
var errMoved = errors.New("another program writes to it")

// begin takes up where the last process ended.
func (w *writer) begin() error {
	if err := w.resume(); err != nil {
		return err
	}
	if err := w.loadTrimmed(); err != nil {
		return err
	}
	return w.compareSide()
}

// transact makes what do does durable, or undoes it.
func (w *writer) transact(do func() error) error {
	if err := w.s.log.failed; err != nil {
		return err
	}
	if w.stale {
		if err := w.resume(); err != nil {
			return err
		}
	}
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	recorded := w.recorded
	err := do()
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		if err = w.exec("COMMIT"); err == nil {
			if err = w.s.log.sync(); err != nil {
				return fmt.Errorf("%w: %w", store.ErrUnknown, err)
			}
			w.committed(recorded)
			return nil
		}
		if unsettled(err) {
			err = fmt.Errorf("%w: %w", store.ErrUnknown, err)
		}
	}
	_ = w.exec("ROLLBACK") // SQLite may have done so itself
	w.stale = true
	return err
}

// committed makes what was done in a transaction known.
func (w *writer) committed(recorded store.Head) {
	if w.recorded != recorded {
		// The tables have it all.
		w.newIDs = w.newIDs[:0]
		maps.Copy(w.cache, w.changed)
		w.s.fresh.replace(map[string]store.Head{})
		w.s.side.put(w.recorded)
	} else {
		for subject, head := range w.changed {
			if _, ok := w.cache[subject]; ok {
				w.cache[subject] = head
			}
		}
		w.s.fresh.add(w.changed)
	}
	clear(w.changed)
	w.s.last.Store(uint64(w.last))
	w.s.news.tell()
}

// exec executes a statement, which is prepared once.
func (w *writer) exec(query string, args ...any) error {
	s, err := w.prepared(query)
	if err != nil {
		return err
	}
	_, err = s.(driver.StmtExecContext).ExecContext(context.Background(), w.named(args))
	return err
}

// row returns the first row of a query, io.EOF when there is none.
func (w *writer) row(query string, args ...any) ([]driver.Value, error) {
	var first []driver.Value
	err := w.each(query, args, func(row []driver.Value) error {
		if first == nil {
			first = append(first, row...)
		}
		return nil
	})
	if err == nil && first == nil {
		err = io.EOF
	}
	return first, err
}

// each calls do with every row of a query.
func (w *writer) each(query string, args []any, do func(row []driver.Value) error) error {
	s, err := w.prepared(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), w.named(args))
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(row); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := do(row); err != nil {
			return err
		}
	}
}

func (w *writer) prepared(query string) (driver.Stmt, error) {
	if s, ok := w.stmt[query]; ok {
		return s, nil
	}
	s, err := w.conn.Prepare(query)
	if err == nil {
		w.stmt[query] = s
	}
	return s, err
}

func (w *writer) named(args []any) []driver.NamedValue {
	w.args = w.args[:0]
	for i, a := range args {
		w.args = append(w.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return w.args
}
