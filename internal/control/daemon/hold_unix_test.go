//go:build unix

package daemon

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

// ward is a daemon over a real database, with two pipelines that are at their first step.
type ward struct {
	*world
	opts Options
	root string
}

func newWard(t *testing.T) *ward {
	t.Helper()
	w := &ward{world: newWorld(), root: project(t, twoSteps)}
	w.opts = options(t, w.world, nil)
	w.opts.OpenStore = func(ctx context.Context, path string) (store.Store, error) { return sqlite.Open(ctx, path) }
	r := begin(t, w.world, w.opts)
	for _, id := range []string{anID, anotherID} {
		r.start(t, id, w.root)
	}
	w.until(t, "both", func() bool { return len(w.running) == 2 })
	r.stop(t)
	w.damage(t, "DELETE FROM snapshots") // nothing was trimmed: the events are all there is
	return w
}

// damage changes the database behind the daemon's back.
func (w *ward) damage(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", w.opts.database())
	check(t, err)
	defer db.Close()
	for _, statement := range statements {
		done, err := db.Exec(statement)
		check(t, err)
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			t.Fatalf("%s: %d rows, %v", statement, n, err)
		}
	}
}

// flip flips a bit in one event of a pipeline: which is said by its place in their order.
func flip(id, which string) string {
	return `UPDATE events SET data = CAST(replace(CAST(data AS TEXT), '"owner"', '"owneR"') AS BLOB) WHERE ` + eventOf(id, which)
}

func eventOf(id, which string) string {
	return "position = (SELECT position FROM events WHERE subject = 'pipeline." + id + "' ORDER BY position " + which + ")"
}

const (
	firstOf  = "ASC LIMIT 1"
	secondOf = "ASC LIMIT 1 OFFSET 1"
	finalOf  = "DESC LIMIT 1"
)

// isHeld checks that one pipeline is held, and that people can see it.
func (r *running) isHeld(t *testing.T, id string) {
	t.Helper()
	o, err := r.Owner(t.Context(), id)
	if err != nil || o.Status != "held" || o.Held == "" {
		t.Fatalf("%+v, %v", o, err)
	}
	all, err := r.Pipelines(t.Context(), daemonapi.Filter{Status: "held"})
	if err != nil || len(all) != 1 || all[0].ID != id {
		t.Errorf("%+v, %v", all, err)
	}
	status, err := r.Status(t.Context())
	if err != nil || status.Pipelines.Held != 1 || !strings.Contains(strings.Join(status.Trouble, "\n"), id) {
		t.Errorf("%+v, %v", status, err)
	}
	if _, err := r.Cancel(t.Context(), id, daemonapi.Cancel{}); daemonapi.Code(err) != "conflict" || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("it is cancelled: %v", err)
	}
}

// notices are how often people were told of something.
func (w *world) notices(title string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, note := range w.notes {
		if strings.Contains(note, title) {
			n++
		}
	}
	return n
}

