//go:build unix

package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/stopgate/stopgate/test/fleet/world"
)

// fleetMemory is what a hub and a daemon take, against a daemon that is in no fleet.
func fleetMemory(ctx context.Context, l *lab, r *report) (err error) {
	w, err := world.New(world.Options{Bin: filepath.Dir(l.stopgate), Machines: 1, Network: world.Direct})
	if err != nil {
		return err
	}
	err = furnish(ctx, w.Machines[0])
	if err == nil {
		err = settle(ctx)
	}
	alone := most(w.Machines[0].Running("stopgated daemon"))
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}

	f, err := l.fleet(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	if err := settle(ctx); err != nil {
		return err
	}
	r.table("**Memory of a machine in a fleet** of three with nothing to do: pages of the largest of its processes")
	r.measure("daemon, in no fleet", figure{alone, "MB", 0})
	r.measure("daemon, in a fleet", figure{most(f.daemons()), "MB", 0})
	r.measure("hub", figure{most(f.hubs()), "MB", 0})
	return nil
}
