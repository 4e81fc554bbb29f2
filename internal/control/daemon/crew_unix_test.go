//go:build unix

package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

const fixers = `
[queue.issues]
vars = ["number", "title"]
defaults = { title = "untitled" }
key = "number"
retry = { attempts = 2, backoff = "10m" }

[queue.plain]
vars = ["x"]

[worker.fixer]
queue = "issues"
run = { pipeline = "fix" }
limit = 2

[worker.plain]
queue = "plain"
run = { pipeline = "plain" }

[pipeline.fix]
[[pipeline.fix.step]]
name = "a"
run = 'fix "${var.number}" "${var.title}"'

[pipeline.plain]
[[pipeline.plain.step]]
name = "a"
run = 'plain "${var.x}"'
`

// add puts items with these numbers into the queue.
func (c *clerkAt) add(t *testing.T, root string, numbers ...int) {
	t.Helper()
	w := daemonapi.AddWork{Project: root, Queue: "issues"}
	for _, n := range numbers {
		w.Items = append(w.Items, daemonapi.NewItem{ID: newID(n + 1000), Vars: map[string]string{"number": fmt.Sprint(n)}})
	}
	_, err := c.AddWork(t.Context(), w)
	check(t, err)
}

func (c *clerkAt) hire(t *testing.T, root, name string, on bool) {
	t.Helper()
	_, err := c.SwitchWorker(t.Context(), daemonapi.WorkerSwitch{Project: root, Name: name, On: on})
	check(t, err)
}