// P.7: an owner whose chain is damaged is held and told; the others go on.
func TestDamagedOwnerIsHeld(t *testing.T) {
	for name, damage := range map[string]string{
		"its first event":     flip(anID, firstOf),
		"one in the middle":   flip(anID, secondOf),
		"its last event":      flip(anID, finalOf),
		"its last is missing": "DELETE FROM events WHERE " + eventOf(anID, finalOf),
		"one is missing":      "DELETE FROM events WHERE " + eventOf(anID, secondOf),
		"another's name":      "UPDATE events SET subject = 'pipeline.0000000000000000' WHERE " + eventOf(anID, finalOf),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard(t)
			w.damage(t, damage)

			r := begin(t, w.world, w.opts)
			r.isHeld(t, anID)
			w.until(t, "a message", func() bool {
				return slices.ContainsFunc(w.notes, func(n string) bool { return strings.Contains(n, anID) })
			})
			w.endAll(0)
			w.until(t, "the other's second step", func() bool { return len(w.running) == 3 })
			r.start(t, newID(7), w.root)
			w.until(t, "a new one", func() bool { return len(w.running) == 4 })
			r.stop(t)

			// A snapshot has been saved behind the damage since.
			r = begin(t, w.world, w.opts)
			r.isHeld(t, anID)
			w.endAll(0)
			w.until(t, "the new one's second step", func() bool { return len(w.running) == 5 })
			r.stop(t)
			if n := w.notices(anID); n != 1 {
				t.Errorf("people were told %d times", n)
			}
			if report, err := sqlite.Verify(t.Context(), w.opts.database()); err != nil || report.Sound() {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

// P.7: also where a snapshot makes up for the events that are damaged. What has ended stays as it was.
func TestDamageBehindASnapshot(t *testing.T) {
	w := newWard(t)
	r := begin(t, w.world, w.opts)
	r.start(t, newID(7), w.root)
	w.until(t, "the third", func() bool { return len(w.running) == 3 })
	_, err := r.Cancel(t.Context(), newID(7), daemonapi.Cancel{})
	check(t, err)
	r.await(t, newID(7), "cancelled")
	r.stop(t) // which saves a snapshot
	w.damage(t, flip(anID, secondOf), flip(newID(7), secondOf))

	r = begin(t, w.world, w.opts)
	r.await(t, anID, "held")
	r.isHeld(t, anID)
	r.await(t, newID(7), "cancelled")
	w.endAll(0)
	w.until(t, "the other's second step", func() bool { return len(w.running) == 4 })
	r.stop(t)
	if n := w.notices("is held"); n != 1 {
		t.Errorf("people were told %d times", n)
	}
}

// await waits until a pipeline is so far.
func (r *running) await(t *testing.T, id, status string) {
	t.Helper()
	for late := time.Now().Add(watchdog); ; time.Sleep(time.Millisecond) {
		o, err := r.Owner(t.Context(), id)
		check(t, err)
		if o.Status == status {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("it is %s", o.Status)
		}
	}
}

// P.7: damage that shows while the daemon runs holds the owner then.
func TestOwnerIsHeldWhileTheDaemonRuns(t *testing.T) {
	w := newWard(t)
	r := begin(t, w.world, w.opts)
	w.damage(t, flip(anID, finalOf))
	if _, err := r.Cancel(t.Context(), anID, daemonapi.Cancel{}); daemonapi.Code(err) != "conflict" {
		t.Errorf("%v", err)
	}
	r.isHeld(t, anID)
	w.endAll(0)
	w.until(t, "the other's second step", func() bool { return len(w.running) == 3 })
}

// P.7: where the heads or the newest snapshot are damaged the daemon does not start, unless it is
// told to.
func TestDamageThatKeepsTheDaemonFromStarting(t *testing.T) {
	for name, test := range map[string]struct {
		damage string
		held   bool
	}{
		"a head is missing":   {"DELETE FROM heads WHERE subject = 'pipeline." + anID + "'", true},
		"a head is older":     {"UPDATE heads SET position = 1 WHERE subject = 'pipeline." + anID + "'", true},
		"a head has no hash":  {"UPDATE heads SET hash = x'00' WHERE subject = 'pipeline." + anID + "'", true},
		"the newest snapshot": {"UPDATE snapshots SET data = CAST(replace(CAST(data AS TEXT), 'echo', 'ecHo') AS BLOB)", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard(t)
			begin(t, w.world, w.opts).stop(t) // which saves a snapshot
			if test.held {
				w.damage(t, "DELETE FROM snapshots")
			}
			w.damage(t, test.damage)
			o := w.opts
			o.Ready = func(error) {}
			err := Run(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), "stopgate daemon start --despite-damage") {
				t.Fatalf("%v", err)
			}

			o.DespiteDamage = true
			o.OpenStore = func(ctx context.Context, path string) (store.Store, error) {
				return sqlite.OpenDespiteDamage(ctx, path)
			}
			r := begin(t, w.world, o)
			if test.held {
				r.isHeld(t, anID)
			} else if status, err := r.Status(t.Context()); err != nil || len(status.Trouble) == 0 || status.Pipelines.Running != 2 {
				t.Errorf("%+v, %v", status, err)
			}
			w.endAll(0)
			w.until(t, "the other's second step", func() bool { return len(w.running) >= 3 })
			r.stop(t)
			if name != "a head has no hash" { // that stays to be seen
				begin(t, w.world, w.opts).stop(t)
			}
		})
	}
}

// What is held and not known is never taken for what is not needed.
func TestFilesOfWhatIsHeldStay(t *testing.T) {
	w := newWard(t)
	w.damage(t, flip(anID, firstOf))
	r := begin(t, w.world, w.opts)
	r.isHeld(t, anID)
	if log, err := filepath.Glob(logPath(w.opts.StateDir, anID)); err != nil || len(log) != 1 {
		t.Fatal(log, err)
	}
}

// A person can give up an owner that is held: what runs for it is ended, and it is not there any more, also
// after a restart and without the snapshot. What is not held is not given up.
func TestHeldOwnerIsGivenUp(t *testing.T) {
	for name, damage := range map[string]string{
		"its first event":     flip(anID, firstOf),
		"its last event":      flip(anID, finalOf),
		"its last is missing": "DELETE FROM events WHERE " + eventOf(anID, finalOf),
		"behind a snapshot":   flip(anID, secondOf),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard(t)
			known := name == "behind a snapshot"
			if known {
				begin(t, w.world, w.opts).stop(t) // which saves one
			}
			w.damage(t, damage)
			r := begin(t, w.world, w.opts)
			r.await(t, anID, "held")
			r.isHeld(t, anID)
			giveUp := daemonapi.Cancel{GiveUp: true}
			if _, err := r.Cancel(t.Context(), anotherID, giveUp); daemonapi.Code(err) != "conflict" {
				t.Errorf("what is not held: %v", err)
			}
			o, err := r.Cancel(t.Context(), anID, giveUp)
			if err != nil || o.ID != anID {
				t.Fatalf("%+v, %v", o, err)
			}
			ended := map[string]bool{}
			for _, key := range w.keys() {
				ended[key[:len(anID)]] = w.running[key].hasEnded()
			}
			if ended[anID] != known || ended[anotherID] { // of others, what is on disk is ended
				t.Errorf("ended: %v", ended)
			}

			isGone := func() {
				t.Helper()
				if o, err := r.Owner(t.Context(), anID); daemonapi.Code(err) != "not_found" {
					t.Errorf("it is still there: %+v, %v", o, err)
				}
				status, err := r.Status(t.Context())
				if err != nil || status.Pipelines.Held != 0 || strings.Contains(strings.Join(status.Trouble, "\n"), anID+": held") {
					t.Errorf("%+v, %v", status, err)
				}
			}
			isGone()
			r.stop(t)
			r = begin(t, w.world, w.opts)
			isGone()
			r.stop(t)
			w.damage(t, "DELETE FROM snapshots")
			r = begin(t, w.world, w.opts)
			isGone()
			w.endAll(0)
			w.until(t, "the other's second step", func() bool { return len(w.running) == 3 })
		})
	}
}

