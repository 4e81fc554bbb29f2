package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
)

// trims is the subject of what was trimmed, and by whom.
const trims = "store.trims"

// trimRecord is an event of it. It is written before anything is removed.
type trimRecord struct {
	Version int `json:"v"`
	store.Trimmed
}

func (s *Store) gone() store.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trimmed
}

// readTrim learns up to where events were trimmed, also by others.
func (s *Store) readTrim(ctx context.Context) error {
	var last trimRecord
	err := s.persist(ctx, func(ctx context.Context) error {
		msg, err := s.stream.GetLastMsgForSubject(ctx, s.wire(trims))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		e, err := s.event(msg)
		if err == nil {
			err = json.Unmarshal(e.Data, &last)
		}
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trimmed = max(s.trimmed, last.To)
	return err
}

// Trim implements store.Store.
func (s *Store) Trim(ctx context.Context, by string) (store.Trimmed, error) {
	if err := s.usable(ctx); err != nil {
		return store.Trimmed{}, err
	}

	all, err := s.snapshots(ctx)
	if err != nil || len(all) < 2 {
		for _, k := range all {
			if !k.sound {
				err = errors.Join(err, fmt.Errorf("%w: the snapshot at %d", store.ErrDamaged, k.Position))
			}
		}
		return store.Trimmed{}, err
	}
	for _, k := range all[:2] {
		if !k.sound {
			return store.Trimmed{}, fmt.Errorf("%w: the snapshot at %d", store.ErrDamaged, k.Position)
		}
	}

	to := all[1].Position
	heads, err := s.Heads(ctx)
	if err != nil {
		return store.Trimmed{}, err
	}

	t := trimRecord{Version: 1, Trimmed: store.Trimmed{To: to, Time: time.Now().UTC(), By: by}}
	if t.Events, err = s.superfluous(ctx, to, heads); err != nil || t.Events == 0 {
		return store.Trimmed{}, err
	}
	if err := s.record(ctx, t); err != nil {
		return store.Trimmed{}, err
	}

	last, err := s.ownHead(ctx, barrier)
	if err != nil {
		return store.Trimmed{}, err
	}
	if last.Position > 0 { // there are more of these than of all others
		heads[barrier] = last
	}
	for subject, head := range heads {
		if err := s.purge(ctx, subject, min(head.Position, to+1)); err != nil {
			return store.Trimmed{}, err
		}
	}
	return t.Trimmed, nil
}

// superfluous counts the events up to a position that are not the last of their subjects.
func (s *Store) superfluous(ctx context.Context, to store.Position, heads map[string]store.Head) (n int, err error) {
	config := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy, HeadersOnly: true}
	err = s.consume(ctx, config, func(msg jetstream.Msg, at, left uint64) bool {
		if store.Position(at) > to {
			return false
		}
		if subject := s.subject(msg.Subject()); !store.Own(subject) && heads[subject].Position != store.Position(at) {
			n++
		}
		return left > 0
	})
	return n, err
}

// record writes down what is about to be removed.
func (s *Store) record(ctx context.Context, t trimRecord) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	head, err := s.ownHead(ctx, trims)
	if err != nil {
		return err
	}
	if _, err := s.append(ctx, store.NewEvent{Subject: trims, ID: newID(), Expected: head.Position, Data: text}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trimmed = max(s.trimmed, t.To)
	return nil
}

// purge removes the events of a subject below a position. Done twice, it is the same.
func (s *Store) purge(ctx context.Context, subject string, below store.Position) error {
	return s.persist(ctx, func(ctx context.Context) error {
		return s.stream.Purge(ctx, jetstream.WithPurgeSubject(s.wire(subject)), jetstream.WithPurgeSequence(uint64(below)))
	})
}