// items are those of a project's queue, or of all, the oldest first, read in pages.
func (c *clerkAt) items(t *testing.T, root, queue string) (all []daemonapi.WorkItem) {
	t.Helper()
	for q := (&api.Query{Project: root, Queue: queue, Limit: 2}); ; {
		page, err := c.Work(t.Context(), q)
		check(t, err)
		all = append(all, page.Items...)
		if q.After = page.Next; q.After == (api.Place{}) {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// board are the numbers of the items with their states.
func (c *clerkAt) board(t *testing.T, root string) string {
	t.Helper()
	var all []string
	for _, i := range c.items(t, root, "") {
		all = append(all, i.Vars["number"]+i.Vars["x"]+" "+i.State)
	}
	return strings.Join(all, ", ")
}

// ends lets what runs for an item end.
func (c *clerkAt) ends(t *testing.T, number string, code int) {
	t.Helper()
	for _, i := range c.items(t, "", "") {
		if i.Vars["number"]+i.Vars["x"] != number || i.State != "running" {
			continue
		}
		o := done(t, c.core, i.Owner)
		do(t, c.core, i.Owner, engine.Input{ID: o.Shell.Key + ":exited", What: engine.ShellExited{Key: o.Shell.Key, Code: code}})
		done(t, c.core, i.Owner)
	}
	c.look(t.Context())
}

func TestWorkersWork(t *testing.T) {
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, fixers)
	c.add(t, root, 1, 2, 3, 2)
	c.passes(t, time.Minute)
	if got := c.board(t, root); got != "1 pending, 2 pending, 3 pending" {
		t.Fatal(got)
	}
	c.hire(t, root, "fixer", true)
	c.passes(t, time.Minute)
	if got := c.board(t, root); got != "1 running, 2 running, 3 pending" {
		t.Fatal(got)
	}
	one := c.items(t, root, "issues")[0]
	o, err := c.Owner(t.Context(), one.Owner)
	check(t, err)
	if o.By != "worker fixer" || o.Name != "fix" || o.Vars["title"] != "untitled" || o.Vars["number"] != "1" {
		t.Errorf("%+v", o)
	}
	c.ends(t, "1", 0)
	c.ends(t, "2", 1)
	if got := c.board(t, root); got != "1 done, 2 failed, 3 running" {
		t.Fatal(got)
	}
	c.passes(t, 9*time.Minute)
	if c.passes(t, time.Minute); c.board(t, root) != "1 done, 2 running, 3 running" {
		t.Fatal(c.board(t, root))
	}
	c.ends(t, "2", 1)
	c.add(t, root, 1) // it was taken already
	if c.passes(t, time.Hour); c.board(t, root) != "1 done, 2 dead, 3 running" {
		t.Fatal(c.board(t, root))
	}
	dead := c.items(t, root, "")[1]
	if dead.Failures != 2 || !strings.Contains(dead.Error, "exit status 1") {
		t.Errorf("%+v", dead)
	}
	if _, err := c.RetryWork(t.Context(), dead.ID); err != nil {
		t.Fatal(err)
	}
	_, err = c.DropWork(t.Context(), c.items(t, root, "")[2].ID)
	if f := refusal(t, err); f.Code != "conflict" || !strings.Contains(f.Hint, "pipeline cancel") {
		t.Errorf("%+v", f)
	}
	c.hire(t, root, "fixer", false)
	c.passes(t, time.Hour)
	if c.ends(t, "3", 0); c.board(t, root) != "1 done, 2 pending, 3 done" {
		t.Fatal(c.board(t, root))
	}
	_, err = c.DropWork(t.Context(), dead.ID)
	check(t, err)
	if got := c.board(t, root); got != "1 done, 3 done" {
		t.Fatal(got)
	}
}

// What is wrong with an item, a queue or a worker is said.
func TestWorkIsRefused(t *testing.T) {
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, fixers)
	for _, w := range []struct {
		queue string
		vars  map[string]string
		want  string
	}{
		{"isues", map[string]string{"number": "1"}, `there is no queue "isues"`},
		{"issues", map[string]string{"title": "1"}, `item 1: the item has no "number"`},
		{"issues", map[string]string{"number": "1", "numbr": "1"}, `item 1: the queue has no variable "numbr"`},
		{"issues", map[string]string{"number": ""}, `its key "number" is empty`},
	} {
		_, err := c.AddWork(t.Context(), daemonapi.AddWork{Project: root, Queue: w.queue, Items: []daemonapi.NewItem{{ID: anID, Vars: w.vars}}})
		if f := refusal(t, err); f.Code != "invalid" || !strings.Contains(f.Error, w.want) || f.Hint == "" {
			t.Errorf("%+v, want %s", f, w.want)
		}
	}
	_, err := c.SwitchWorker(t.Context(), daemonapi.WorkerSwitch{Project: root, Name: "fixr", On: true})
	if f := refusal(t, err); !strings.Contains(f.Error, `there is no worker "fixr"`) || !strings.Contains(f.Hint, "fixer") {
		t.Errorf("%+v", f)
	}
	if _, err := c.WorkItem(t.Context(), "abc"); refusal(t, err).Code != "not_found" {
		t.Error(err)
	}
}

// Whenever the daemon is killed and whatever becomes of its appends: each item leads to one pipeline for
// each attempt, and none is lost.
func TestItemsAreTakenOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 3))
	s, dir, root := &faulty{Store: newMemory(t)}, t.TempDir(), project(t, fixers)
	c := newClerkAt(t, s, dir, noon)
	c.hire(t, root, "fixer", true)
	const all = 30
	for n := range all {
		c.add(t, root, n)
	}
	for range 1500 {
		switch random.IntN(6) {
		case 0:
			s.set(nil, nil)
			c = newClerkAt(t, s, dir, c.now) // it is killed
		case 1:
			s.fails(random, 3)
		case 2, 3:
			s.set(nil, nil)
			running := slices.DeleteFunc(c.items(t, root, ""), func(i daemonapi.WorkItem) bool { return i.State != "running" })
			if len(running) > 2 {
				t.Fatalf("%d run at once", len(running))
			}
			for _, i := range running {
				if o := c.core.owner(i.Owner); o != nil && !o.Terminal() && random.IntN(2) == 0 {
					o = done(t, c.core, o.ID)
					do(t, c.core, o.ID, engine.Input{ID: o.Shell.Key + ":exited", What: engine.ShellExited{Key: o.Shell.Key, Code: random.IntN(2)}})
					done(t, c.core, o.ID)
				}
			}
		}
		c.passes(t, time.Duration(random.IntN(300))*time.Second)
	}
	s.set(nil, nil)
	items := c.items(t, root, "")
	if len(items) != all {
		t.Fatalf("%d items", len(items))
	}
	attempts := map[string]int{} // by number
	for _, o := range c.core.owners() {
		attempts[o.Vars["number"]]++
	}
	for _, i := range items {
		if i.State != "done" && i.State != "dead" || i.State == "dead" && attempts[i.Vars["number"]] != 2 || attempts[i.Vars["number"]] > 2 || attempts[i.Vars["number"]] < 1 {
			t.Errorf("%s is %s after %d attempts", i.Vars["number"], i.State, attempts[i.Vars["number"]])
		}
	}
}

