package daemon

import (
	"context"
	"net/http"
	"sync"

	"github.com/stopgate/stopgate/internal/control/fleet"
	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// joinFleet has this machine be a member of its fleet, and its hub run, whenever it is in one.
func (d *daemon) joinFleet(ctx context.Context, all *sync.WaitGroup, p *plane, handler http.Handler) {
	dialer := &member.Dialer{StateDir: d.StateDir, Log: d.Log}
	part := fleet.New(fleet.Options{
		StateDir: d.StateDir, Version: d.Version, Plane: p, Handler: handler,
		Config: d.config.now, Log: d.Log, Now: d.Now, Dial: dialer.Dial,
	})
	keeper := hub.Keeper{
		StateDir: d.StateDir, Environ: d.Environ, Log: d.Log,
		Program: func() (string, error) { return program.Find("stopgated", d.Environ) },
	}
	all.Go(func() { part.Run(ctx) })
	all.Go(func() { keeper.Run(ctx) })
}
