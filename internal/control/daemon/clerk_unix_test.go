//go:build unix

package daemon

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/record/journal"
)

const nightly = `
[command.nightly]
args = "<env>"
run = 'nightly "${var.env}"'
schedule = { cron = "0 3 * * *", timezone = "UTC", args = ["prod"] }

[pipeline.hourly]
schedule = { cron = "@hourly", timezone = "UTC", missed = "once" }
[[pipeline.hourly.step]]
name = "a"
run = "hourly"
`

// clerkAt is a clerk whose clock a test sets.
type clerkAt struct {
	*clerk
	now time.Time
}

func newClerkAt(t *testing.T, s store.Store, stateDir string, now time.Time) *clerkAt {
	t.Helper()
	c := &clerkAt{now: now}
	state, last, err := load(t.Context(), s)
	check(t, err)
	core := newCore(s, state, last, quiet(), func() time.Time { return c.now })
	p := &plane{queued: func(string) bool { return false }, core: core, opts: Options{StateDir: stateDir, Config: filepath.Join(stateDir, "config.yml"), Log: quiet()}}
	c.clerk = newClerk(p, make(chan struct{}, 1))
	p.clerk = c.clerk
	return c
}

// passes lets time pass, and the clerk look.
func (c *clerkAt) passes(t *testing.T, d time.Duration) {
	t.Helper()
	c.now = c.now.Add(d)
	c.look(t.Context())
}

// started are the names of what was started, the oldest first.
func (c *clerkAt) started() (names []string) {
	for _, o := range slices.Backward(c.core.owners()) {
		names = append(names, o.Name)
	}
	return names
}

func (c *clerkAt) on(t *testing.T, root string) {
	t.Helper()
	_, err := c.SwitchSchedules(t.Context(), daemonapi.ScheduleSwitch{Project: root, On: true})
	check(t, err)
	c.look(t.Context())
}

// What has a schedule starts at its time, once a person turned the project's schedules on.
func TestSchedulesStart(t *testing.T) {
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, nightly)
	c.passes(t, 24*time.Hour)
	if len(c.started()) != 0 {
		t.Fatal("started without being turned on")
	}
	c.on(t, root)
	c.passes(t, 59*time.Minute)
	if c.passes(t, time.Minute); strings.Join(c.started(), " ") != "hourly" {
		t.Fatal(c.started())
	}
	c.passes(t, time.Second)
	if c.passes(t, 14*time.Hour-time.Second); strings.Join(c.started(), " ") != "hourly hourly nightly" && strings.Join(c.started(), " ") != "hourly nightly hourly" {
		t.Fatal(c.started())
	}
	all, err := c.Schedules(t.Context(), root)
	check(t, err)
	first := all[0]
	if len(all) != 2 || first.Name != "nightly" || !first.On || first.Next == nil || !first.Next.Equal(noon.Add(63*time.Hour)) || first.Last == nil || first.Last.Status != "running" {
		t.Errorf("%+v %+v", all, first.Last)
	}
	o, err := c.Owner(t.Context(), first.Last.Owner)
	check(t, err)
	if o.By != "schedule" || o.Vars["env"] != "prod" || o.Cwd != root {
		t.Errorf("%+v", o)
	}
	if needs, err := daemonapi.Dependents(c.opts.StateDir); err != nil || !slices.Equal(needs, []string{root}) {
		t.Error(needs, err)
	}
	_, err = c.SwitchSchedules(t.Context(), daemonapi.ScheduleSwitch{Project: root})
	check(t, err)
	n := len(c.started())
	if c.passes(t, 48*time.Hour); len(c.started()) != n {
		t.Error("started although they are off")
	}
	if needs, err := daemonapi.Dependents(c.opts.StateDir); err != nil || len(needs) != 0 {
		t.Error(needs, err)
	}
}

// A daemon that was away leaves out what it missed, or starts it once, as the runbook says.
func TestSchedulesThatWereMissed(t *testing.T) {
	s, dir, root := newMemory(t), t.TempDir(), project(t, nightly)
	newClerkAt(t, s, dir, noon).on(t, root)
	c := newClerkAt(t, s, dir, noon.Add(72*time.Hour+30*time.Minute))
	c.passes(t, 0)
	if got := strings.Join(c.started(), " "); got != "hourly" {
		t.Fatal(got)
	}
	all, err := c.Schedules(t.Context(), root)
	check(t, err)
	if all[0].Last == nil || all[0].Last.Owner != "" || all[0].Last.Error != "missed: the daemon was not running" {
		t.Errorf("%+v", all[0].Last)
	}
}

