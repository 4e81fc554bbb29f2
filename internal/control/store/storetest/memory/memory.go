// Package memory is a store for tests: it keeps the contract, except that it ends with
// the process, and can be told to fail.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/control/store"
)

// Fault is what befalls an append.
type Fault int

const (
	None       Fault = iota
	Refused          // nothing is appended, and the answer says so
	LostBefore       // nothing is appended, and the answer is ErrUnknown
	LostAfter        // it is appended, and the answer is ErrUnknown
)

// errRefused is the answer to an append that was Refused.
var errRefused = errors.New("no space left on the store")

// Store is an open store. It is a [store.Store].
type Store struct {
	log    *log
	closed chan struct{}
	once   sync.Once
}

// log outlives the store that was opened on it.
type log struct {
	mu        sync.Mutex
	events    []store.Event
	last      store.Position
	trimmed   store.Position
	ids       map[string]bool
	heads     map[string]store.Head
	snapshots []store.Snapshot // two at most, the newest first
	news      chan struct{}    // closed with the next append
	fault     func(store.NewEvent) Fault
}

// New returns a store without events.
func New() *Store {
	return &Store{
		log:    &log{ids: map[string]bool{}, heads: map[string]store.Head{}, news: make(chan struct{})},
		closed: make(chan struct{}),
	}
}

// Reopen returns the store as another process would find it.
func (s *Store) Reopen() *Store { return &Store{log: s.log, closed: make(chan struct{})} }

// Inject has each append suffer the fault that f names. Nil is for none.
func (s *Store) Inject(f func(store.NewEvent) Fault) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.fault = f
}

// Append appends an event.
func (s *Store) Append(ctx context.Context, e store.NewEvent) (store.Position, error) {
	if err := e.Check(); err != nil {
		return 0, err
	}

	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}

	fault := None
	if l.fault != nil {
		fault = l.fault(e)
	}
	switch fault {
	case Refused:
		return 0, errRefused
	case LostBefore:
		return 0, store.ErrUnknown
	}

	position, err := l.append(e)
	if fault == LostAfter {
		return 0, store.ErrUnknown
	}
	return position, err
}

func (l *log) append(e store.NewEvent) (store.Position, error) {
	head := l.heads[e.Subject]
	if head.Position != e.Expected {
		return 0, fmt.Errorf("%w: %s is at %d, not at %d", store.ErrConflict, e.Subject, head.Position, e.Expected)
	}
	if l.ids[e.ID] {
		return 0, fmt.Errorf("%w: %s", store.ErrDuplicate, e.ID)
	}
	l.last++
	added := store.Event{Position: l.last, Subject: e.Subject, ID: e.ID, Data: append([]byte{}, e.Data...), Previous: head.Hash}
	added.Hash = store.Seal(head.Hash, e.Subject, e.ID, e.Data)
	l.events = append(l.events, added)
	l.ids[e.ID] = true
	l.heads[e.Subject] = store.Head{Position: l.last, Hash: added.Hash}
	close(l.news)
	l.news = make(chan struct{})
	return l.last, nil
}

// Head returns the end of the subject's chain.
func (s *Store) Head(ctx context.Context, subject string) (store.Head, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return store.Head{}, err
	}
	if !store.ValidSubject(subject) {
		return store.Head{}, fmt.Errorf("%w: subject %q", store.ErrInvalid, subject)
	}
	return s.log.heads[subject], nil
}

// Heads returns the ends of all chains.
func (s *Store) Heads(ctx context.Context) (map[string]store.Head, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	return maps.Clone(s.log.heads), nil
}

// Read returns the events of one subject.
func (s *Store) Read(ctx context.Context, subject string, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		if !store.ValidSubject(subject) {
			yield(store.Event{}, fmt.Errorf("%w: subject %q", store.ErrInvalid, subject))
			return
		}
		events, _, err := s.since(ctx, 0)
		if err != nil {
			yield(store.Event{}, err)
			return
		}

		var previous store.Hash
		first := true
		for _, e := range events {
			if e.Subject != subject {
				continue
			}
			if e.Position <= after {
				previous = e.Hash
				continue
			}
			if first && e.Previous != previous && after < s.gone() {
				yield(store.Event{}, store.ErrTrimmed)
				return
			}
			first = false
			if !s.yield(e, yield) {
				return
			}
		}
	}
}

