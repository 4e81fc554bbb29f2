package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// CheckCopies reads the messages of a stream from the copies that some servers have, and returns what is wrong with
// each of those that are not sound. Everything else is read from the server that leads, so damage on another one
// would be noticed only when that leads. It is store.ErrDamaged where a server has messages that it cannot read.
func CheckCopies(ctx context.Context, js jetstream.JetStream, stream string, servers []string) (wrong map[string]error, err error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	readers, err := readersOn(ctx, s, servers)
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
		defer cancel()
		for _, reader := range readers {
			_ = s.DeleteConsumer(ctx, reader.CachedInfo().Name) // else the servers do, after a while
		}
	}()
	if err != nil {
		return nil, err
	}
	wrong = map[string]error{}
	for _, server := range servers {
		reader, drawn := readers[server]
		if !drawn {
			wrong[server] = fmt.Errorf("%s does not read for others now: it may not have caught up", server)
		} else if err := readCopy(reader); err != nil {
			wrong[server] = fmt.Errorf("%w of %s", err, stream)
		}
	}
	return wrong, nil
}

// draws is how often a server is chosen at most: with three, one of them is never chosen in one of 10,000 cases.
const draws = 24

// readersOn are readers of servers' own copies. A server is chosen for each reader by lot, so several are drawn.
func readersOn(ctx context.Context, s jetstream.Stream, servers []string) (readers map[string]jetstream.Consumer, err error) {
	readers = map[string]jetstream.Consumer{}
	for n := 0; n < draws && len(readers) < len(servers); n++ {
		reader, err := s.CreateConsumer(ctx, jetstream.ConsumerConfig{
			AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
		})
		if err != nil {
			return readers, err
		}
		info := reader.CachedInfo()
		server := servers[0] // the only one
		if info.Cluster != nil {
			server = info.Cluster.Leader
		}
		if _, drawn := readers[server]; !drawn {
			readers[server] = reader
		} else if err := s.DeleteConsumer(ctx, info.Name); err != nil {
			return readers, err
		}
	}
	return readers, nil
}

// stalled is after what time a server that has messages and sends none is taken for one that cannot read them.
const stalled = 5 * time.Second

// readCopy reads all messages that a reader's server has. A server passes over those that it cannot read.
func readCopy(reader jetstream.Consumer) error {
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
		if read == 0 {
			return fmt.Errorf("%w: it cannot read %s", store.ErrDamaged, plain.Count(int(left), "message"))
		}
	}
	return nil
}
