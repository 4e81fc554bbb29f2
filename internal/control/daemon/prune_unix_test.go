//go:build unix

package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

// attic is a housekeeper over a real database, with pipelines that ended a day after each other: the
// first 40 days ago. Each has an errand, an agent's directory and a log of about 100 KiB.
func attic(t *testing.T, pipelines int) *daemon {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "stopgate.db"))
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	d := housekeeper(t, s)
	now := noon.Add(40 * 24 * time.Hour)
	d.Now = func() time.Time { return now }
	for n := range pipelines {
		at := noon.Add(time.Duration(n) * 24 * time.Hour)
		d.endedAt(t, newID(n), at)
	}
	return d
}

// endedAt is a pipeline that has come to its end, with what it leaves.
func (d *daemon) endedAt(t *testing.T, id string, at time.Time) {
	t.Helper()
	in := create(id, shellPlan("one"))
	in.Time = at
	do(t, d.core, id, in)
	do(t, d.core, id, engine.Input{ID: "cancel", Time: at, What: engine.Cancel{}})
	for o := d.core.owner(id); len(o.Effects) > 0; o = d.core.owner(id) {
		key := o.Effects[0].Key
		do(t, d.core, id, engine.Input{ID: key + ":started", Time: at, What: engine.EffectStarted{Key: key}})
		do(t, d.core, id, engine.Input{ID: key + ":done", Time: at, What: engine.EffectDone{Key: key}})
	}
	d.leave(t, id)
}

// leave makes the files of an owner.
func (d *daemon) leave(t *testing.T, id string) {
	t.Helper()
	dir := filepath.Join(d.StateDir, "errands", id+"-1")
	check(t, os.MkdirAll(dir, 0o700))
	spec, err := json.Marshal(errand.Spec{Owner: id})
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "spec.json"), spec, 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
	check(t, os.MkdirAll(filepath.Join(d.StateDir, "agents", id+"-1"), 0o700))
	check(t, os.MkdirAll(logDir(d.StateDir), 0o700))
	check(t, os.WriteFile(logPath(d.StateDir, id), make([]byte, 100<<10), 0o600))
}

// left are the owners that have something on disk.
func (d *daemon) left(t *testing.T) (ids []string) {
	t.Helper()
	for _, pattern := range []string{"errands/*-1", "agents/*-1", "logs/pipelines/*.log"} {
		found, err := filepath.Glob(filepath.Join(d.StateDir, pattern))
		check(t, err)
		for _, path := range found {
			id := filepath.Base(path)
			id = id[:min(len(id), 16)]
			if daemonapi.IsOwnerID(id) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// P.6: what has ended goes by its age and by its size, with all its files, and nothing else does.
func TestPrune(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		before time.Duration // days before now; 0 is for what the configuration says
		gone   int           // the oldest, of ten that ended 40 to 31 days ago
	}{
		"by the default":          {"", 0, 10},
		"nothing is that old":     {"retention: {keep: 1000h}", 0, 0},
		"by age":                  {"retention: {keep: 852h}", 0, 5}, // 35.5 days
		"by an age that is asked": {"retention: {keep: 10000h}", 37, 3},
		"by size":                 {"retention: {keep: 10000h, keep_size: 450KiB}", 0, 6}, // each takes 112 KiB
		"by both":                 {"retention: {keep: 10000h, keep_size: 450KiB}", 32, 8},
		"with the file's faults":  {"retention: {keep: never}", 0, 10}, // the default holds
	} {
		t.Run(name, func(t *testing.T) {
			d := attic(t, 10)
			check(t, os.WriteFile(d.Config, []byte(test.config), 0o600))
			do(t, d.core, anID, create(anID, shellPlan("one"))) // it runs, since long ago
			d.leave(t, anID)
			foreign := d.foreign(t)

			wish := daemonapi.Prune{DryRun: true}
			if test.before > 0 {
				before := d.Now().Add(-test.before * 24 * time.Hour).Add(-time.Hour)
				wish.Before = &before
			}
			plan, err := d.prune(t.Context(), wish)
			check(t, err)
			if left := d.left(t); len(plan.Owners) != test.gone || len(left) != 11 || len(d.core.owners()) != 11 {
				t.Fatalf("%d of %d would go, and %d are left", len(plan.Owners), test.gone, len(left))
			}

			wish.DryRun = false
			done, err := d.prune(t.Context(), wish)
			check(t, err)
			if len(done.Owners) != test.gone || len(done.Trouble) > 0 || done.Files != plan.Files || done.Bytes != plan.Bytes || done.Kept != 10-test.gone {
				t.Errorf("%+v\nplanned: %+v", done, plan)
			}
			want := []string{}
			for n := test.gone; n < 10; n++ {
				want = append(want, newID(n))
			}
			want = append(want, anID)
			slices.Sort(want)
			if left := d.left(t); !slices.Equal(left, want) {
				t.Errorf("files of %v are left, not of %v", left, want)
			}
			for _, id := range want {
				if d.core.owner(id) == nil {
					t.Errorf("%s is gone", id)
				}
			}
			stay(t, foreign)
			same(t, d.core)
			d.checkTrimmed(t, test.gone)
		})
	}
}

// foreign makes files that no daemon has made, where its own are.
func (d *daemon) foreign(t *testing.T) (paths []string) {
	t.Helper()
	for _, name := range []string{"errands/notes.txt", "errands/backup/spec.json", "agents/README", "logs/pipelines/mine.log", "logs/pipelines/0123.log", "logs/own"} {
		path := filepath.Join(d.StateDir, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, []byte("mine"), 0o600))
		check(t, os.Chtimes(path, noon, noon))
		paths = append(paths, path)
	}
	for _, dir := range paths {
		check(t, os.Chtimes(filepath.Dir(dir), noon, noon))
	}
	return paths
}

// stay checks that files are there.
func stay(t *testing.T, paths []string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("it was not ours: %v", err)
		}
	}
}

