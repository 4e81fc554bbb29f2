package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// CheckCopies reads the events from the copies that some servers have, and returns what is wrong with each of those that
// are not sound. Everything else is read from the server that leads, so damage on another one would be noticed only
// when that leads. It is store.ErrDamaged where a server has events that it cannot read.
func (s *Store) CheckCopies(ctx context.Context, servers []string) (wrong map[string]error, err error) {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return nil, err
	}
	readers, err := readersOn(ctx, s.stream, servers)
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
		defer cancel()
		for _, reader := range readers {
			_ = s.stream.DeleteConsumer(ctx, reader.CachedInfo().Name) // else the servers do, after a while
		}
	}()
	if err != nil {
		return nil, err
	}
	found := make([]error, len(servers))
	var all sync.WaitGroup // one that cannot read something waits for it
	for i, server := range servers {
		reader, drawn := readers[server]
		if !drawn {
			found[i] = fmt.Errorf("%s does not read for others now: it may not have caught up", server)
			continue
		}
		all.Go(func() {
			if err := readCopy(ctx, reader, info.State); err != nil {
				found[i] = fmt.Errorf("%w of %s", err, s.o.Name)
			}
		})
	}
	all.Wait()

	wrong = map[string]error{}
	for i, server := range servers {
		if found[i] != nil {
			wrong[server] = found[i]
		}
	}
	return wrong, nil
}

// draws is how often a server is chosen at most: of three, each is chosen but for one in 5,000 cases.
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

// stalled is after what time a server that sends nothing has nothing to send.
const stalled = 5 * time.Second

// readCopy reads what a stream had at some moment. A server passes over what it cannot read. It is asked for as many
// messages as are left: it would wait for more.
func readCopy(ctx context.Context, reader jetstream.Consumer, had jetstream.StreamState) error {
	read, at := uint64(0), uint64(0)
	for at < had.LastSeq && read < had.Msgs {
		batch, err := reader.Fetch(int(min(512, had.Msgs-read)), jetstream.FetchMaxWait(stalled))
		if err != nil {
			return err
		}

		before := at
		for msg := range batch.Messages() {
			about, err := msg.Metadata()
			if err != nil {
				return err
			}
			if at = about.Sequence.Stream; at <= had.LastSeq {
				read++
			}
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return err
		}

		if at > before {
			continue
		}
		if info, err := reader.Info(ctx); err != nil || info.NumPending == 0 {
			return errors.Join(errors.New("it has not caught up with the others"), err)
		}
		break // what follows cannot be read
	}

	if read < had.Msgs {
		return fmt.Errorf("%w: it cannot read %s", store.ErrDamaged, plain.Count(int(had.Msgs-read), "message"))
	}
	return nil
}