// A pipeline that is given up leaves nothing behind that runs for it, and makes room in its group.
func TestWhatIsGivenUpMakesRoom(t *testing.T) {
	w := newWorld()
	d := &ward{world: w, opts: options(t, w, nil), root: project(t, `
[command.build]
args = "<env>"
run = { pipeline = "deploy" }

[pipeline.deploy]
vars = ["env"]
concurrency = "deploy"

[[pipeline.deploy.step]]
name = "all"

[[pipeline.deploy.step.parallel]]
name = "one"
run = "one"
`)}
	d.opts.OpenStore = func(ctx context.Context, path string) (store.Store, error) { return sqlite.Open(ctx, path) }
	r := begin(t, w, d.opts)
	for _, id := range []string{anID, anotherID} {
		r.start(t, id, d.root)
	}
	w.runs(t, "one")
	o, err := r.Owner(t.Context(), anID)
	check(t, err)
	child := o.Children[0].ID
	r.await(t, anotherID, "queued")
	r.stop(t)                         // which saves a snapshot
	d.damage(t, flip(anID, secondOf)) // it is known from the snapshot, and keeps its room

	r = begin(t, w, d.opts)
	r.await(t, anID, "held")
	r.await(t, anotherID, "queued")
	_, err = r.Cancel(t.Context(), anID, daemonapi.Cancel{GiveUp: true})
	check(t, err)
	r.await(t, child, "cancelled")
	r.await(t, anotherID, "running")
}