// A source is asked again and again; each of its items is taken once, and an error of it is told and
// loses nothing.
func TestSourcesOfWork(t *testing.T) {
	const source = "\nsource = { command = \"cat items.json\", every = \"5m\" }\n"
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, strings.Replace(fixers, "key = \"number\"\n", "key = \"number\""+source, 1))
	list := func(text string) {
		t.Helper()
		check(t, os.WriteFile(filepath.Join(root, "items.json"), []byte(text), 0o644))
	}
	c.hire(t, root, "fixer", true)
	c.passes(t, time.Minute)
	workers, err := c.Workers(t.Context(), root)
	check(t, err)
	if w := workers[0]; w.Source == nil || !strings.Contains(w.Source.Error, "cat items.json: exit 1") || w.Source.Every != 300 {
		t.Errorf("%+v", w.Source)
	}
	if trouble := strings.Join(c.core.trouble.list(), "\n"); !strings.Contains(trouble, "source of queue issues") {
		t.Error(trouble)
	}
	list(`[{"number": 7, "title": "a", "url": "x"}, {"title": "no number"}, {"number": 8}]`)
	c.passes(t, time.Minute)
	if got := c.board(t, root); got != "" {
		t.Error("asked too early: " + got)
	}
	c.passes(t, 4*time.Minute)
	if got := c.board(t, root); got != "7 running, 8 running" {
		t.Error(got)
	}
	if trouble := strings.Join(c.core.trouble.list(), "\n"); !strings.Contains(trouble, `item 2: the item has no "number"`) {
		t.Error(trouble)
	}
	c.ends(t, "7", 0)
	list("{\"number\": 7}\n{\"number\": 9}\n")
	c.passes(t, 5*time.Minute)
	if got := c.board(t, root); got != "7 done, 8 running, 9 running" || len(c.core.trouble.list()) != 0 {
		t.Error(got, c.core.trouble.list())
	}
	list("oops")
	if c.passes(t, 5*time.Minute); c.board(t, root) != "7 done, 8 running, 9 running" || !strings.Contains(strings.Join(c.core.trouble.list(), "\n"), "not a JSON array") {
		t.Error(c.board(t, root), c.core.trouble.list())
	}
}

// What was done long ago goes, unless its key may come again.
func TestItemsThatWereDoneLongAgo(t *testing.T) {
	const source = "\nsource = { command = \"cat items.json\", every = \"5m\" }\n"
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, strings.Replace(fixers, "key = \"number\"\n", "key = \"number\""+source, 1))
	c.kept = func() time.Duration { return 24 * time.Hour }
	check(t, os.WriteFile(filepath.Join(root, "items.json"), []byte(`[{"number": 7}, {"number": 8}]`), 0o644))
	c.hire(t, root, "fixer", true)
	c.hire(t, root, "plain", true)
	_, err := c.AddWork(t.Context(), daemonapi.AddWork{Project: root, Queue: "plain", Items: []daemonapi.NewItem{{ID: anID, Vars: map[string]string{"x": "x"}}}})
	check(t, err)
	c.passes(t, time.Minute)
	for _, number := range []string{"7", "8", "x"} {
		c.ends(t, number, 0)
	}
	check(t, os.WriteFile(filepath.Join(root, "items.json"), []byte(`[{"number": 8}]`), 0o644))
	if c.passes(t, 23*time.Hour); c.board(t, root) != "x done, 7 done, 8 done" {
		t.Error(c.board(t, root))
	}
	if c.passes(t, 2*time.Hour); c.board(t, root) != "8 done" {
		t.Error(c.board(t, root))
	}
}

