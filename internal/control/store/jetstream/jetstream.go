// Package jetstream is a store on a stream of NATS JetStream: what no single host of a fleet may own.
//
// It keeps the contract of package store, with two differences that its suite makes explicit. An ID is
// not looked for under other subjects. And what another handle has appended is seen by every read only
// after a Barrier: a server that was cut off and does not know it yet answers with old data. What this
// handle has appended is always seen: answers that are older are refused.
package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
)

const (
	// attempt is how long one request may take, and patience all for one append or read: the election of
	// a leader takes up to 8 s.
	attempt  = time.Second
	patience = 15 * time.Second
	// pause is between two attempts.
	pause = 20 * time.Millisecond
	// maxMessage is the largest event with its headers.
	maxMessage = store.MaxData + 4<<10
)

// Options are what a store is opened with.
type Options struct {
	// Name is that of the stream: letters, digits, _ and -.
	Name string
	// Prefix begins the subjects of events, without the dot behind it.
	Prefix string
	// Replicas is on how many servers each event is, when the stream is made. With 0 it is not made: those who
	// may only use it open it so.
	Replicas int
}

// Store is an open store. It is a [store.Store].
type Store struct {
	o      Options
	js     jetstream.JetStream
	stream jetstream.Stream // of the events
	spare  jetstream.Stream // of snapshots: what is removed there leaves no hole among the events

	ctx   context.Context // ends with the store
	close context.CancelFunc

	mu      sync.Mutex
	seen    store.Position        // the highest that this handle knows of
	heads   map[string]store.Head // that it knows of; a cache
	trimmed store.Position
}

// Open opens a store, and makes it where there is none and Replicas says so. The connection stays the
// caller's.
func Open(ctx context.Context, nc *nats.Conn, o Options) (*Store, error) {
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(attempt))
	if err != nil {
		return nil, err
	}
	s := &Store{o: o, js: js, heads: map[string]store.Head{}}
	s.ctx, s.close = context.WithCancel(context.Background())
	err = s.persist(ctx, func(ctx context.Context) (err error) {
		if s.stream, err = s.find(ctx, o.Name, o.Prefix+".>"); err != nil {
			return err
		}
		s.spare, err = s.find(ctx, o.Name+"-snapshots", s.chunks(">"))
		return err
	})
	if err == nil {
		err = s.readTrim(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", o.Name, err)
	}
	return s, nil
}

// find finds a stream, or makes it.
func (s *Store) find(ctx context.Context, name, subjects string) (jetstream.Stream, error) {
	if s.o.Replicas == 0 {
		return s.js.Stream(ctx, name)
	}
	return s.js.CreateOrUpdateStream(ctx, s.config(name, subjects))
}

// config is that of a stream that drops nothing by itself. Messages are read from its leader alone.
func (s *Store) config(name, subjects string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: name, Subjects: []string{subjects}, Storage: jetstream.FileStorage, Replicas: s.o.Replicas,
		Discard: jetstream.DiscardNew, MaxMsgSize: maxMessage, AllowDirect: false, AllowAtomicPublish: true,
		Duplicates: 100 * time.Millisecond, // the least: versions guard an append, also for longer
	}
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.close()
	return nil
}

// usable is why nothing can be done.
func (s *Store) usable(ctx context.Context) error {
	if s.ctx.Err() != nil {
		return store.ErrClosed
	}
	return ctx.Err()
}

// within is a context that ends with the store, too.
func (s *Store) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// errStale says that a server answered with less than this handle knows of.
var errStale = errors.New("the server answers with old data")

// persist does what may fail because a leader is elected, until it succeeds or the time is over. What
// the servers refuse is refused.
func (s *Store) persist(ctx context.Context, do func(ctx context.Context) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}

	ctx, cancel := s.within(ctx)
	defer cancel()
	late := time.NewTimer(patience)
	defer late.Stop()

	for {
		one, end := context.WithTimeout(ctx, attempt)
		err := do(one)
		end()
		switch {
		case err == nil || !passing(err):
			return err
		case s.usable(ctx) != nil:
			return s.usable(ctx)
		}

		select {
		case <-time.After(pause):
		case <-ctx.Done():
		case <-late.C:
			return fmt.Errorf("the fleet's store does not answer: %w", err)
		}
	}
}

// passing reports whether an error may be over at the next attempt.
func passing(err error) bool {
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) {
		const noPeers = 10005                                                 // the servers have not found each other yet
		return api.Code == 503 || api.Code == 500 || api.ErrorCode == noPeers // or there is no leader, or it has not caught up
	}
	for _, one := range []error{
		errStale, context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse,
		nats.ErrDisconnected, nats.ErrReconnectBufExceeded, nats.ErrConnectionReconnecting,
	} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// The subjects of NATS are those of the store behind a prefix.
func (s *Store) wire(subject string) string { return s.o.Prefix + "." + subject }

func (s *Store) subject(wire string) string { return strings.TrimPrefix(wire, s.o.Prefix+".") }

func (s *Store) chunks(rest string) string { return s.o.Prefix + "-snapshot." + rest }

// known notes what this handle has seen.
func (s *Store) known(subject string, head store.Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = max(s.seen, head.Position)
	if head.Position > s.heads[subject].Position {
		s.heads[subject] = head
	}
}

// head is what this handle knows of a subject.
func (s *Store) head(subject string) store.Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heads[subject]
}

func (s *Store) last() store.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

var _ store.Store = (*Store)(nil)
