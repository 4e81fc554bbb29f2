package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/desk"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

const jobBook = `
[command.fix]
args = "<what>"
run = 'echo fix "${var.what}"'
job = { needs = ["gpu"], on_lost = "again", cap = "nightly" }

[queue.q]
vars = ["n"]

[pipeline.p]
vars = ["n"]
[[pipeline.p.step]]
name = "one"
run = 'echo "${var.n}"'

[worker.w]
queue = "q"
run = { pipeline = "p" }
job = true
`

// alone are the members of a fleet of one.
type alone struct{}

func (alone) Peers() []daemonapi.FleetMember {
	return []daemonapi.FleetMember{{Name: "a", State: "up", Labels: []string{"gpu"}, Projects: []string{"shop"}}}
}

func (alone) Passed(string) map[string]string { return nil }

// linked is a machine that is in a fleet by itself. It takes no job before it has room.
func linked(t *testing.T, runbook string, room int) (*machine, string) {
	t.Helper()
	m, root := doing(t, runbook)
	joins(t, m, linktest.New(t), room)
	return m, root
}

// joins has a machine be the member a of a fleet.
func joins(t *testing.T, m *machine, f *linktest.Fleet, room int) {
	t.Helper()
	wake := make(chan struct{}, 1)
	m.plane.desk = desk.New(desk.Options{
		Machine: placed{m, room}, Name: m.fleetName, Check: m.checkJob, Log: quiet(), Now: time.Now, Wake: wake,
		News: func() {}, Sign: func([]byte) ([]byte, error) { return nil, nil },
		Unheard: func() (time.Duration, bool) { return 0, true },
	})
	m.JobPlane = m.plane.desk
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	l := f.Member("a")
	all.Go(func() { m.plane.desk.Run(ctx, l, alone{}) })
	t.Cleanup(func() { cancel(); all.Wait() })
	checktest.Eventually(t, "the jobs can be listed", func() bool { _, err := m.Jobs(t.Context(), &api.Query{Limit: 1}); return err == nil })
}

// placed is a machine with so much room.
type placed struct {
	*machine
	room int
}

func (p placed) Room() int { return p.room }

// Attempts are none on a machine that takes no job: what a test starts as one is not cancelled as given up.
func (p placed) Attempts() map[string]claim.Task {
	if p.room == 0 {
		return nil
	}
	return p.machine.Attempts()
}

// Starting a command that its runbook makes a job of adds one, once for an id, with what the runbook says; on a host that is
// named it is started.
func TestIssue20StartingAJob(t *testing.T) {
	m, root := linked(t, jobBook, 0)
	start := daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "fix", Args: []string{"it"}}
	for range 2 {
		o, err := m.plane.Start(t.Context(), start)
		check(t, err)
		if o.Job != anID || o.ID != job.Owner(anID, 1) || o.Status != "queued" {
			t.Errorf("%+v", o)
		}
	}
	j, err := m.Job(t.Context(), anID)
	check(t, err)
	if j.Project != "shop" || j.Command != "fix" || strings.Join(j.Args, " ") != "it" || strings.Join(j.Needs, " ") != "gpu" || j.OnLost != "again" || j.Cap != "nightly" {
		t.Errorf("%+v", j)
	}
	if n := m.core.state.Len(); n != 0 {
		t.Errorf("%d were started here", n)
	}

	start.Args = nil
	start.ID = newID(7)
	if _, err := m.plane.Start(t.Context(), start); daemonapi.Code(err) != "invalid" {
		t.Errorf("without its argument: %v", err)
	}
	start.Args, start.Host = []string{"it"}, daemonapi.Here
	o, err := m.plane.Start(t.Context(), start)
	check(t, err)
	if o.Job != "" || m.core.owner(newID(7)) == nil {
		t.Errorf("on this very machine: %+v", o)
	}
}

// A job that no machine could start by the runbooks here is refused as its start would be. Where there are none that are
// approved, or it is for another machine, this one does not know better.
func TestIssue20AJobThatTheRunbookDoesNotHave(t *testing.T) {
	m, root := linked(t, jobBook, 0)
	unknown := project(t, jobBook)
	add := func(n int, a daemonapi.AddJob) error {
		a.ID = newID(n)
		_, err := m.AddJob(t.Context(), a)
		return err
	}
	_, started := m.plane.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "fxi"})
	if err := add(1, daemonapi.AddJob{Project: root, Command: "fxi"}); started == nil || err == nil || err.Error() != started.Error() {
		t.Errorf("a command that does not exist: %v, and its start: %v", err, started)
	}
	err := add(2, daemonapi.AddJob{Project: root, Command: "fix"})
	if failure := refusal(t, err); failure.Code != "invalid" || failure.Hint != "usage: stopgate job add fix <what>" {
		t.Errorf("without its argument: %+v", failure)
	}
	for n, a := range []daemonapi.AddJob{
		{Project: root, Command: "fix", Args: []string{"it"}},
		{Project: root, Command: "fxi", Only: "b"},
		{ProjectName: "shop", Command: "fxi"},
		{Project: unknown, ProjectName: "other", Command: "fxi"},
	} {
		check(t, add(10+n, a))
	}
	check(t, m.checkJob(unknown, "fxi", nil)) // not approved
}

