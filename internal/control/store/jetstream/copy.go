package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
)

// CheckCopy reads the messages of a stream from the copy that one server has. Everything else is read from the
// server that leads, so damage on another one would be noticed only when that leads. The error is store.ErrDamaged
// where the server has messages that it cannot read.
func CheckCopy(ctx context.Context, js jetstream.JetStream, stream, server string) error {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return err
	}
	reader, err := readerOn(ctx, s, server)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
		defer cancel()
		_ = s.DeleteConsumer(ctx, reader.CachedInfo().Name) // else the server does, after a while
	}()

	for left := reader.CachedInfo().NumPending; left > 0; {
		batch, err := reader.Fetch(512, jetstream.FetchMaxWait(stalled))
		if err != nil {
			return err
		}
		read := 0
		for msg := range batch.Messages() {
			about, err := msg.Metadata()
			if err != nil {
				return err
			}
			read, left = read+1, about.NumPending
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return err
		}
		if read == 0 { // it passes over those that it cannot read
			return fmt.Errorf("%w: %s cannot read %d of its messages of %s", store.ErrDamaged, server, left, stream)
		}
	}
	return nil
}

// stalled is after what time a server that has messages and sends none is taken for one that cannot read them.
const stalled = 5 * time.Second

// readerOn is a reader of a server's own copy. A server is chosen for each reader by lot, so several are drawn.
func readerOn(ctx context.Context, s jetstream.Stream, server string) (jetstream.Consumer, error) {
	const draws = 64
	for range draws {
		reader, err := s.CreateConsumer(ctx, jetstream.ConsumerConfig{
			AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
		})
		if err != nil {
			return nil, err
		}
		info := reader.CachedInfo()
		if info.Cluster == nil || info.Cluster.Leader == server {
			return reader, nil
		}
		if err := s.DeleteConsumer(ctx, info.Name); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the other hubs read %s, and not %s: it may not have caught up", s.CachedInfo().Config.Name, server)
}
