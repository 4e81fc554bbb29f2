package member

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

const (
	LookEvery   = lookEvery
	RefusedWait = refusedWait
)

// Try tries once to connect.
func (d *Dialer) Try(ctx context.Context) (*link.Link, error) { return d.try(ctx) }

// Refused is how long the hubs are left alone after the last refusal.
func (d *Dialer) Refused() time.Duration { return d.refused.wait }

// Waited has the pause be over.
func (d *Dialer) Waited() { d.refused.at = time.Now().Add(-refusedWait) }

// RefuseAs makes the last refusal one of another key, a moment ago.
func (d *Dialer) RefuseAs(key string) {
	d.refused.key, d.refused.at, d.refused.wait = key, time.Now(), refusedWait
}
