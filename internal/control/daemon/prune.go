package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// finished is an owner that has ended, and nothing is to be done for any more.
type finished struct {
	*engine.Owner
	effect.Usage
	why    string          // it goes by its age or by its size
	family []*engine.Owner // the pipelines that its steps ran, and theirs: they go with it
}

// finished are those that have ended, the oldest first. Those that are held are not among them.
func (d *daemon) finished() ([]finished, error) {
	var all []finished
	agents, busy := map[string]string{}, d.core.busy()
	families := d.families()
	for _, o := range d.core.owners() {
		for _, visit := range o.History {
			agents[visit.AgentID] = o.ID
		}
		if o.Parent != nil && d.core.known(o.Parent.ID) != nil {
			continue
		}
		f := finished{Owner: o, family: families.of(o.ID)}
		if d.over(o) && !busy[o.ID] && !slices.ContainsFunc(f.family, func(o *engine.Owner) bool { return !d.over(o) }) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b finished) int { return a.Updated.Compare(b.Updated) })
	delete(agents, "")

	used, err := d.errands().Usage(agents)
	for i := range all {
		for _, o := range append(slices.Clone(all[i].family), all[i].Owner) {
			all[i].Files += used[o.ID].Files
			all[i].Bytes += used[o.ID].Bytes
			if info, gone := os.Lstat(logPath(d.StateDir, o.ID)); gone == nil {
				all[i].Files++
				all[i].Bytes += disk.Used(info)
			}
		}
	}
	return all, err
}

// over reports whether an owner has ended, and nothing is to be done for it.
func (d *daemon) over(o *engine.Owner) bool {
	return o.Terminal() && len(o.Effects) == 0 && d.core.heldFor(o.ID) == ""
}

// families are the children of owners, by the parent's id.
type families map[string][]*engine.Owner

func (d *daemon) families() families {
	all := families{}
	for _, o := range d.core.owners() {
		if o.Parent != nil {
			all[o.Parent.ID] = append(all[o.Parent.ID], o)
		}
	}
	return all
}

// of are the children of an owner, and theirs.
func (f families) of(id string) (all []*engine.Owner) {
	for _, child := range f[id] {
		all = append(append(all, child), f.of(child.ID)...)
	}
	return all
}

// chosen are those that go: what ended before a moment, and then the oldest until the rest takes
// no more than size.
func chosen(all []finished, before time.Time, size int64) (gone []finished, left effect.Usage) {
	for _, f := range all {
		left.Files += f.Files
		left.Bytes += f.Bytes
	}
	for _, f := range all {
		switch {
		case f.Updated.Before(before):
			f.why = "age"
		case left.Bytes > size:
			f.why = "size"
		default:
			continue
		}
		left.Files -= f.Files
		left.Bytes -= f.Bytes
		gone = append(gone, f)
	}
	return gone, left
}

// tidyFinished removes what has ended long ago, or takes too much room. An owner goes only if it
// was due at the last look as well: so a clock that is wrong for a while, as when some machines start,
// removes nothing, and what has just ended can be looked at.
func (d *daemon) tidyFinished(ctx context.Context) error {
	d.house.Lock()
	defer d.house.Unlock()

	all, err := d.finished()
	keep := d.retention()
	gone, _ := chosen(all, d.Now().Add(-keep.Keep), keep.KeepSize)

	aged := map[string]bool{}
	for _, f := range gone {
		aged[f.ID] = true
	}
	gone = slices.DeleteFunc(gone, func(f finished) bool { return !d.aged[f.ID] })
	d.aged = aged
	if len(gone) == 0 {
		return err
	}

	report := &daemonapi.Pruned{}
	removed := d.remove(ctx, gone, "the daemon", report)
	d.Log.Info("removed old pipelines", "owners", len(report.Owners))
	return errors.Join(err, removed, d.trim(ctx, "the daemon", report))
}

// prune removes what has ended, because a person wants it.
func (d *daemon) prune(ctx context.Context, p daemonapi.Prune) (daemonapi.Pruned, error) {
	d.house.Lock()
	defer d.house.Unlock()

	keep := d.retention()
	report := daemonapi.Pruned{Before: d.Now().Add(-keep.Keep).UTC(), KeepSize: keep.KeepSize, DryRun: p.DryRun, Owners: []daemonapi.PrunedOwner{}}
	if p.Before != nil {
		report.Before = *p.Before
	}

	all, failed := d.finished()
	gone, left := chosen(all, report.Before, report.KeepSize)
	report.Kept = len(all) - len(gone)
	report.KeptBytes = left.Bytes

	if p.DryRun {
		for _, f := range gone {
			addPruned(&report, f)
		}
		return report, failed
	}

	by := "stopgate prune, run by " + userName()
	failed = errors.Join(failed, d.remove(ctx, gone, by, &report), d.trim(ctx, by, &report))
	d.Log.Info("pruned", "owners", len(report.Owners), "files", report.Files, "bytes", report.Bytes, "events", report.Events)
	if failed != nil {
		report.Trouble = strings.Split(failed.Error(), "\n")
	}
	return report, nil
}

