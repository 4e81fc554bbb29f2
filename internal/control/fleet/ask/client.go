package ask

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

// ErrNotSent says that the request did not reach the other machine: nothing came of it.
var ErrNotSent = errors.New("the request did not get there")

// ErrUnknown says that no answer came: the request may have got there.
var ErrUnknown = errors.New("no answer came")

const (
	// patience is for one try. A start asks git, and a decision waits up to 3 s for the agent's hook.
	patience = 6 * time.Second
	// tries are how often the same request to change something is sent. Its id makes that harmless.
	tries = 2
)

// Send asks another member. The error is ErrNotSent or ErrUnknown, or the context's; an answer may be a
// failure itself.
func Send(ctx context.Context, l *link.Link, version, to string, r Request) (Answer, error) {
	if !l.Conn.IsConnected() { // it would be kept, and sent when the caller no longer waits
		return Answer{}, fmt.Errorf("%w: not connected to the fleet", ErrNotSent)
	}
	m, err := r.Encode(l.Ask(to, l.Member), version)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}

	most := tries
	if r.Method == http.MethodGet {
		most = 1
	}

	sent := false
	for range most {
		var reply *nats.Msg
		reply, err = once(ctx, l, m)
		switch {
		case err == nil:
			a, err := decodeAnswer(reply)
			if err != nil {
				return Answer{}, fmt.Errorf("%w: %w", ErrUnknown, err)
			}
			return a, nil
		case notSent(err) && !sent:
			return Answer{}, fmt.Errorf("%w: %w", ErrNotSent, err)
		case ctx.Err() != nil:
			return Answer{}, fmt.Errorf("%w: %w", ErrUnknown, ctx.Err())
		}
		sent = true
	}
	return Answer{}, fmt.Errorf("%w: %w", ErrUnknown, err)
}

func once(ctx context.Context, l *link.Link, m *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.Conn.RequestMsgWithContext(ctx, m)
}

// notSent reports whether an error says that the request reached no machine.
func notSent(err error) bool {
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrMaxPayload)
}