// Each time is one start, whatever the clock does, whenever the daemon is killed, and whatever becomes
// of its appends.
func TestSchedulesStartOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 2))
	s, dir, root := &faulty{Store: newMemory(t)}, t.TempDir(), project(t, nightly)
	c := newClerkAt(t, s, dir, noon)
	c.on(t, root)
	s.fails(random, 6)
	for range 400 {
		if random.IntN(4) == 0 {
			c = newClerkAt(t, s, dir, c.now)
		}
		c.passes(t, time.Duration(random.IntN(40)-10)*time.Minute)
	}
	s.set(nil, nil)
	c = newClerkAt(t, s, dir, c.now)
	c.passes(t, time.Minute)
	seen := map[time.Time]bool{}
	for e, err := range s.ReadAll(t.Context(), 0) {
		check(t, err)
		if !intake.IsSubject(e.Subject) {
			continue
		}
		step, err := intake.Decode(e.Data)
		check(t, err)
		for _, f := range step.Facts {
			if f.Type == intake.ScheduleDue && strings.Contains(f.Name, "hourly") {
				if seen[f.Due] || f.Owner == "" || c.core.owner(f.Owner) == nil {
					t.Errorf("%+v", f)
				}
				seen[f.Due] = true
			}
		}
	}
	due := map[string]bool{}
	for at := noon; at.Before(c.now.Add(24 * time.Hour)); at = at.Add(time.Hour) {
		due[intake.OwnerOf(root, "book.toml pipeline hourly", at)] = true
	}
	for _, o := range c.core.owners() {
		if o.Name == "hourly" && !due[o.ID] {
			t.Errorf("%s belongs to no time", o.ID)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d were started", len(seen))
	}
}

// What cannot be started is told, and the next time is tried.
func TestSchedulesThatCannotStart(t *testing.T) {
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, nightly)
	c.on(t, root)
	book := filepath.Join(root, ".gauntlet", "runbooks", "book.toml")
	check(t, os.WriteFile(book, []byte(nightly+"[command.x]\n"), 0o644))
	c.passes(t, time.Hour)
	if trouble := strings.Join(c.core.trouble.list(), "\n"); len(c.started()) != 0 || !strings.Contains(trouble, "schedules and workers of") || !strings.Contains(trouble, "run") {
		t.Error(c.started(), trouble)
	}
	check(t, os.WriteFile(book, []byte(nightly), 0o644))
	c.passes(t, time.Hour)
	if len(c.started()) != 1 || len(c.core.trouble.list()) != 0 {
		t.Error(c.started(), c.core.trouble.list())
	}
}

// Only what a person approved is started by the clock.
func TestSchedulesNeedApproval(t *testing.T) {
	c, root := newClerkAt(t, newMemory(t), t.TempDir(), noon), project(t, nightly)
	enforce(t, c.plane)
	_, err := c.SwitchSchedules(t.Context(), daemonapi.ScheduleSwitch{Project: root, On: true})
	if refusal(t, err).Code != "untrusted" {
		t.Fatal(err)
	}
	check(t, trust.NewStore(c.opts.StateDir).Approve(root, noon))
	c.on(t, root)
	check(t, os.WriteFile(filepath.Join(root, ".gauntlet", "runbooks", "book.toml"), []byte(strings.ReplaceAll(nightly, `"hourly"`, `"edited"`)), 0o644))
	c.passes(t, time.Hour)
	o := c.core.owners()
	if len(o) != 1 || o[0].Plan.Pipeline.Steps[0].Run.Shell != "hourly" {
		t.Errorf("%+v", o)
	}
}

// A snapshot keeps what schedules are at, so that the events below it can be trimmed.
func TestSchedulesAreInSnapshots(t *testing.T) {
	s, dir, root := newMemory(t), t.TempDir(), project(t, nightly)
	c := newClerkAt(t, s, dir, noon)
	c.on(t, root)
	c.passes(t, time.Hour)
	for range 2 {
		check(t, c.core.snapshot(t.Context()))
		check(t, c.core.mark(t.Context(), store.NewEvent{Subject: "daemon.test", ID: "test-" + journal.NewID(), Expected: head(t, s, "daemon.test")}))
	}
	_, err := s.Trim(t.Context(), "a test")
	check(t, err)
	c = newClerkAt(t, s, dir, c.now)
	if c.passes(t, 0); len(c.started()) != 1 {
		t.Error(c.started())
	}
	if c.passes(t, time.Hour); len(c.started()) != 2 {
		t.Error(c.started())
	}
}

func head(t *testing.T, s store.Store, subject string) store.Position {
	t.Helper()
	h, err := s.Head(t.Context(), subject)
	check(t, err)
	return h.Position
}

// The daemon itself keeps schedules.
func TestADaemonKeepsSchedules(t *testing.T) {
	w := newWorld()
	r, root := begin(t, w, options(t, w, newMemory(t))), project(t, "[pipeline.p]\nschedule = \"* * * * *\"\n[[pipeline.p.step]]\nname = \"a\"\nrun = \"true\"\n")
	all, err := r.SwitchSchedules(t.Context(), daemonapi.ScheduleSwitch{Project: root, On: true})
	check(t, err)
	if len(all) != 1 || all[0].Next == nil {
		t.Errorf("%+v", all)
	}
	none := project(t, twoSteps)
	if _, err := r.SwitchSchedules(t.Context(), daemonapi.ScheduleSwitch{Project: none, On: true}); err == nil || !strings.Contains(err.Error(), "have no schedule") {
		t.Error(err)
	}
}
