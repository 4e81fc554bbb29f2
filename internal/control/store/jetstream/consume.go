package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// heartbeat is how often a server says that a reader has missed nothing. Without one a reader stalls for
// 10 s when its server has gone.
const heartbeat = time.Second

// consume has each be called for messages of the stream, in order, until it does not want more or the
// context or the store ends. left is how many follow.
func (s *Store) consume(ctx context.Context, config jetstream.OrderedConsumerConfig, each func(msg jetstream.Msg, at, left uint64) bool) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	var messages jetstream.MessagesContext
	err := s.persist(ctx, func(ctx context.Context) error {
		consumer, err := s.stream.OrderedConsumer(ctx, config)
		if err == nil {
			messages, err = consumer.Messages(jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(4*heartbeat), jetstream.PullMaxMessages(512))
		}
		return err
	})
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		switch {
		case ctx.Err() != nil:
			return s.usable(ctx)
		case errors.Is(err, nats.ErrTimeout):
			continue
		case err != nil:
			return fmt.Errorf("read the fleet's store: %w", err)
		}
		about, err := msg.Metadata()
		if err != nil {
			return err
		}
		if !each(msg, about.Sequence.Stream, about.NumPending) {
			return nil
		}
	}
}

func hasPrefix(subject, prefix string) bool { return strings.HasPrefix(subject, prefix) }
