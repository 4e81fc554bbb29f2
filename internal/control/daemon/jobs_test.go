package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
)

const aJob = "00000000000000aa"

// doing is a machine without a daemon, on which the project shop is mapped and approved.
func doing(t *testing.T, runbook string) (*machine, string) {
	t.Helper()
	p := asking(t)
	root := project(t, runbook)
	check(t, trust.NewStore(p.opts.StateDir).Approve(root, time.Now()))
	p.global = func() *config.Global {
		return &config.Global{
			Fleet:     config.Fleet{Labels: []string{"gpu"}, Projects: []config.FleetProject{{Name: "shop", Path: root}}},
			Lifecycle: config.Lifecycle{MaxAgents: 2},
		}
	}
	return &machine{plane: p, comebacks: newComebacks(p.core), may: func(job.Job) error { return nil }}, root
}

func jobOf(spec job.Spec) job.Job {
	if spec.Project == "" {
		spec.Project, spec.Command, spec.Args = "shop", "build", []string{"you"}
	}
	return job.Job{ID: aJob, State: job.Claimed, Attempt: 1, Member: "a", By: "b", Spec: spec}
}

// A job is done where its project is mapped and approved and its runbook has the command, and nowhere else; why not is said.
func TestIssue20WhichJobsFit(t *testing.T) {
	m, root := doing(t, twoSteps)
	fits := func(j job.Job, want string) {
		t.Helper()
		m.shelves = nil
		_, err := m.Fits(t.Context(), j)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, not %q", err, want)
		}
	}
	fits(jobOf(job.Spec{}), "")
	fits(jobOf(job.Spec{Project: "other", Command: "build"}), "project other is not mapped here")
	fits(jobOf(job.Spec{Project: "shop", Command: "biuld"}), "biuld")
	fits(jobOf(job.Spec{Project: "shop", Command: "build"}), "name")

	m.may = func(j job.Job) error { return errors.New(j.By + " may not") }
	fits(jobOf(job.Spec{}), "b may not")
	m.may = func(job.Job) error { return nil }

	check(t, trust.NewStore(m.opts.StateDir).Revoke(root)) // the configuration does not ask for approvals
	fits(jobOf(job.Spec{}), "not approved")
	enforce(t, m.plane)
	fits(jobOf(job.Spec{}), "not approved")
	check(t, trust.NewStore(m.opts.StateDir).Approve(root, time.Now()))
	check(t, os.RemoveAll(root))
	fits(jobOf(job.Spec{}), "no such file or directory")
}

// What another machine asks for is what a person approved here, also where the configuration does not ask for
// approvals: remote execution must not rest on a default. A person on this machine may start it.
func TestIssue20OtherMachinesStartOnlyWhatWasApproved(t *testing.T) {
	m, root := doing(t, twoSteps)
	store := trust.NewStore(m.opts.StateDir)
	check(t, store.Revoke(root))
	afar := api.WithCaller(t.Context(), api.Caller{User: "ann", Host: "laptop"})
	start := daemonapi.Start{ID: anID, ProjectName: "shop", Host: "a", Command: "build", Args: []string{"you"}}
	_, err := m.plane.Start(afar, start)
	if failure := refusal(t, err); failure.Code != "untrusted" || !strings.Contains(failure.Hint, "stopgate trust") {
		t.Errorf("%+v", failure)
	}
	if err := m.Start(t.Context(), job.Owner(aJob, 1), jobOf(job.Spec{})); err == nil || !strings.Contains(err.Error(), "not approved") {
		t.Errorf("a job: %v", err)
	}
	if n := m.core.state.Len(); n != 0 {
		t.Fatalf("%d were started", n)
	}

	_, err = m.plane.Start(t.Context(), daemonapi.Start{ID: newID(7), Project: root, Cwd: root, Command: "build", Args: []string{"you"}})
	check(t, err)

	check(t, store.Approve(root, time.Now()))
	check(t, os.WriteFile(filepath.Join(root, ".gauntlet", "runbooks", "book.toml"), []byte(strings.ReplaceAll(twoSteps, "echo one", "rm")), 0o600))
	_, err = m.plane.Start(afar, start)
	check(t, err)
	if got := m.core.owner(anID).Effects[0].Shell.Script; got != "echo one \"you\"" {
		t.Errorf("it runs %q, which was not approved", got)
	}
}

