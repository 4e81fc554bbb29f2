package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate/internal/control/workspace"
	"github.com/stopgate/stopgate/internal/project/config"
)

const (
	// houseEvery is how often the daemon looks for what is old.
	houseEvery = time.Hour
	// snapshotPause is how long one that could not be saved is left alone.
	snapshotPause = time.Minute
)

// headKeeper is a store that records the ends of its chains when it is told to.
type headKeeper interface {
	RecordHeads(ctx context.Context) error
}

// keepHouse does what keeps the state directory small and the store checkable, until the
// context ends.
func (d *daemon) keepHouse(ctx context.Context) {
	tick, check := time.NewTicker(houseEvery), time.NewTicker(checkEvery)
	defer tick.Stop()
	defer check.Stop()

	d.logError("check of the store", d.checkStore(ctx))
	d.tidy(ctx)

	full := d.full
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.tidy(ctx)
		case <-check.C:
			d.logError("check of the store", d.checkStore(ctx))
		case <-again:
			full, again = d.full, nil
		case <-full:
			err := d.save(ctx)
			d.logError("cannot save a snapshot", err)
			if err != nil { // each event asks for it
				full, again = nil, time.After(snapshotPause)
			}
		}
	}
}

func (d *daemon) tidy(ctx context.Context) {
	if heads, ok := d.store.(headKeeper); ok {
		d.logError("cannot record the heads of the store", heads.RecordHeads(ctx))
	}
	d.logError("cannot remove the files of commands that have ended", d.errands().Sweep(d.Now(), d.core.known))
	if w, ok := d.Workspaces.(*workspace.Workspaces); ok {
		d.logError("cannot clean up after removed workspaces", w.Sweep(ctx, d.Now(), d.hasWork))
	}
	d.logError("cannot remove the logs of forgotten pipelines", d.sweepLogs())
	d.logError("cannot write lines to logs", d.logs.retry())
	d.logError("cannot remove old pipelines", d.tidyFinished(ctx))
}

// hasWork reports whether an owner runs, or has effects to be carried out.
func (d *daemon) hasWork(owner string) bool {
	o := d.core.owner(owner)
	return o != nil && (!o.Terminal() || len(o.Effects) > 0)
}

// save saves a snapshot, one at a time.
func (d *daemon) save(ctx context.Context) error {
	d.house.Lock()
	defer d.house.Unlock()
	return d.core.snapshot(ctx)
}

// retention is how long what has ended is kept.
func (d *daemon) retention() config.Retention { return d.config.now().Retention }

// logError keeps a failure that the next round may put right.
func (d *daemon) logError(what string, err error) {
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err != nil {
		d.Log.Error(what, "error", err)
	}
	d.core.trouble.set(what, err)
}
