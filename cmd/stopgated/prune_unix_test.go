//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// P.6: a daemon that is killed while it prunes leaves a sound store, everything of what has not
// ended, and nothing that the next one does not remove.
func TestKilledWhilePruning(t *testing.T) {
	const rounds, pipelines = 15, 12
	p := newPlace(t)
	p.runbook(t)
	p.quick(t)
	random := seedtest.New(t)
	d := p.ready(t)
	d.begin(t, p) // it runs until the end of the test
	p.foreign(t)
	for round := range rounds {
		for n := range pipelines {
			_, err := d.Client.Start(t.Context(), daemonapi.Start{ID: fmt.Sprintf("%08x%08x", round+1, n), Project: p.root, Cwd: p.root, Command: "quick"})
			check(t, err)
		}
		d.await(t, 1)
		d.pruneAndKill(t, random)
		p.sound(t)
		d = p.ready(t)
		d.lives(t, p)
	}

	d.pruneAll(t)
	d.lives(t, p)
	if left := p.files(t, "errands"); len(left) != 2 || left[0] != anID+"-1" {
		t.Errorf("errands: %q", left)
	}
	_, err := d.Client.Cancel(t.Context(), anID, daemonapi.Cancel{})
	check(t, err)
	d.await(t, 0)
	d.end(t, syscall.SIGTERM)
	p.sound(t)
}

// quick gives the project a command that ends at once.
func (p place) quick(t *testing.T) {
	t.Helper()
	path := filepath.Join(p.root, ".gauntlet", "runbooks", "quick.toml")
	check(t, os.WriteFile(path, []byte("[command.quick]\nrun = \"echo quick\"\n"), 0o600))
}

// foreign puts something of another's where the daemon's files are.
func (p place) foreign(t *testing.T) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(p.state, "errands", "notes"), nil, 0o600))
	check(t, os.WriteFile(filepath.Join(p.state, "logs", "pipelines", "notes.log"), nil, 0o600))
}

// await waits until no more than so many pipelines run.
func (d *daemonProcess) await(t *testing.T, running int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		status, err := d.Status(ctx)
		check(t, err)
		if status.Pipelines.Running == running {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// now is later than the end of anything.
func now() *time.Time {
	at := time.Now().Add(time.Hour)
	return &at
}

// pruneAndKill kills the daemon some time after it was told to prune.
func (d *daemonProcess) pruneAndKill(t *testing.T, random *rand.Rand) {
	t.Helper()
	pruned := make(chan error, 1)
	go func() {
		_, err := d.Prune(context.WithoutCancel(t.Context()), daemonapi.Prune{Before: now()})
		pruned <- err
	}()
	select {
	case err := <-pruned: // it was faster
		check(t, err)
	case <-time.After(time.Duration(random.Int64N(int64(60 * time.Millisecond)))):
	}
	d.end(t, syscall.SIGKILL)
}

// pruneAll removes everything that has ended, with all its files.
func (d *daemonProcess) pruneAll(t *testing.T) {
	t.Helper()
	done, err := d.Prune(t.Context(), daemonapi.Prune{Before: now()})
	if check(t, err); len(done.Trouble) > 0 || done.Kept > 0 {
		t.Errorf("%+v", done)
	}
}

// lives checks that what has not ended is all there.
func (d *daemonProcess) lives(t *testing.T, p place) {
	t.Helper()
	o, err := d.Owner(t.Context(), anID)
	if err != nil || o.Status != "running" || !alive(t, p) {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, file := range []string{"errands/" + anID + "-1/spec.json", "logs/pipelines/" + anID + ".log", "errands/notes", "logs/pipelines/notes.log"} {
		if _, err := os.Stat(filepath.Join(p.state, file)); err != nil {
			t.Error(err)
		}
	}
}

func (p place) files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.state, dir))
	check(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(names)
	return names
}

// sound checks the store.
func (p place) sound(t *testing.T) {
	t.Helper()
	report, err := sqlite.Verify(t.Context(), filepath.Join(p.state, "stopgate.db"))
	if err != nil || !report.Sound() {
		t.Fatalf("%+v, %v", report.Findings, err)
	}
}