// An item whose pipeline was cancelled is dead until a person wants it again. One that cannot be started
// fails.
func TestItemsThatEndOtherwise(t *testing.T) {
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, fixers)
	c.add(t, root, 1)
	c.hire(t, root, "fixer", true)
	c.passes(t, time.Minute)
	i := c.items(t, root, "")[0]
	_, err := c.Cancel(t.Context(), i.Owner, daemonapi.Cancel{})
	check(t, err)
	c.passes(t, time.Minute)
	if i := c.items(t, root, "")[0]; i.State != "dead" || i.Error != "cancelled: requested by the user" {
		t.Errorf("%+v", i)
	}
	check(t, os.Remove(filepath.Join(root, ".gauntlet", "runbooks", "book.toml")))
	_, err = c.RetryWork(t.Context(), i.ID)
	check(t, err)
	c.passes(t, time.Minute)
	if trouble := strings.Join(c.core.trouble.list(), "\n"); c.board(t, root) != "1 pending" || !strings.Contains(trouble, `worker "fixer" was started, but is not in the runbooks`) {
		t.Error(c.board(t, root), trouble)
	}
}

// What an item waits for is not pruned, and a snapshot has all items.
func TestItemsAreKept(t *testing.T) {
	s, dir, root := newMemory(t), t.TempDir(), project(t, fixers)
	c := newClerkAt(t, s, dir, noon)
	c.add(t, root, 1, 2, 3)
	c.hire(t, root, "fixer", true)
	c.passes(t, time.Minute)
	check(t, c.core.snapshot(t.Context()))
	c = newClerkAt(t, s, dir, c.now)
	if got := c.board(t, root); got != "1 running, 2 running, 3 pending" {
		t.Error(got)
	}
	var owners []string
	c.core.browse(func(s intake.State) {
		for _, i := range s.Project(root).Running() {
			owners = append(owners, i.Owner)
		}
	})
	for _, owner := range owners { // both end, and the clerk has not seen it yet
		o := done(t, c.core, owner)
		do(t, c.core, owner, engine.Input{ID: "exited", What: engine.ShellExited{Key: o.Shell.Key}})
		done(t, c.core, owner)
	}
	d := &daemon{Options: c.opts, core: c.core}
	all, err := d.finished()
	if check(t, err); len(all) != 0 {
		t.Errorf("%d could be removed", len(all))
	}
	c.passes(t, time.Minute)
	all, err = d.finished()
	if check(t, err); len(all) != 2 {
		t.Errorf("%d can be removed", len(all))
	}
}

// The daemon itself lets workers work, also after a restart.
func TestADaemonLetsWorkersWork(t *testing.T) {
	w, s := newWorld(), newMemory(t)
	o := options(t, w, s)
	r, root := begin(t, w, o), project(t, fixers)
	_, err := r.SwitchWorker(t.Context(), daemonapi.WorkerSwitch{Project: root, Name: "plain", On: true})
	check(t, err)
	for _, x := range []string{"a", "b"} {
		_, err := r.AddWork(t.Context(), daemonapi.AddWork{Project: root, Queue: "plain", Items: []daemonapi.NewItem{{Vars: map[string]string{"x": x}}}})
		check(t, err)
	}
	w.runs(t, `plain "a"`)
	r.stop(t)
	w.endAll(0)
	r = begin(t, w, o)
	w.runs(t, `plain "b"`)
	w.endAll(0)
	items, err := r.Work(t.Context(), root, "plain")
	check(t, err)
	r.reach(t, items[1].Owner, "its end", func(o daemonapi.Owner) bool { return o.Status == "done" })
	if len(w.started) != 2 {
		t.Errorf("%q", w.started)
	}
}

