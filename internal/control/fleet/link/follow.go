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

// errAgain says that everything is to be read from the beginning.
var errAgain = errors.New("the connection to the fleet was made again")

// Follow reads the last message of each subject and then what comes, until the context ends, the connection is
// made again, or the stream cannot be read. Whoever wants to go on calls it again: a stream that was made
// again in the meantime has other numbers, so that going on where one was may miss everything.
//
// Servers that say nothing for a second are asked again: without that, one in thirty readers stalled for 10 s.
func (l *Link) Follow(ctx context.Context, to Follower, subjects ...string) error {
	to.Begin()
	const heartbeat = time.Second
	again := l.Conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer l.Conn.RemoveStatusListener(again)

	consumer, err := l.Views.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: subjects, MaxResetAttempts: 1})
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

	err = l.take(ctx, messages, to, consumer.CachedInfo().NumPending)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("read the views of the fleet %s: %w", l.Fleet, err)
}

// take hands messages on until there is an error. So many are there already.
func (l *Link) take(ctx context.Context, messages jetstream.MessagesContext, to Follower, there uint64) error {
	caught := there == 0
	if caught {
		to.Caught()
	}
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if errors.Is(err, nats.ErrTimeout) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		about, err := msg.Metadata()
		if err != nil {
			return err
		}
		to.Take(Message{Subject: msg.Subject(), Data: msg.Data(), Sequence: about.Sequence.Stream, Time: about.Timestamp})
		if !caught && about.NumPending == 0 {
			caught = true
			to.Caught()
		}
	}
}
