package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
)

// event is what a message holds.
func (s *Store) event(msg *jetstream.RawStreamMsg) (store.Event, error) {
	return s.decode(msg.Subject, msg.Sequence, msg.Header, msg.Data)
}

func (s *Store) decode(wire string, sequence uint64, h nats.Header, data []byte) (store.Event, error) {
	e := store.Event{Position: store.Position(sequence), Subject: s.subject(wire), ID: h.Get(headerID), Data: data}
	var wrong, other error
	e.Previous, wrong = readHash(h, headerPrevious)
	e.Hash, other = readHash(h, headerHash)
	if wrong != nil || other != nil || !e.Sound() {
		return store.Event{}, damaged(sequence, "it is not what was appended")
	}
	return e, nil
}

func damaged(sequence uint64, why string) error {
	return fmt.Errorf("%w: event %d: %s", store.ErrDamaged, sequence, why)
}

// Head implements store.Store.
func (s *Store) Head(ctx context.Context, subject string) (store.Head, error) {
	if err := s.usable(ctx); err != nil {
		return store.Head{}, err
	}
	if !store.ValidSubject(subject) {
		return store.Head{}, fmt.Errorf("%w: subject %q", store.ErrInvalid, subject)
	}
	return s.ownHead(ctx, subject)
}

// ownHead is Head also for the store's own subjects.
func (s *Store) ownHead(ctx context.Context, subject string) (head store.Head, err error) {
	err = s.persist(ctx, func(ctx context.Context) error {
		msg, err := s.stream.GetLastMsgForSubject(ctx, s.wire(subject))
		known := s.head(subject)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound) && known.Position == 0:
			head = store.Head{}
			return nil
		case errors.Is(err, jetstream.ErrMsgNotFound), err == nil && store.Position(msg.Sequence) < known.Position:
			return errStale
		case err != nil:
			return err
		}
		e, err := s.event(msg)
		head = store.Head{Position: e.Position, Hash: e.Hash}
		return err
	})
	if err == nil {
		s.known(subject, head)
	}
	return head, err
}

// Heads implements store.Store. The server that reads for us may lag behind: then what it lacks comes later.
func (s *Store) Heads(ctx context.Context) (map[string]store.Head, error) {
	heads := map[string]store.Head{}
	last, err := s.end(ctx)
	if err != nil || last == 0 {
		return heads, err
	}
	var failed error
	config := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, FilterSubjects: []string{s.o.Prefix + ".>"}}
	err = s.consume(ctx, config, func(msg jetstream.Msg, at uint64, _ uint64) bool {
		e, err := s.decode(msg.Subject(), at, msg.Headers(), msg.Data())
		if err != nil {
			failed = err
		} else if !store.Own(e.Subject) {
			heads[e.Subject] = store.Head{Position: e.Position, Hash: e.Hash}
		}
		return at < uint64(last)
	})
	return heads, errors.Join(err, failed)
}

// Last are the last events of all subjects that begin with a prefix, which ends with a dot. Of a store with many
// subjects, that is less than Heads reads. Those that are damaged are in the error; the others are returned.
func (s *Store) Last(ctx context.Context, prefix string) (events []store.Event, err error) {
	var info *jetstream.StreamInfo
	err = s.persist(ctx, func(ctx context.Context) (err error) {
		info, err = s.stream.Info(ctx, jetstream.WithSubjectFilter(s.wire(prefix+">")))
		return err
	})
	if err != nil {
		return nil, err
	}

	var wrong error
	for _, wire := range slices.Sorted(maps.Keys(info.State.Subjects)) {
		err := s.persist(ctx, func(ctx context.Context) error {
			msg, err := s.stream.GetLastMsgForSubject(ctx, wire)
			if err != nil {
				return err
			}
			e, err := s.event(msg)
			if err == nil {
				events = append(events, e)
			}
			return err
		})
		if errors.Is(err, store.ErrDamaged) {
			wrong = errors.Join(wrong, err)
		} else if err != nil {
			return nil, err
		}
	}
	return events, wrong
}

// end is the position of the last event.
func (s *Store) end(ctx context.Context) (last store.Position, err error) {
	err = s.persist(ctx, func(ctx context.Context) error {
		info, err := s.stream.Info(ctx)
		if err != nil {
			return err
		}
		if last = store.Position(info.State.LastSeq); last < s.last() {
			return errStale
		}
		return nil
	})
	return last, err
}

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, subject string, after store.Position) iter.Seq2[store.Event, error] {
	return s.read(ctx, subject, after, false)
}

// Rest returns the events of a subject that are still there, in order: all of them, or those that were not trimmed.
func (s *Store) Rest(ctx context.Context, subject string) iter.Seq2[store.Event, error] {
	return s.read(ctx, subject, 0, true)
}

