package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Message is the last word of a member about something.
type Message struct {
	Subject  string
	Data     []byte
	Sequence uint64    // in the stream of views
	Time     time.Time // when a server took it, by that server's clock
}

// Follower takes what the members say about themselves.
type Follower interface {
	// Begin is called before everything is read, from the beginning: the link was made, or made again.
	Begin()
	// Take takes a message. One that was taken before may come again after Begin.
	Take(m Message)
	// Caught is called when all that there was when reading began has been taken.
	Caught()
}

// These say that everything is to be read from the beginning.
var (
	errAgain = errors.New("the connection to the fleet was made again")
	errGap   = errors.New("a message was lost on the way")
)

// Follow reads the last message of each subject and then what comes, until the context ends, the connection is
// made again, or the stream cannot be read. Whoever wants to go on calls it again: a stream that was made
// again in the meantime has other numbers, so that going on where one was may miss everything.
//
// Servers that say nothing for a second are asked again: without that, one in thirty readers stalled for 10 s. The library's
// ordered consumer is not used: it goes on where it was, also in a stream that was made again.
func (l *Link) Follow(ctx context.Context, to Follower, subjects ...string) error {
	to.Begin()
	const heartbeat = time.Second
	again := l.Conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer l.Conn.RemoveStatusListener(again)

	consumer, err := l.Views.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubjects: subjects, AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("read the views of the fleet %s: %w", l.Fleet, err)
	}
	messages, err := consumer.Messages(jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(4*heartbeat), jetstream.PullMaxMessages(512))
	if err != nil {
		return fmt.Errorf("read the views of the fleet %s: %w", l.Fleet, err)
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		defer messages.Stop()
		select {
		case <-again:
			cancel(errAgain)
		case <-ctx.Done():
		}
	}()

	err = take(ctx, consumer, messages, to)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("read the views of the fleet %s: %w", l.Fleet, err)
}

// take hands messages on until there is an error.
func take(ctx context.Context, consumer jetstream.Consumer, messages jetstream.MessagesContext, to Follower) error {
	caught := consumer.CachedInfo().NumPending == 0
	if caught {
		to.Caught()
	}
	for taken := uint64(0); ; {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if errors.Is(err, jetstream.ErrNoHeartbeat) {
			_, err = consumer.Info(ctx) // it may be gone, with its server or the stream
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}

		about, err := msg.Metadata()
		if err != nil {
			return err
		}
		if taken++; about.Sequence.Consumer != taken {
			return errGap
		}
		to.Take(Message{Subject: msg.Subject(), Data: msg.Data(), Sequence: about.Sequence.Stream, Time: about.Timestamp})
		if !caught && about.NumPending == 0 {
			caught = true
			to.Caught()
		}
	}
}
