package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
)

// copyPatience is how long the hubs may take to read their copies.
const copyPatience = 30 * time.Second

// checkCopies reads each hub's own copy of the fleet's store, so that damage on a disk is named before the others need
// that copy. Views are not checked: machines publish them anew all the time.
func (c *command) checkCopies(ctx context.Context, d *diagnosis, id member.Identity, s status) {
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

	ctx, cancel := context.WithTimeout(ctx, copyPatience)
	defer cancel()
	wrong, err := c.readCopies(ctx, id, names)
	if err != nil {
		d.add(levelWarn, "copies", "they were not read: "+err.Error(), "run stopgate fleet doctor again")
		return
	}

	for _, name := range names {
		if wrong[name] != nil {
			d.unreadable(id, up[name], wrong[name])
		}
	}
	if len(wrong) == 0 && len(names) == len(id.Hubs) && len(names) > 1 {
		d.add(levelOK, "copies", fmt.Sprintf("all %d hubs can read everything that they keep", len(names)), "")
	}
}

func (c *command) readCopies(ctx context.Context, id member.Identity, hubs []string) (wrong map[string]error, err error) {
	err = id.WithLink(ctx, c.stateDir, func(l *link.Link) error {
		wrong, err = l.Log.CheckCopies(ctx, hubs)
		return err
	}, nats.NoReconnect())
	return wrong, err
}

// unreadable says why a hub's copy was not read to its end, and what helps.
func (d *diagnosis) unreadable(id member.Identity, h hubLook, err error) {
	what := fmt.Sprintf("%s (%s)", h.Name, h.Address)
	switch {
	case !errors.Is(err, store.ErrDamaged):
		d.add(levelWarn, what, "its copy of the store was not checked: "+err.Error(), "run stopgate fleet doctor again once all hubs have caught up")
	case len(id.Hubs) == 1:
		d.add(levelDead, what, err.Error()+"; there is no other copy", "look at the disk of that machine; then make the fleet again: stopgate fleet leave, init and join")
	default: // the fleet works: what this hub cannot read is read from the others
		d.add(levelWarn, what, err.Error(), fmt.Sprintf("the other hubs have everything, and give it back: on that machine, stopgate daemon stop; kill %d; remove the folder fleet/hub/jetstream in its state directory; stopgate daemon start", h.Status.PID))
	}
}