// checkTrimmed checks that what was removed and trimmed is on record.
func (d *daemon) checkTrimmed(t *testing.T, gone int) {
	t.Helper()
	report, err := d.store.(*sqlite.Store).Verify(t.Context())
	check(t, err)
	if !report.Sound() || report.Trimmed == nil || !strings.HasPrefix(report.Trimmed.By, "stopgate prune, run by ") || report.Trimmed.Events < 10 || time.Since(report.Trimmed.Time) > time.Hour {
		t.Errorf("%+v, %+v", report, report.Trimmed)
	}
	if head, err := d.store.Head(t.Context(), pruneSubject); err != nil || head.Position == 0 {
		t.Errorf("%v, %v", head, err)
	}
	deleted := 0
	for n := range 10 { // the last that is known of each
		head, err := d.store.Head(t.Context(), "pipeline."+newID(n))
		check(t, err)
		for e, err := range d.store.Read(t.Context(), "pipeline."+newID(n), head.Position-1) {
			check(t, err)
			if strings.Contains(string(e.Data), `"type":"owner:deleted","by":"stopgate prune, run by `) {
				deleted++
			}
		}
	}
	if deleted != gone {
		t.Errorf("%d of %d are on record as deleted", deleted, gone)
	}
}

// The daemon does so itself, but not at the first look: a clock may be wrong for a while.
func TestDaemonPrunesByItself(t *testing.T) {
	d := attic(t, 10)
	check(t, os.WriteFile(d.Config, []byte("retention: {keep: 10000h, keep_size: 450KiB}"), 0o600))
	foreign := d.foreign(t)
	for look, want := range []int{10, 4, 4} {
		d.tidy(t.Context())
		if left := len(d.core.owners()); left != want {
			t.Errorf("look %d: %d are left, want %d", look, left, want)
		}
	}
	if trouble := d.core.trouble.list(); len(trouble) > 0 {
		t.Error(trouble)
	}
	stay(t, foreign)
	report, err := d.store.(*sqlite.Store).Verify(t.Context())
	if check(t, err); !report.Sound() || report.Trimmed == nil || report.Trimmed.By != "the daemon" {
		t.Errorf("%+v, %+v", report, report.Trimmed)
	}
}

// What works again since it was looked at stays, and so does what is held.
func TestPruneLeavesWhatHasNotEnded(t *testing.T) {
	d := attic(t, 3)
	all, err := d.finished()
	check(t, err)
	resumed := d.core.owner(newID(1))
	check(t, os.WriteFile(d.Config, nil, 0o600))
	d.core.hold("pipeline."+newID(2), "a test")
	do(t, d.core, newID(3), create(newID(3), shellPlan("one")))
	report := &daemonapi.Pruned{}
	all = append(all, finished{Owner: d.core.owner(newID(3))})
	if err := d.remove(t.Context(), all, "test", report); err == nil || !strings.Contains(err.Error(), "has not ended") || !strings.Contains(err.Error(), "held") {
		t.Error(err)
	}
	if len(report.Owners) != 2 || d.core.owner(newID(2)) == nil || d.core.owner(newID(3)) == nil || d.core.owner(resumed.ID) != nil {
		t.Errorf("%+v", report)
	}
	if done, err := d.prune(t.Context(), daemonapi.Prune{}); err != nil || len(done.Owners) != 0 {
		t.Errorf("what is held goes: %+v, %v", done, err)
	}
}

// A store that cannot be trimmed keeps nothing from being removed, and says so.
func TestPruneOfADamagedStore(t *testing.T) {
	w := newWard(t)
	w.damage(t, flip(anID, finalOf))
	r := begin(t, w.world, w.opts)
	w.endAll(0)
	w.until(t, "the second step", func() bool { return len(w.running) == 3 })
	w.endAll(0)
	for o, err := r.Owner(t.Context(), anotherID); o.Status != "done"; o, err = r.Owner(t.Context(), anotherID) {
		check(t, err)
	}
	now := time.Now().Add(time.Hour)
	done, err := r.Prune(t.Context(), daemonapi.Prune{Before: &now})
	if check(t, err); len(done.Owners) != 1 || len(done.Trouble) != 1 || !strings.Contains(done.Trouble[0], "nothing is trimmed") {
		t.Errorf("%+v", done)
	}
	r.isHeld(t, anID)
}
