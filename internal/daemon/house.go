package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/engine"
)

const (
	// houseEvery is how often the daemon looks for what is old.
	houseEvery = time.Hour
	// forgetAfter is how long an owner is remembered after its end.
	forgetAfter = 30 * 24 * time.Hour
	// sweepAfter is how long the files of its commands are.
	sweepAfter = 24 * time.Hour
)

// headKeeper is a store that records the ends of its chains when it is told to.
type headKeeper interface {
	RecordHeads(ctx context.Context) error
}

// keepHouse does what keeps the state directory small and the store checkable, until the
// context ends.
func (d *daemon) keepHouse(ctx context.Context) {
	tick := time.NewTicker(houseEvery)
	defer tick.Stop()
	for {
		d.tidy(ctx)
		select {
		case <-ctx.Done():
			return
		case <-d.full:
			d.told("no snapshot was saved", d.core.Snapshot(ctx))
		case <-tick.C:
		}
	}
}

func (d *daemon) tidy(ctx context.Context) {
	if heads, ok := d.store.(headKeeper); ok {
		d.told("the heads of the store were not recorded", heads.RecordHeads(ctx))
	}
	d.told("files of commands that have ended were not removed", d.errands().Sweep(func(owner string) bool {
		o := d.core.owner(owner)
		return o == nil || o.Terminal() && d.Now().Sub(o.Updated) > sweepAfter
	}))
	d.told("what is old was not forgotten", d.forget(ctx))
}

// forget ends the record of owners that came to their end long ago. Their events go with
// the next trim, which the store does below a snapshot that it has read back.
func (d *daemon) forget(ctx context.Context) error {
	forgotten := 0
	for _, o := range look(d.core, (*engine.State).Owners) {
		if !o.Terminal() || len(o.Effects) > 0 || d.Now().Sub(o.Updated) <= forgetAfter {
			continue
		}
		if _, err := d.core.Do(ctx, o.ID, engine.Input{ID: "forget", What: engine.Forget{}}); err != nil {
			return err
		}
		if err := os.Remove(logPath(d.StateDir, o.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		forgotten++
	}
	if forgotten == 0 {
		return nil
	}
	d.Log.Info("forgot what ended long ago", "owners", forgotten)
	if err := d.core.Snapshot(ctx); err != nil {
		return err
	}
	return d.store.Trim(ctx)
}

// told keeps a failure that the next round may put right.
func (d *daemon) told(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		d.Log.Error(what, "error", err)
		d.core.trouble.is(what, err.Error())
		return
	}
	d.core.trouble.over(what)
}
