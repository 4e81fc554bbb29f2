package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

const (
	maxBatch     = 1024    // events in a transaction
	maxBatchData = 4 << 20 // bytes of data in it
	maxHeads     = 1 << 16 // heads that the writer remembers
)

// request is something for the writer to do: an event to append, or else a task, which
// gets a transaction of its own.
type request struct {
	event  store.NewEvent
	task   func(*writer) error
	answer chan answer // has room for one
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
	e.Data = append([]byte{}, e.Data...)
	return s.ask(ctx, request{event: e})
}

// ask has the writer do something. What is begun is done, also if the context ends.
func (s *Store) ask(ctx context.Context, r request) (store.Position, error) {
	if err := cmp.Or(ctx.Err(), s.usable("all")); err != nil {
		return 0, err
	}

	r.answer = make(chan answer, 1)
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
	db   *sql.DB
	conn *sql.Conn // the only one of db
	stmt map[string]*sql.Stmt

	end    store.Head            // the last event, also of the transaction under way
	heads  map[string]store.Head // of some subjects, also of the transaction under way
	side   store.Head            // what the file beside the database says
	stale  bool                  // what the writer knows may be wrong
	failed error                 // after a commit whose outcome is not known

	batch   []request
	answers []answer
}

func newWriter(ctx context.Context, s *Store) (*writer, error) {
	db, err := connect(s.path, "rw")
	if err != nil {
		return nil, err
	}
	w := &writer{s: s, db: db, stmt: map[string]*sql.Stmt{}, heads: map[string]store.Head{}}
	if w.conn, err = db.Conn(ctx); err == nil {
		err = w.begin(ctx)
	}
	if err != nil {
		w.disconnect()
		return nil, err
	}
	return w, nil
}

// begin takes up where the last process ended.
func (w *writer) begin(ctx context.Context) error {
	if err := w.setUp(ctx); err != nil {
		return err
	}
	// The database and its log may have been made just now.
	if err := atomicfile.SyncDir(filepath.Dir(w.s.path)); err != nil {
		return err
	}
	if err := w.resume(); err != nil {
		return err
	}
	t, err := loadTrim(ctx, w.conn)
	if err != nil {
		return err
	}
	w.s.trimmed.Store(t)
	return w.compareSide(ctx)
}

func (w *writer) disconnect() {
	for _, s := range w.stmt {
		_ = s.Close()
	}
	if w.conn != nil {
		_ = w.conn.Close()
	}
	_ = w.db.Close()
}

// exec executes a statement, which is prepared once.
func (w *writer) exec(query string, args ...any) error {
	s, ok := w.stmt[query]
	if !ok {
		var err error
		if s, err = w.conn.PrepareContext(context.Background(), query); err != nil {
			return err
		}
		w.stmt[query] = s
	}
	_, err := s.ExecContext(context.Background(), args...)
	return err
}

