package console

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// lookPatience is how long one hub may take to say how it is.
const lookPatience = 4 * time.Second

// storePatience is how long the fleet's store may take to list its members. It does not answer without a quorum;
// what the daemon has heard is shown then.
const storePatience = 3 * time.Second

// hubLook is a hub as this machine sees it.
type hubLook struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Member  string `json:"member,omitempty"` // that runs it
	// TakenOut means that the machine that ran it was, and none has taken its place.
	TakenOut bool              `json:"taken_out,omitempty"`
	Status   *member.HubStatus `json:"status,omitempty"`
	Error    string            `json:"error,omitempty"`
	// Skew is how many seconds its clock is ahead of ours, by the middle of the request.
	Skew float64 `json:"skew"`

	err   error
	final bool // it refuses this machine, and that is not because it does not know it yet
}

// lookAtHubs asks each hub, on a connection to itself, how it is.
func (c *command) lookAtHubs(ctx context.Context, id member.Identity) []hubLook {
	looks := make([]hubLook, len(id.Hubs))
	var all sync.WaitGroup
	for i, hub := range id.Hubs {
		all.Go(func() {
			looks[i] = hubLook{Name: member.HubName(i + 1), Address: hub.Address()}
			looks[i].err = c.lookAtHub(ctx, id, i+1, &looks[i])
			if looks[i].err != nil {
				looks[i].Error = looks[i].err.Error()
			}
		})
	}
	all.Wait()
	return looks
}

func (c *command) lookAtHub(ctx context.Context, id member.Identity, number int, look *hubLook) error {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()

	refused := make(chan error, 1)
	nc, err := member.ConnectTo(ctx, c.stateDir, id, number, nats.NoReconnect(), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case refused <- err:
		default:
		}
	}))
	if err != nil {
		return err
	}
	defer nc.Close()

	var status member.HubStatus
	began := c.now()
	err = member.Ask(ctx, nc, link.Names{Fleet: id.Fleet}.AskHub(member.HubName(number), member.VerbStatus, id.Name), struct{}{}, &status)
	took := c.now().Sub(began)

	select {
	case why := <-refused:
		return why
	default:
	}
	if err != nil {
		return err
	}
	if status.Error != "" {
		return errors.New(status.Error)
	}

	look.Status, look.Skew = &status, status.Now.Sub(began.Add(took/2)).Seconds()
	return nil
}

// members are all records, as the fleet's store has them.
func (c *command) members(ctx context.Context, id member.Identity) ([]member.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	var all []member.Record
	err := id.WithLink(ctx, c.stateDir, func(l *link.Link) (err error) {
		all, err = id.Members(ctx, l.Log)
		return err
	}, nats.NoReconnect())
	if all == nil && err != nil {
		return nil, unread(err)
	}
	return all, err
}

// unread says why the fleet's store cannot be read.
func unread(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return errors.New("the fleet's store is not made yet: that takes some seconds once all hubs have joined")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("the fleet's store has not answered within %s", plain.Duration(storePatience))
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrAuthorization):
		return err
	}
	return fmt.Errorf("the fleet's store cannot be read: %w", err)
}
