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

// copyPatience is how long the hubs may take to read their copies of a stream.
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
	up := map[string]hubLook{}
	var names []string
	for _, h := range s.HubStatus {
		if h.Status != nil && h.Status.Waits == "" {
			up[h.Name], names = h, append(names, h.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	problems := len(d.Findings)
	for _, stream := range up[names[0]].Status.Streams {
		ctx, cancel := context.WithTimeout(ctx, copyPatience)
		wrong, err := storage.CheckCopies(ctx, js, stream.Name, names)
		cancel()
		if err != nil {
			d.add(levelWarn, "copies", fmt.Sprintf("those of %s were not read: %v", stream.Name, err), "run stopgate fleet doctor again")
		}
		for _, name := range names {
			if wrong[name] != nil {
				d.unreadable(id, up[name], stream.Name, wrong[name])
			}
		}
	}
	if len(d.Findings) == problems && len(names) == len(id.Hubs) && len(names) > 1 {
		d.add(levelOK, "copies", fmt.Sprintf("all %d hubs can read everything that they keep", len(names)), "")
	}
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
