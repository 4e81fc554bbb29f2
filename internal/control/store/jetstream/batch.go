package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
)

// The headers of messages that are appended together: the last one commits them all.
const (
	headerBatch       = "Nats-Batch-Id"
	headerBatchNumber = "Nats-Batch-Sequence"
	headerBatchCommit = "Nats-Batch-Commit"
)

// AppendAll appends events of several subjects, all of them or none: each subject has the version that is
// expected of it. A claim takes a job and its room under a cap in this way.
func (s *Store) AppendAll(ctx context.Context, events ...store.NewEvent) ([]store.Position, error) {
	messages := make([]*nats.Msg, 0, len(events))
	subjects := map[string]bool{}
	for _, e := range events {
		if err := e.Check(); err != nil {
			return nil, err
		}
		if subjects[e.Subject] {
			return nil, fmt.Errorf("%w: %s twice in one batch", store.ErrInvalid, e.Subject)
		}
		subjects[e.Subject] = true

		previous, err := s.hashAt(ctx, e.Subject, e.Expected)
		if err != nil {
			return nil, err
		}
		msg := s.message(e, previous)
		msg.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(uint64(e.Expected), 10))
		messages = append(messages, msg)
	}

	if len(events) == 0 {
		return nil, nil
	}
	last, err := s.insist(ctx, events, func(ctx context.Context) (store.Position, error) { return s.commit(ctx, messages) })
	if err != nil {
		return nil, err
	}
	return s.appended(events, messages, last), nil
}

// commit sends a batch, and returns the position of its last event.
func (s *Store) commit(ctx context.Context, messages []*nats.Msg) (store.Position, error) {
	id := newID()
	nc := s.js.Conn()
	for i, msg := range messages {
		msg.Header.Set(headerBatch, id)
		msg.Header.Set(headerBatchNumber, strconv.Itoa(i+1))
		if i < len(messages)-1 {
			if err := nc.PublishMsg(msg); err != nil {
				return 0, err
			}
			continue
		}

		msg.Header.Set(headerBatchCommit, "1")
		reply, err := nc.RequestMsgWithContext(ctx, msg)
		if err != nil {
			return 0, err
		}

		var answer struct {
			jetstream.PubAck
			Error *jetstream.APIError `json:"error"`
		}
		switch err := json.Unmarshal(reply.Data, &answer); {
		case err != nil:
			return 0, err
		case answer.Error != nil:
			return 0, answer.Error
		}
		return store.Position(answer.Sequence), nil
	}
	return 0, nil
}

// appended notes where a batch is: its events follow each other.
func (s *Store) appended(events []store.NewEvent, messages []*nats.Msg, last store.Position) []store.Position {
	positions := make([]store.Position, len(events))
	for i, e := range events {
		positions[i] = last - store.Position(len(events)-1-i)
		hash, _ := readHash(messages[i].Header, headerHash)
		s.known(e.Subject, store.Head{Position: positions[i], Hash: hash})
	}
	return positions
}