// addPruned tells of an owner that goes.
func addPruned(report *daemonapi.Pruned, f finished) {
	report.Files += f.Files
	report.Bytes += f.Bytes
	report.Owners = append(report.Owners, daemonapi.PrunedOwner{
		ID: f.ID, Kind: string(f.Kind), Name: f.Name, Project: f.Project, Status: status(f.Owner), Ended: f.Updated,
		Files: f.Files, Bytes: f.Bytes, Why: f.why,
	})
}

// remove removes owners. That each is gone is on record before its files go: who is killed between
// leaves files of an owner that is not known, and those go with the next look. One that has begun
// to work again since is refused by the engine, and stays.
func (d *daemon) remove(ctx context.Context, gone []finished, by string, report *daemonapi.Pruned) (failed error) {
	errs := make([]error, len(gone))
	var all errgroup.Group
	all.SetLimit(64) // those that are recorded together share a sync of the disk

	for i, f := range gone {
		all.Go(func() error {
			errs[i] = d.forgetOne(ctx, f.Owner, by)
			for _, child := range f.family { // those that stay go by themselves, as they have no parent then
				if errs[i] == nil {
					errs[i] = d.forgetOne(ctx, child, by)
				}
			}
			return nil // the others are to go as well
		})
	}

	_ = all.Wait() // none fails
	for i, f := range gone {
		if errs[i] == nil {
			addPruned(report, f)
		}
		failed = errors.Join(failed, errs[i])
	}
	return errors.Join(failed, d.errands().Sweep(d.Now(), d.core.known))
}

func (d *daemon) forgetOne(ctx context.Context, o *engine.Owner, by string) error {
	if _, err := d.core.do(ctx, o.ID, engine.Input{ID: "forget", What: engine.Forget{By: by}}); err != nil {
		return fmt.Errorf("owner %s: %w", o.ID, err)
	}
	d.core.trouble.set("log of "+o.ID, nil)
	return disk.Remove(logPath(d.StateDir, o.ID))
}

// pruneSubject has an event for each time that something was removed.
const pruneSubject = "daemon.prunes"

// trim has the store remove the events that are not needed any more. It does so below the older of
// two snapshots, and both are to be without the owners that were removed: an event that says so
// comes between them.
func (d *daemon) trim(ctx context.Context, by string, report *daemonapi.Pruned) error {
	if err := d.core.snapshot(ctx); err != nil {
		return err
	}
	if err := d.recordPrune(ctx, by, report); err != nil {
		return err
	}
	if err := d.core.snapshot(ctx); err != nil {
		return err
	}
	trimmed, err := d.store.Trim(ctx, by)
	report.Events = trimmed.Events
	return err
}

func (d *daemon) recordPrune(ctx context.Context, by string, report *daemonapi.Pruned) error {
	data, err := json.Marshal(struct {
		V      int       `json:"v"`
		Time   time.Time `json:"time"`
		By     string    `json:"by"`
		Owners int       `json:"owners"`
		Files  int       `json:"files"`
		Bytes  int64     `json:"bytes"`
	}{1, d.Now().UTC(), by, len(report.Owners), report.Files, report.Bytes})
	if err != nil {
		return err
	}
	head, err := d.store.Head(ctx, pruneSubject)
	if err != nil {
		return err
	}
	return d.core.mark(ctx, store.NewEvent{Subject: pruneSubject, ID: "prune-" + journal.NewID(), Expected: head.Position, Data: data})
}

// sweepLogs removes the logs that a daemon has left which was killed while it removed an owner. The
// log of a new owner is there before the owner is known.
func (d *daemon) sweepLogs() error {
	entries, err := disk.List(logDir(d.StateDir))
	for _, entry := range entries {
		id, log := strings.CutSuffix(entry.Name(), ".log")
		if !log || !daemonapi.IsOwnerID(id) || !entry.Type().IsRegular() || d.core.known(id) != nil {
			continue
		}
		if info, gone := entry.Info(); gone == nil && d.Now().Sub(info.ModTime()) > houseEvery {
			err = errors.Join(err, disk.Remove(filepath.Join(logDir(d.StateDir), entry.Name())))
		}
	}
	return err
}

// userName is who runs this daemon, and alone may ask it for something.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "user " + strconv.Itoa(os.Getuid())
}
