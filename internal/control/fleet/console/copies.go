package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
	storage "github.com/stopgate/stopgate/internal/control/store/jetstream"
)

// copyPatience is how long a hub may take to read its copy of a stream.
const copyPatience = 30 * time.Second

// checkCopies reads each hub's own copy of the fleet's streams, so that damage on a disk is named before the
// others need that copy.
func (c *command) checkCopies(ctx context.Context, d *diagnosis, id member.Identity, s status) {
	nc, err := member.Connect(ctx, c.stateDir, id, nats.NoReconnect())
	if err != nil {
		return // that is said elsewhere
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(lookPatience))
	if err != nil {
		d.add(levelWarn, "copies", err.Error(), "")
		return
	}
	sound := 0
	for _, h := range s.HubStatus {
		if h.Status == nil || h.Status.Waits != "" {
			continue
		}
		if d.checkCopy(ctx, js, id, h) {
			sound++
		}
	}
	if sound == len(id.Hubs) && sound > 1 {
		d.add(levelOK, "copies", fmt.Sprintf("all %d hubs can read everything that they keep", sound), "")
	}
}

// checkCopy reports whether a hub can read all that it keeps.
func (d *diagnosis) checkCopy(ctx context.Context, js jetstream.JetStream, id member.Identity, h hubLook) bool {
	for _, stream := range h.Status.Streams {
		ctx, cancel := context.WithTimeout(ctx, copyPatience)
		err := storage.CheckCopy(ctx, js, stream.Name, h.Name)
		cancel()
		if err != nil {
			d.unreadable(id, h, stream.Name, err)
			return false
		}
	}
	return true
}

// unreadable says why a hub's copy of a stream was not read to its end, and what helps.
func (d *diagnosis) unreadable(id member.Identity, h hubLook, stream string, err error) {
	what := fmt.Sprintf("%s (%s)", h.Name, h.Address)
	switch {
	case !errors.Is(err, store.ErrDamaged):
		d.add(levelWarn, what, "its copy of "+stream+" was not checked: "+err.Error(), "run stopgate fleet doctor again once all hubs have caught up")
	case len(id.Hubs) == 1:
		d.add(levelDead, what, err.Error()+"; there is no other copy", "look at the disk of that machine; then make the fleet again: stopgate fleet leave, init and join")
	default:
		d.add(levelDead, what, err.Error(), fmt.Sprintf("the other hubs have everything, and give it back: on that machine, stopgate daemon stop; kill %d; remove the folder fleet/hub/jetstream in its state directory; stopgate daemon start", h.Status.PID))
	}
}