// read returns the subject's events after a position. With rest, those that were trimmed may be missing.
func (s *Store) read(ctx context.Context, subject string, after store.Position, rest bool) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		head, err := s.Head(ctx, subject)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			yield(store.Event{}, err)
			return
		}
		if err != nil { // the last one itself: those before it can be read
			if head.Position, err = s.lastOf(ctx, subject); err != nil {
				yield(store.Event{}, err)
				return
			}
		}

		before := store.Head{Position: after}
		for at := after; at < head.Position; {
			e, back, err := s.next(ctx, subject, at)
			if err == nil {
				err = s.follows(ctx, e, back, before, at == after)
			}
			if rest && at == after && errors.Is(err, store.ErrTrimmed) {
				err = nil
			}
			if !yield(e, err) || err != nil {
				return
			}
			at, before = e.Position, store.Head{Position: e.Position, Hash: e.Hash}
		}
	}
}

// lastOf is the position of a subject's last event, whatever is in it.
func (s *Store) lastOf(ctx context.Context, subject string) (at store.Position, err error) {
	err = s.persist(ctx, func(ctx context.Context) error {
		msg, err := s.stream.GetLastMsgForSubject(ctx, s.wire(subject))
		if err == nil {
			at = store.Position(msg.Sequence)
		}
		return err
	})
	return at, err
}

// next is the subject's first event behind a position, with the position of the one before it.
func (s *Store) next(ctx context.Context, subject string, after store.Position) (e store.Event, back store.Position, err error) {
	err = s.persist(ctx, func(ctx context.Context) error {
		msg, err := s.stream.GetMsg(ctx, uint64(after)+1, jetstream.WithGetMsgSubject(s.wire(subject)))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return errStale // a later one is known
		case err != nil:
			return err
		}
		back = backOf(msg.Header)
		e, err = s.event(msg)
		return err
	})
	if err != nil {
		return store.Event{}, 0, err
	}
	return e, back, nil
}

// follows checks that an event is the next one of its subject: none between them is missing.
func (s *Store) follows(ctx context.Context, e store.Event, back store.Position, before store.Head, first bool) error {
	switch {
	case first && back <= before.Position:
		return nil
	case !first && back == before.Position && e.Previous == before.Hash:
		return nil
	}
	if err := s.readTrim(ctx); err != nil {
		return err
	}
	if first && back <= s.gone() {
		return store.ErrTrimmed
	}
	return damaged(uint64(e.Position), fmt.Sprintf("the one before it, at %d, is missing", back))
}

// ReadAll implements store.Store.
func (s *Store) ReadAll(ctx context.Context, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		last, err := s.end(ctx)
		if err == nil {
			err = s.untrimmed(ctx, after)
		}
		if err == nil && after < last {
			err = s.follow(ctx, after, last, func(e store.Event) bool { return yield(e, nil) })
		}
		if err != nil {
			yield(store.Event{}, err)
		}
	}
}

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, prefix string, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		err := s.usable(ctx)
		if err == nil {
			err = s.untrimmed(ctx, after)
		}

		wanted := true
		if err == nil {
			const forever = ^store.Position(0)
			err = s.follow(ctx, after, forever, func(e store.Event) bool {
				wanted = !strings.HasPrefix(e.Subject, prefix) || yield(e, nil)
				return wanted
			})
		}

		switch {
		case !wanted:
			return
		case s.ctx.Err() != nil:
			err = store.ErrClosed
		case ctx.Err() != nil:
			return
		}
		if err != nil {
			yield(store.Event{}, err)
		}
	}
}

// untrimmed is ErrTrimmed where events after a position may be gone.
func (s *Store) untrimmed(ctx context.Context, after store.Position) error {
	if err := s.readTrim(ctx); err != nil {
		return err
	}
	if after < s.gone() {
		return store.ErrTrimmed
	}
	return nil
}

// errEnough ends what a reader does not want more of.
var errEnough = errors.New("enough")

// follow reads the events of all subjects after a position up to another one, as they come. Above what was
// trimmed positions have no gaps: one that is missing was lost.
func (s *Store) follow(ctx context.Context, after, last store.Position, each func(store.Event) bool) error {
	var failed error
	config := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: uint64(after) + 1}
	err := s.consume(ctx, config, func(msg jetstream.Msg, at uint64, _ uint64) bool {
		if at != uint64(after)+1 {
			failed = damaged(uint64(after)+1, "it is missing")
			return false
		}
		after = store.Position(at)
		e, err := s.decode(msg.Subject(), at, msg.Headers(), msg.Data())
		switch {
		case err != nil:
			failed = err
			return false
		case !store.Own(e.Subject) && !each(e):
			failed = errEnough
			return false
		}
		return after < last
	})
	if errors.Is(failed, errEnough) {
		return nil
	}
	return errors.Join(failed, err)
}
