package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stopgate/stopgate/internal/control/store"
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

	last       store.Position        // in the transaction under way, else the store's
	changed    map[string]store.Head // in the transaction under way
	body       []byte                // entries of it that are not in a row yet
	cache      map[string]store.Head // of some subjects, as they were committed
	broken     map[string]error      // subjects of the batch whose heads cannot be read
	ids        map[uint64]struct{}   // fingerprints of all
	newIDs     []uint64              // those since the last record
	recorded   store.Head            // the last record of heads
	recordedAt time.Time             // when that was, in this process
	stale      bool                  // what the writer knows may be wrong
	wrote      bool                  // in the transaction under way

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
		changed: map[string]store.Head{}, cache: map[string]store.Head{}, broken: map[string]error{}, ids: map[uint64]struct{}{},
	}
	if err := w.setUp(); err != nil {
		w.disconnect()
		return nil, err
	}
	return w, nil
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
	w.findHeads()
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

// findHeads reads the heads of the batch before its transaction begins: in one that has
// come upon a damaged page SQLite writes nothing any more.
func (w *writer) findHeads() {
	clear(w.broken)
	for _, r := range w.batch {
		if _, err := w.head(r.event.Subject); malformed(err) {
			w.broken[r.event.Subject] = fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
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
	if w.recordDue() {
		return w.recordHeads()
	}
	return nil
}

// append inserts one event.
func (w *writer) append(e newEvent) (store.Position, error) {
	if err := w.broken[e.Subject]; err != nil {
		return 0, err
	}
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
	err := w.change("INSERT INTO batches (last, body) VALUES (?, ?)", int64(w.last), w.body)
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
	w.wrote = false
	err := do()
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		if err = w.exec("COMMIT"); err == nil {
			return w.settle(recorded)
		}
		if unsettled(err) {
			err = fmt.Errorf("%w: %w", store.ErrUnknown, err)
		}
	}
	_ = w.exec("ROLLBACK") // SQLite may have done so itself
	w.stale = true
	return err
}

// settle makes what was committed durable, and then known.
func (w *writer) settle(recorded store.Head) error {
	if !w.wrote {
		return nil
	}
	if err := w.s.log.sync(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	w.committed(recorded)
	return nil
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
