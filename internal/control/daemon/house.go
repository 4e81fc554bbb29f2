package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
)

const (
	// houseEvery is how often the daemon looks for what is old.
	houseEvery = time.Hour
	// forgetAfter is how long an owner is remembered after its end.
	forgetAfter = 30 * 24 * time.Hour
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
	tick := time.NewTicker(houseEvery)
	defer tick.Stop()
	d.tidy(ctx)
	full := d.full
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.tidy(ctx)
		case <-again:
			full, again = d.full, nil
		case <-full:
			err := d.core.snapshot(ctx)
			d.logError("no snapshot was saved", err)
			if err != nil { // each event asks for it
				full, again = nil, time.After(snapshotPause)
			}
		}
	}
}

func (d *daemon) tidy(ctx context.Context) {
	if heads, ok := d.store.(headKeeper); ok {
		d.logError("the heads of the store were not recorded", heads.RecordHeads(ctx))
	}
	d.logError("files of commands that have ended were not removed", d.errands().Sweep(d.Now(), d.core.owner))
	d.logError("logs of nobody were not removed", d.sweepLogs())
	d.logError("lines of logs were not written", d.logs.retry())
	d.logError("what is old was not forgotten", d.forget(ctx))
}

// sweepLogs removes what a daemon has left that was killed while it forgot an owner. The
// log of a new owner is there before the owner is known.
func (d *daemon) sweepLogs() error {
	entries, err := os.ReadDir(logDir(d.StateDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		id, log := strings.CutSuffix(entry.Name(), ".log")
		info, gone := entry.Info()
		if log && gone == nil && d.core.owner(id) == nil && d.Now().Sub(info.ModTime()) > houseEvery {
			err = errors.Join(err, os.Remove(logPath(d.StateDir, id)))
		}
	}
	return err
}

// forget ends the record of owners that came to their end long ago. Their events go with
// the next trim, which the store does below a snapshot that it has read back.
func (d *daemon) forget(ctx context.Context) (err error) {
	forgotten := 0
	for _, o := range d.old() {
		if refused := d.forgetOne(ctx, o); refused != nil {
			err = errors.Join(err, refused)
			continue
		}
		forgotten++
	}
	if forgotten == 0 {
		return err
	}
	d.Log.Info("forgot what ended long ago", "owners", forgotten)
	if saved := d.core.snapshot(ctx); saved != nil {
		return errors.Join(err, saved)
	}
	return errors.Join(err, d.store.Trim(ctx))
}

// old are the owners that are, and were so at the last look as well: a clock that is wrong
// for a while, as it is when some machines start, makes nobody old.
func (d *daemon) old() (owners []*engine.Owner) {
	aged := map[string]bool{}
	for _, o := range d.core.owners() {
		if !o.Terminal() || len(o.Effects) > 0 || d.Now().Sub(o.Updated) <= forgetAfter {
			continue
		}
		aged[o.ID] = true
		if d.aged[o.ID] {
			owners = append(owners, o)
		}
	}
	d.aged = aged
	return owners
}

func (d *daemon) forgetOne(ctx context.Context, o *engine.Owner) error {
	if _, err := d.core.do(ctx, o.ID, engine.Input{ID: "forget", What: engine.Forget{}}); err != nil {
		return fmt.Errorf("owner %s: %w", o.ID, err)
	}
	d.core.trouble.set("log of "+o.ID, nil)
	err := os.Remove(logPath(d.StateDir, o.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

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