// run does what is asked until the store is closed, and then what was asked before that.
func (w *writer) run() {
	defer close(w.s.ended)
	for {
		select {
		case r := <-w.s.requests:
			w.serve(r)
		case <-w.s.closing:
			for len(w.s.requests) > 0 {
				w.serve(<-w.s.requests)
			}
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
		if w.end.Position >= w.side.Position+headsEvery {
			_ = w.recordHeads() // what cannot be written now is written after the next batch
		}
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
	w.batch = slices.DeleteFunc(w.batch, w.refuse)
	err := w.transact(w.appendBatch)
	if errors.Is(err, errMoved) {
		err = w.transact(w.appendBatch)
	}
	for i, r := range w.batch {
		if err != nil { // there may be no answers: it may never have come to the events
			r.answer <- answer{err: explain(w.s.path, err)}
			continue
		}
		r.answer <- w.answers[i]
	}
	clear(w.batch)
}

// refuse refuses an event whose head is on a damaged page. That is found out before the
// transaction begins: in one that has come upon such a page SQLite writes nothing any more.
func (w *writer) refuse(r request) bool {
	_, err := w.head(r.event.Subject)
	if !malformed(err) {
		return false
	}
	r.answer <- answer{err: explain(w.s.path, err)}
	return true
}

// appendBatch fails as a whole only if no event can be appended.
func (w *writer) appendBatch() error {
	w.answers = w.answers[:0]
	for _, r := range w.batch {
		position, err := w.append(r.event)
		switch {
		case errors.Is(err, store.ErrDamaged):
			err = explain(w.s.path, err)
		case err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrDuplicate):
			return err
		}
		w.answers = append(w.answers, answer{position, err})
	}
	return nil
}

// append inserts one event if its subject is where the appender believes it to be.
func (w *writer) append(e store.NewEvent) (store.Position, error) {
	head, err := w.head(e.Subject)
	if err != nil {
		return 0, err
	}
	if head.Position != e.Expected {
		return 0, fmt.Errorf("%w: %s is at %d, not at %d", store.ErrConflict, e.Subject, head.Position, e.Expected)
	}
	return w.insert(e, head)
}

// appendOwn appends an event of the store's own.
func (w *writer) appendOwn(subject string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	head, err := w.head(subject)
	if err != nil {
		return err
	}
	_, err = w.insert(store.NewEvent{Subject: subject, ID: rand.Text(), Data: data}, head)
	return err
}

// insert puts an event behind the head of its subject.
func (w *writer) insert(e store.NewEvent, head store.Head) (store.Position, error) {
	added := entry{prior: head.Position, Event: store.Event{
		Position: w.end.Position + 1, Subject: e.Subject, ID: e.ID, Data: e.Data, Previous: head.Hash,
		Hash: store.Seal(head.Hash, e.Subject, e.ID, e.Data),
	}}
	err := w.insertEntry(&added)
	switch code(err) {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return 0, fmt.Errorf("%w: %s", store.ErrDuplicate, e.ID)
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return 0, errMoved
	}
	if err == nil {
		err = w.exec("INSERT OR REPLACE INTO heads (subject, position, hash) VALUES (?, ?, ?)", e.Subject, int64(added.Position), added.Hash[:])
	}
	if err != nil {
		return 0, err
	}
	w.end, w.heads[e.Subject] = added.head(), added.head()
	return added.Position, nil
}

func (w *writer) insertEntry(e *entry) error {
	return w.exec("INSERT INTO events (position, subject, id, prior, previous, hash, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
		int64(e.Position), e.Subject, e.ID, int64(e.prior), e.Previous[:], e.Hash[:], e.Data)
}

// errMoved says that another program has written: the lock does not keep it out.
var errMoved = errors.New("another program writes to it")

// head returns the end of the subject's chain.
func (w *writer) head(subject string) (store.Head, error) {
	if head, ok := w.heads[subject]; ok {
		return head, nil
	}
	e, err := headOf(context.Background(), w.conn, subject)
	if err != nil {
		return store.Head{}, err
	}
	if len(w.heads) >= maxHeads {
		clear(w.heads)
	}
	w.heads[subject] = e.head()
	return e.head(), nil
}

// transact makes what do does durable, or undoes it.
func (w *writer) transact(do func() error) error {
	if w.failed != nil {
		return w.failed
	}
	if err := w.refresh(); err != nil {
		return err
	}
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		if err = w.s.commit(w); err == nil {
			w.s.last.Store(uint64(w.end.Position))
			w.s.tell()
			return nil
		}
		err = w.judge(err)
	}
	_ = w.exec("ROLLBACK") // SQLite may have done so itself
	w.stale = true
	return err
}

// judge says what a commit that failed has come to. After a sync that failed the kernel
// takes for written what is not, so that no later sync can be believed: nothing is appended
// any more until the database is opened again.
func (w *writer) judge(err error) error {
	if settled(err) {
		return err
	}
	w.failed = fmt.Errorf("a commit failed; restart to see what is there: %w", err)
	return fmt.Errorf("%w: %w", store.ErrUnknown, w.failed)
}

// refresh makes what the writer knows right again after a transaction that failed.
func (w *writer) refresh() error {
	if !w.stale {
		return nil
	}
	return w.resume()
}

// resume finds out where the store stands. The last record must be there: events would be
// appended behind a gap, or over others. A last event that was changed concerns its subject
// alone, which takes no more; the others go on behind it.
func (w *writer) resume() error {
	ctx := context.Background()
	clear(w.heads)
	last, err := scanEntry(w.conn.QueryRowContext(ctx, "SELECT "+entryColumns+" FROM events e ORDER BY position DESC LIMIT 1"))
	empty := errors.Is(err, sql.ErrNoRows)
	if err != nil && !empty {
		return err
	}

	if _, err := w.head(headsSubject); err != nil && !w.forgive(err) {
		return err
	}
	recorded, err := w.recorded(ctx, last)
	if err != nil {
		return err
	}

	// So many may have been lost from the end; beyond that it is the heads that are wrong.
	if last.Position > recorded || last.Position+headsEvery < recorded {
		err := fmt.Errorf("%w: the last event is %d, and the table of heads says %d", store.ErrDamaged, last.Position, recorded)
		if !w.forgive(err) {
			return err
		}
		recorded = last.Position
	}

	w.end, w.stale = last.head(), false
	if recorded > last.Position {
		w.end = store.Head{Position: recorded}
	}
	w.s.last.Store(uint64(w.end.Position))
	return nil
}

// recorded is the last event that any subject is known to have had. Where not all heads can be
// read, that of the last event must be one of them.
func (w *writer) recorded(ctx context.Context, last entry) (store.Position, error) {
	var at any
	err := w.conn.QueryRowContext(ctx, "SELECT max(position) FROM heads").Scan(&at)
	if !malformed(err) {
		return position(at), err
	}
	if head, err := w.head(last.Subject); err != nil || head != last.head() {
		return 0, errors.Join(fmt.Errorf("%w: event %d is not the last of %q", store.ErrDamaged, last.Position, last.Subject), err)
	}
	return last.Position, nil
}

// forgive reports whether the store is opened in spite of an error, and keeps what is wrong.
func (w *writer) forgive(err error) bool {
	if !w.s.despite || !errors.Is(err, store.ErrDamaged) && !malformed(err) {
		return false
	}
	w.s.found = append(w.s.found, store.Finding{Text: err.Error()})
	return true
}