// The clerk sleeps while a source takes longer than it has between two times.
func TestASlowSourceDoesNotKeepTheClerkAwake(t *testing.T) {
	const source = "\nsource = { command = \"echo '[]'\", every = \"5m\" }\n"
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, strings.Replace(fixers, "key = \"number\"\n", "key = \"number\""+source, 1))
	var slow []func()
	c.sources.spawn = func(run func()) { slow = append(slow, run) }
	c.hire(t, root, "fixer", true)
	c.passes(t, time.Minute)
	c.now = c.now.Add(10 * time.Minute)
	if sleep := c.look(t.Context()); sleep != clerkPause || len(slow) != 1 {
		t.Errorf("it sleeps for %s, and has asked %d times", sleep, len(slow))
	}
	slow[0]()
	c.look(t.Context())
	if len(slow) != 2 {
		t.Errorf("asked %d times", len(slow))
	}
	slow[1]()
}

// An item whose pipeline was given up is dead until a person wants it again: under that pipeline's id
// nothing can be started.
func TestAnItemWhosePipelineIsGivenUp(t *testing.T) {
	w := newWorld()
	o := options(t, w, nil)
	o.OpenStore = func(ctx context.Context, path string) (store.Store, error) { return sqlite.Open(ctx, path) }
	d := &ward{world: w, opts: o, root: project(t, fixers)}
	r := begin(t, w, o)
	_, err := r.SwitchWorker(t.Context(), daemonapi.WorkerSwitch{Project: d.root, Name: "plain", On: true})
	check(t, err)
	_, err = r.AddWork(t.Context(), daemonapi.AddWork{Project: d.root, Queue: "plain", Items: []daemonapi.NewItem{{Vars: map[string]string{"x": "a"}}}})
	check(t, err)
	w.runs(t, `plain "a"`)
	items, err := r.Work(t.Context(), d.root, "plain")
	check(t, err)
	r.stop(t)
	d.damage(t, "DELETE FROM snapshots")
	d.damage(t, flip(items[0].Owner, firstOf))

	r = begin(t, w, o)
	r.await(t, items[0].Owner, "held")
	_, err = r.Cancel(t.Context(), items[0].Owner, daemonapi.Cancel{GiveUp: true})
	check(t, err)
	item, err := r.WorkItem(t.Context(), items[0].ID)
	check(t, err)
	if item.State != "dead" || !strings.Contains(item.Error, "given up") {
		t.Errorf("%+v", item)
	}
	_, err = r.RetryWork(t.Context(), item.ID)
	check(t, err)
	w.until(t, "another pipeline", func() bool { return len(w.started) == 2 })
	r.stop(t) // which saves a snapshot
	r = begin(t, w, o)
	status, err := r.Status(t.Context())
	check(t, err)
	for _, trouble := range status.Trouble {
		if !strings.HasPrefix(trouble, "check of the store: ") { // which finds, sooner or later, what this test did to it
			t.Error(trouble)
		}
	}
}

// An item that its queue tries again is not worked on twice at once.
func TestAPipelineWhoseItemIsTriedAgainIsNotResumed(t *testing.T) {
	root := project(t, "[queue.jobs]\nvars = [\"number\"]\nretry = { attempts = 2, backoff = \"1h\" }\n[worker.w]\nqueue = \"jobs\"\nrun = { pipeline = \"p\" }\n[[pipeline.p.step]]\nname = \"a\"\nrun = \"true\"\n")
	c := newClerkAt(t, newMemory(t), t.TempDir(), noon)
	_, err := c.AddWork(t.Context(), daemonapi.AddWork{Project: root, Queue: "jobs", Items: []daemonapi.NewItem{{ID: newID(1), Vars: map[string]string{"number": "1"}}}})
	check(t, err)
	c.hire(t, root, "w", true)
	c.look(t.Context())
	c.ends(t, "1", 1)
	owner := c.items(t, root, "")[0].Owner
	_, err = c.Resume(t.Context(), owner, daemonapi.Resume{ID: newID(2)})
	if f := refusal(t, err); f.Code != "conflict" || !strings.Contains(f.Hint, "stopgate work retry") {
		t.Errorf("%+v", f)
	}
	c.passes(t, 2*time.Hour)
	c.ends(t, "1", 1)
	if got := c.board(t, root); got != "1 dead" {
		t.Fatal(got)
	}
	if _, err = c.Resume(t.Context(), c.items(t, root, "")[0].Owner, daemonapi.Resume{ID: newID(3)}); err != nil {
		t.Errorf("nothing else works on it: %v", err)
	}
}
