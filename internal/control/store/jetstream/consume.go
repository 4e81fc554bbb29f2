package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
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

	for next := range s.coming(ctx, messages) {
		if next.err != nil {
			return fmt.Errorf("read the fleet's store: %w", next.err)
		}
		about, err := next.msg.Metadata()
		if err != nil {
			return err
		}
		if !each(next.msg, about.Sequence.Stream, about.NumPending) {
			return nil
		}
	}
	return s.usable(ctx)
}

// next is a message, or why there is none any more.
type next struct {
	msg jetstream.Msg
	err error
}

// coming are the messages of a reader until the context ends. A reader whose servers are gone tries to restart
// itself, and ignores the context meanwhile: it is left alone then, and ends at its next try.
func (s *Store) coming(ctx context.Context, messages jetstream.MessagesContext) iter.Seq[next] {
	read := make(chan next, 64)
	over := make(chan struct{})

	go func() {
		defer close(read)
		for ctx.Err() == nil {
			msg, err := messages.Next(jetstream.NextContext(ctx))
			if errors.Is(err, nats.ErrTimeout) {
				continue
			}
			select {
			case read <- next{msg, err}:
			case <-over:
				return
			}
			if err != nil {
				return
			}
		}
	}()

	return func(yield func(next) bool) {
		defer func() { go messages.Stop() }()
		defer close(over)
		for {
			select {
			case n, more := <-read:
				if !more || ctx.Err() != nil || !yield(n) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
