package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
)

// The headers of an event, beside its expected version, which JetStream keeps: it is the position of the
// event before it.
const (
	headerID       = "Sg-Id"
	headerPrevious = "Sg-Prev"
	headerHash     = "Sg-Hash"
)

// Append implements store.Store.
func (s *Store) Append(ctx context.Context, e store.NewEvent) (store.Position, error) {
	if err := e.Check(); err != nil {
		return 0, err
	}
	return s.append(ctx, e)
}

// append appends also what is the store's own.
func (s *Store) append(ctx context.Context, e store.NewEvent) (store.Position, error) {
	previous, err := s.hashAt(ctx, e.Subject, e.Expected)
	if err != nil {
		return 0, err
	}
	msg := s.message(e, previous)
	position, err := s.insist(ctx, []store.NewEvent{e}, func(ctx context.Context) (store.Position, error) { return s.publish(ctx, msg, e.Expected) })
	if err == nil {
		s.appended([]store.NewEvent{e}, []*nats.Msg{msg}, position)
	}
	return position, err
}

// insist tries to append events that go together until it is known what became of them, or the time is over.
// It returns the position of the last one.
func (s *Store) insist(ctx context.Context, events []store.NewEvent, publish func(ctx context.Context) (last store.Position, err error)) (store.Position, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}

	late := time.NewTimer(patience)
	defer late.Stop()
	unknown := false // an attempt may have been appended
	for {
		one, end := context.WithTimeout(ctx, attempt)
		last, err := publish(one)
		end()
		if err == nil || !refused(err) && !passing(err) && !interrupted(err) {
			return last, err
		}

		unknown = unknown || !refused(err)
		last, found := s.became(ctx, events, unknown)
		if !errors.Is(found, errOpen) {
			return last, found
		}

		select {
		case <-time.After(pause):
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-s.ctx.Done():
			err = store.ErrClosed
		case <-late.C:
		}

		if unknown {
			err = fmt.Errorf("%w: %w", store.ErrUnknown, err)
		}
		return 0, err
	}
}

// became is what became of events that go together: where the last one is, that there was a conflict, or
// errOpen where they are still to be appended. unknown means that they may have been.
func (s *Store) became(ctx context.Context, events []store.NewEvent, unknown bool) (store.Position, error) {
	if unknown {
		first, err := s.settled(ctx, events[0])
		if err == nil || errors.Is(err, store.ErrConflict) {
			return first + store.Position(len(events)) - 1, err
		}
		return 0, errOpen
	}
	for _, e := range events {
		if err := s.conflict(ctx, e); err != nil {
			return 0, err
		}
	}
	return 0, errOpen
}

// message is an event as it is published.
func (s *Store) message(e store.NewEvent, previous store.Hash) *nats.Msg {
	msg := nats.NewMsg(s.wire(e.Subject))
	msg.Data = append([]byte{}, e.Data...)
	msg.Header.Set(headerID, e.ID)
	msg.Header.Set(headerPrevious, previous.String())
	msg.Header.Set(headerHash, store.Seal(previous, e.Subject, e.ID, e.Data).String())
	return msg
}

// publish tries once.
func (s *Store) publish(ctx context.Context, msg *nats.Msg, expected store.Position) (store.Position, error) {
	ack, err := s.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(uint64(expected)), jetstream.WithExpectStream(s.o.Name), jetstream.WithRetryAttempts(0))
	if err != nil {
		return 0, err
	}
	return store.Position(ack.Sequence), nil
}

// refused reports whether the version was not the expected one. That is also the answer while another append
// to the subject is under way, which may fail.
func refused(err error) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func interrupted(err error) bool { return errors.Is(err, context.Canceled) }

// errOpen says that an event was not appended as far as a server knows.
var errOpen = errors.New("not appended yet")

// conflict is why a version was refused; nil where the subject is as expected, because another append was
// under way that failed: then it is tried again.
func (s *Store) conflict(ctx context.Context, e store.NewEvent) error {
	head, err := s.ownHead(ctx, e.Subject)
	if err == nil && head.Position != e.Expected {
		err = fmt.Errorf("%w: %s is at %d, not at %d", store.ErrConflict, e.Subject, head.Position, e.Expected)
	}
	return err
}

// settled finds out whether an event was appended: then it follows the expected version. An event of
// another ID there means a conflict.
func (s *Store) settled(ctx context.Context, e store.NewEvent) (store.Position, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
	defer cancel()
	msg, err := s.stream.GetMsg(ctx, uint64(e.Expected)+1, jetstream.WithGetMsgSubject(s.wire(e.Subject)))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return 0, errOpen
	case err != nil:
		return 0, err
	case msg.Header.Get(headerID) == e.ID && backOf(msg.Header) == e.Expected:
		return store.Position(msg.Sequence), nil
	}
	return 0, fmt.Errorf("%w: %s is at %d, not at %d", store.ErrConflict, e.Subject, msg.Sequence, e.Expected)
}

// hashAt is the hash of a subject's event at a position.
func (s *Store) hashAt(ctx context.Context, subject string, at store.Position) (store.Hash, error) {
	if at == 0 {
		return store.Hash{}, nil
	}
	if known := s.head(subject); known.Position == at {
		return known.Hash, nil
	}
	var event store.Event
	err := s.persist(ctx, func(ctx context.Context) error {
		msg, err := s.stream.GetMsg(ctx, uint64(at))
		if err != nil {
			return err
		}
		event, err = s.event(msg)
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound), err == nil && event.Subject != subject:
		return store.Hash{}, fmt.Errorf("%w: %s has no event at %d", store.ErrConflict, subject, at)
	case err != nil:
		return store.Hash{}, err
	}
	return event.Hash, nil
}

// barrier is the subject of events that say nothing, and are behind others.
const barrier = "store.barrier"

// Barrier returns a position behind everything that any handle had appended when it was called: a read
// that begins afterwards sees all of that.
func (s *Store) Barrier(ctx context.Context) (store.Position, error) {
	for {
		head, err := s.ownHead(ctx, barrier)
		if err != nil {
			return 0, err
		}
		position, err := s.append(ctx, store.NewEvent{Subject: barrier, ID: newID(), Expected: head.Position})
		if !errors.Is(err, store.ErrConflict) {
			return position, err
		}
	}
}

// readHash is a hash in a header.
func readHash(h nats.Header, name string) (hash store.Hash, err error) {
	return hash, hash.UnmarshalText([]byte(h.Get(name)))
}

// backOf is the position of the event before it in its subject.
func backOf(h nats.Header) (p store.Position) {
	_ = json.Unmarshal([]byte(h.Get(jetstream.ExpectedLastSubjSeqHeader)), &p)
	return p
}