// ReadAll returns the events of all subjects.
func (s *Store) ReadAll(ctx context.Context, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		events, _, err := s.since(ctx, after)
		if err == nil && after < s.gone() {
			err = store.ErrTrimmed
		}
		if err != nil {
			yield(store.Event{}, err)
			return
		}
		for _, e := range events {
			if !s.yield(e, yield) {
				return
			}
		}
	}
}

// Watch returns the events of the subjects with a prefix, also those to come.
func (s *Store) Watch(ctx context.Context, prefix string, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for {
			events, news, err := s.since(ctx, after)
			if err == nil && after < s.gone() {
				err = store.ErrTrimmed
			}
			if err != nil {
				if ctx.Err() == nil {
					yield(store.Event{}, err)
				}
				return
			}

			for _, e := range events {
				after = e.Position
				if strings.HasPrefix(e.Subject, prefix) && !s.yield(e, yield) {
					return
				}
			}

			select {
			case <-news:
			case <-ctx.Done():
			case <-s.closed:
			}
		}
	}
}

// yield hands out an event that the reader may change.
func (s *Store) yield(e store.Event, yield func(store.Event, error) bool) bool {
	if !e.Sound() {
		yield(store.Event{}, fmt.Errorf("%w: event %d", store.ErrDamaged, e.Position))
		return false
	}
	e.Data = bytes.Clone(e.Data)
	return yield(e, nil)
}

// since returns the events after a position, and what is closed when there are more.
func (s *Store) since(ctx context.Context, after store.Position) ([]store.Event, <-chan struct{}, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, nil, err
	}
	at, _ := slices.BinarySearchFunc(s.log.events, after+1, func(e store.Event, p store.Position) int {
		return int(int64(e.Position) - int64(p))
	})
	return slices.Clip(s.log.events[at:]), s.log.news, nil
}

func (s *Store) gone() store.Position {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.trimmed
}

// SaveSnapshot keeps a snapshot and the one before it.
func (s *Store) SaveSnapshot(ctx context.Context, snap store.Snapshot) error {
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if snap.Position > l.last {
		return fmt.Errorf("%w: a snapshot at %d, behind the last event at %d", store.ErrInvalid, snap.Position, l.last)
	}
	snap.Data = append([]byte{}, snap.Data...)
	l.snapshots = slices.DeleteFunc(l.snapshots, func(old store.Snapshot) bool { return old.Position == snap.Position })
	l.snapshots = append(l.snapshots, snap)
	slices.SortFunc(l.snapshots, func(a, b store.Snapshot) int { return int(int64(b.Position) - int64(a.Position)) })
	l.snapshots = l.snapshots[:min(len(l.snapshots), 2)]
	return nil
}

// LoadSnapshot returns the newest snapshot.
func (s *Store) LoadSnapshot(ctx context.Context) (store.Snapshot, error) {
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := s.usable(ctx); err != nil || len(l.snapshots) == 0 {
		return store.Snapshot{}, err
	}
	snap := l.snapshots[0]
	snap.Data = bytes.Clone(snap.Data)
	return snap, nil
}

// Trim removes the events that two snapshots stand for.
func (s *Store) Trim(ctx context.Context, by string) (store.Trimmed, error) {
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := s.usable(ctx); err != nil || len(l.snapshots) < 2 {
		return store.Trimmed{}, err
	}
	l.trimmed = max(l.trimmed, l.snapshots[1].Position)
	var left []store.Event // not in place: readers hold the old ones
	for _, e := range l.events {
		if e.Position > l.trimmed || e.Position == l.heads[e.Subject].Position {
			left = append(left, e)
		} else {
			delete(l.ids, e.ID)
		}
	}
	removed := len(l.events) - len(left)
	l.events = left
	if removed == 0 {
		return store.Trimmed{}, nil
	}
	return store.Trimmed{To: l.trimmed, Events: removed, By: by}, nil
}

// Close ends all watches.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *Store) usable(ctx context.Context) error {
	select {
	case <-s.closed:
		return store.ErrClosed
	default:
		return ctx.Err()
	}
}

var _ store.Store = (*Store)(nil)