// A decision of a job's pipeline names the job with its arguments, in lists and by itself: two jobs of the same command are
// told apart.
func TestIssue20ADecisionNamesItsJob(t *testing.T) {
	m, root := linked(t, jobBook, 0)
	m.opts.Now = time.Now
	_, err := m.AddJob(t.Context(), daemonapi.AddJob{ID: aJob, Project: root, Command: "fix", Args: []string{"1234"}})
	check(t, err)
	owner := job.Owner(aJob, 1)
	check(t, m.Start(t.Context(), owner, jobOf(job.Spec{Project: "shop", Command: "fix", Args: []string{"1234"}})))
	key := m.core.owner(owner).Effects[0].Key
	do(t, m.core, owner, engine.Input{ID: "started", What: engine.EffectStarted{Key: key}})
	o := do(t, m.core, owner, engine.Input{ID: "lost", What: engine.EffectLost{Key: key, Why: "the daemon died"}})
	if o.Decision == nil {
		t.Fatal("nothing is asked")
	}

	page, err := m.Decisions(t.Context(), &api.Query{Limit: 10})
	check(t, err)
	one, err := m.Decision(t.Context(), o.Decision.ID)
	check(t, err)
	shown := m.ownerView(o, false).Decision
	for _, d := range append(page.Items, one, *shown) {
		if d.Job != aJob || d.JobCommand != "fix 1234" {
			t.Errorf("%+v", d)
		}
	}
	if len(page.Items) != 1 {
		t.Errorf("%d are listed", len(page.Items))
	}
	child := &engine.Owner{ID: newID(8), Parent: &engine.Parent{ID: owner}}
	if d := m.ofJob(child, daemonapi.Decision{}); d.Job != aJob {
		t.Errorf("what a step of it runs: %+v", d)
	}
	if d := m.ofJob(&engine.Owner{ID: newID(9)}, daemonapi.Decision{}); d.Job != "" {
		t.Errorf("of no job: %+v", d)
	}
}

// Without a fleet, or a name of the project in it, nothing is started and the error says why.
func TestIssue20AJobWithoutAFleet(t *testing.T) {
	m, root := doing(t, jobBook)
	m.plane.desk = desk.New(desk.Options{Name: m.fleetName})
	start := daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "fix", Args: []string{"it"}}
	if _, err := m.plane.Start(t.Context(), start); daemonapi.Code(err) != "unavailable" {
		t.Errorf("no fleet: %v", err)
	}
	other := filepath.Join(project(t, jobBook), "Not a Name")
	check(t, os.MkdirAll(other, 0o755))
	check(t, os.Rename(filepath.Join(filepath.Dir(other), ".gauntlet"), filepath.Join(other, ".gauntlet")))
	check(t, trust.NewStore(m.opts.StateDir).Approve(other, time.Now()))
	start.Project, start.Cwd = other, other
	if _, err := m.plane.Start(t.Context(), start); daemonapi.Code(err) != "invalid" || !strings.Contains(err.Error(), "no name for the project") {
		t.Errorf("no name: %v", err)
	}
	if m.core.state.Len() != 0 {
		t.Error("something was started")
	}
}

// A project that the configuration does not name goes by the name of its directory.
func TestIssue20TheNameOfAProjectInTheFleet(t *testing.T) {
	m, root := doing(t, jobBook)
	for dir, want := range map[string]string{root: "shop", "/src/web-2": "web-2", "/src/Not a Name": "", "/": ""} {
		if got := m.fleetName(dir); got != want {
			t.Errorf("%s is %q, not %q", dir, got, want)
		}
	}
}

// The list of commands says what is wrong where the only runbook has a mistake.
func TestCommandsOfABrokenRunbook(t *testing.T) {
	p := asking(t)
	_, err := p.Commands(t.Context(), project(t, "[command.build\n"))
	if failure := refusal(t, err); failure.Code != "invalid" || !strings.Contains(failure.Hint, "runbook check") {
		t.Errorf("%+v", failure)
	}
}