// A question about a job is found by the name of its project, and by where that is here.
func TestIssue20QuestionsAboutAProject(t *testing.T) {
	m, root := doing(t, twoSteps)
	for project, want := range map[string]bool{"": true, root: true, "shop": true, "/elsewhere": false, "other": false} {
		if got := m.asksFor(&api.Query{Project: project}, daemonapi.Decision{Project: "shop", Name: "fix"}); got != want {
			t.Errorf("%q: %t", project, got)
		}
	}
	if m.asksFor(&api.Query{Project: root}, daemonapi.Decision{Project: "other"}) {
		t.Error("a question about another project")
	}
}

// The budget of a runbook is what a job reserves.
func TestIssue20TheBudgetOfAJob(t *testing.T) {
	m, _ := doing(t, strings.Replace(twoSteps, "[pipeline.build]", "[pipeline.build]\nbudget = { usd = 2.5 }", 1))
	usd, err := m.Fits(t.Context(), jobOf(job.Spec{}))
	check(t, err)
	if usd != 2.5 {
		t.Errorf("$%g", usd)
	}
}

// An attempt is started once, carries its job, takes a place, and its end is known.
func TestIssue20AnAttemptOnThisMachine(t *testing.T) {
	m, _ := doing(t, twoSteps)
	owner := job.Owner(aJob, 1)
	if _, started := m.Attempt(owner); started || m.Room() != 2 {
		t.Errorf("room for %d", m.Room())
	}
	for range 2 {
		check(t, m.Start(t.Context(), owner, jobOf(job.Spec{Project: "shop", Command: "build", Args: []string{"you"}, OnLost: job.Again})))
	}
	if m.core.state.Len() != 1 || m.Room() != 1 {
		t.Errorf("%d owners, room for %d", m.core.state.Len(), m.Room())
	}
	view := m.ownerView(m.core.owner(owner), true)
	if view.Job != aJob || view.By != "job "+aJob {
		t.Errorf("%+v", view)
	}
	if all := m.Attempts(); len(all) != 1 || all[owner] != (claim.Task{Job: aJob, Again: true}) {
		t.Errorf("%+v", all)
	}

	check(t, m.Cancel(t.Context(), owner, "enough"))
	check(t, m.Cancel(t.Context(), owner, "enough"))
	if a, started := m.Attempt(owner); !started || !a.Ended || a.Status != "cancelled" || a.Reason != "enough" || len(m.Attempts()) != 0 {
		t.Errorf("%+v", a)
	}
	if m.Room() != 2 {
		t.Errorf("room for %d", m.Room())
	}
}

// What cannot be started is refused for good; a store that does not answer is not.
func TestStartsThatAreRefused(t *testing.T) {
	m, _ := doing(t, twoSteps)
	err := m.Start(t.Context(), job.Owner(aJob, 1), jobOf(job.Spec{Project: "shop", Command: "biuld"}))
	if err == nil || errors.Is(err, claim.ErrLater) {
		t.Errorf("an unknown command: %v", err)
	}
	check(t, m.core.store.Close())
	if err := m.Start(t.Context(), job.Owner(aJob, 1), jobOf(job.Spec{})); !errors.Is(err, claim.ErrLater) {
		t.Errorf("a store that does not answer: %v", err)
	}
}

// A daemon that begins holds back what it finds of the fleet's jobs, with what their steps run, until it has read them.
// What is started afterwards is not held.
func TestIssue20ComebacksAreHeld(t *testing.T) {
	m, _ := doing(t, twoSteps)
	owner, other := job.Owner(aJob, 1), job.Owner(aJob, 2)
	check(t, m.Start(t.Context(), owner, jobOf(job.Spec{})))
	if held := m.comebacks.of(m.core.owner(owner)); held != nil {
		t.Error("one that was started here and now is held")
	}
	do(t, m.core, newID(7), create(newID(7), shellPlan("a")))

	b := newComebacks(m.core) // the next daemon
	held := b.of(m.core.owner(owner))
	child := &engine.Owner{ID: newID(8), Parent: &engine.Parent{ID: owner}}
	if held == nil || b.of(child) != held {
		t.Fatal("it is not held")
	}
	if b.of(m.core.owner(newID(7))) != nil || b.of(nil) != nil {
		t.Error("what is of no job is held")
	}
	b.release(other)
	select {
	case <-held:
		t.Error("another one's release let it go")
	default:
	}
	b.release(owner)
	<-held
	if b.of(m.core.owner(owner)) != nil {
		t.Error("it is held again")
	}
	b.release(owner)

	left := newComebacks(m.core)
	held = left.of(m.core.owner(owner))
	left.releaseAll()
	<-held
}