// A worker whose runbook says so adds a job for each item, once; what becomes of the job becomes of the item.
func TestIssue20AWorkerFeedsJobs(t *testing.T) {
	m, root := linked(t, jobBook, 9)
	p := m.plane
	p.kept = func() time.Duration { return time.Hour }
	c := newClerk(p, make(chan struct{}, 1))
	p.clerk = c
	_, err := p.AddWork(t.Context(), daemonapi.AddWork{Project: root, Queue: "q", Items: []daemonapi.NewItem{{ID: newID(5), Vars: map[string]string{"n": "7"}}}})
	check(t, err)
	_, err = p.SwitchWorker(t.Context(), daemonapi.WorkerSwitch{Project: root, Name: "w", On: true})
	check(t, err)
	item := func() (i intake.Item) {
		c.look(t.Context())
		p.core.browse(func(s intake.State) { i = *s.Project(root).Items[newID(5)] })
		return i
	}
	first := item()
	if first.State != intake.Running {
		t.Fatalf("%+v", first)
	}
	checktest.Eventually(t, "the job runs", func() bool { j, known := p.jobStatus(first.Owner); return known && j.Status == "running" })
	if again := item(); again.Owner != first.Owner || again.Takes != 1 {
		t.Errorf("%+v", again)
	}
	attempt := job.Owner(first.Owner, 1)
	o := p.core.owner(attempt)
	if o == nil || o.Vars["n"] != "7" || o.Job.ID != first.Owner || p.core.state.Len() != 1 {
		t.Fatalf("%+v", o)
	}

	do(t, p.core, attempt, engine.Input{ID: "x", What: engine.Cancel{Why: "enough"}})
	checktest.Eventually(t, "the job is cancelled", func() bool {
		j, _ := p.jobStatus(first.Owner)
		return j.Status == "cancelled"
	})
	if i := item(); i.State != intake.Dead || !strings.Contains(i.Error, "cancelled") {
		t.Errorf("%+v", i)
	}
}

// A schedule of such a command adds a job under an id of its time.
func TestIssue20AScheduleFeedsJobs(t *testing.T) {
	m, root := linked(t, strings.Replace(jobBook, `args = "<what>"`, "args = \"<what>\"\nschedule = { cron = \"* * * * *\", args = [\"it\"] }", 1), 0)
	p := m.plane
	c := newClerk(p, make(chan struct{}, 1))
	shelf, err := p.shelf(root)
	check(t, err)
	scheduled := shelf.Scheduled()
	if len(scheduled) != 1 {
		t.Fatalf("%+v, %v", scheduled, shelf.faults)
	}
	for range 2 {
		check(t, c.begin(t.Context(), shelf, scheduled[0], newID(3)))
	}
	j, err := m.Job(t.Context(), newID(3))
	check(t, err)
	if j.Command != "fix" || strings.Join(j.Args, " ") != "it" || p.core.state.Len() != 0 {
		t.Errorf("%+v", j)
	}
}

// What people are asked about a lost job stands among this machine's own decisions, and is answered like them.
func TestIssue20ALostJobIsADecisionHere(t *testing.T) {
	m, _ := doing(t, jobBook)
	f := linktest.New(t)
	joins(t, m, f, 0)
	p := m.plane
	b, err := board.Open(t.Context(), f.Member("b").Log, "b", time.Now, quiet())
	check(t, err)
	_, err = b.Add(t.Context(), anID, job.Spec{Project: "shop", Command: "fix", Args: []string{"it"}}, nil)
	check(t, err)
	_, err = b.Claim(t.Context(), anID, nil, 0)
	check(t, err)
	_, err = b.Change(t.Context(), anID, func(j job.Job) (job.Fact, error) { return j.Lose("c", 1, time.Now()) })
	check(t, err)
	id := job.Question(anID, 1)
	checktest.Eventually(t, "the decision is there", func() bool { _, err := p.Decision(t.Context(), id[:8]); return err == nil })

	page, err := p.Decisions(t.Context(), &api.Query{Limit: 10, Name: "fix"})
	check(t, err)
	if len(page.Items) != 1 || page.Items[0].ID != id || page.Items[0].Host != "b" || page.Items[0].Source != "lost" {
		t.Errorf("%+v", page.Items)
	}
	for _, q := range []*api.Query{{Limit: 10, Name: "other"}, {Limit: 10, Project: "/nowhere"}, {Limit: 10, Past: true}, {Limit: 10, Owner: newID(9)}} {
		if page, err := p.Decisions(t.Context(), q); err != nil || len(page.Items) != 0 {
			t.Errorf("%+v: %+v, %v", q, page.Items, err)
		}
	}
	if n := p.Status(t.Context()).Decisions; n != 1 {
		t.Errorf("%d decisions", n)
	}
	if _, err := p.Diff(t.Context(), id); err != nil && daemonapi.Code(err) != "not_found" {
		t.Errorf("its diff: %v", err)
	}

	if _, err := p.Answer(t.Context(), id, daemonapi.Answer{ID: "aa", Message: "hm"}); daemonapi.Code(err) != "invalid" {
		t.Errorf("words: %v", err)
	}
	d, err := p.Answer(t.Context(), id, daemonapi.Answer{ID: "ab", Option: "cancel"})
	check(t, err)
	if d.Chosen != "cancel" || d.Resolved == nil {
		t.Errorf("%+v", d)
	}
	if _, err := p.Answer(t.Context(), id, daemonapi.Answer{ID: "ac", Option: "wait"}); daemonapi.Code(err) != "not_found" {
		t.Errorf("again: %v", err)
	}
	if j, err := m.Job(t.Context(), anID); err != nil || j.Status != "cancelled" {
		t.Errorf("%+v, %v", j, err)
	}
}
