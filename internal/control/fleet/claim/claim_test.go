package claim_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/claim/claimtest"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
)

const one = "0000000000000001"

// A job that one member adds is taken by another that has what it needs, started there once, and its end and its
// cost are seen by all. What it held of its cap is given back for what it has cost.
func TestIssue20AJobFromOneMemberIsDoneByAnother(t *testing.T) {
	f := linktest.New(t)
	add(t, f, job.Spec{Project: "shop", Command: "fix", Needs: []string{"gpu"}, USD: 5}, one)
	without, with := claimtest.New(1), claimtest.New(1, "gpu", "linux")
	member(t, f.Member("a").Log, "a", without).Look(t.Context())
	if got := without.Jobs(); got != nil {
		t.Errorf("a member without the label took %v", got)
	}

	b := member(t, f.Member("b").Log, "b", with)
	b.Look(t.Context())
	if j := jobOf(t, f, one); j.State != job.Running || j.Member != "b" || j.Attempt != 1 {
		t.Fatalf("%+v", j)
	}
	if c := b.Board.Cap("default"); c.Held[one].USD != 5 || c.Spent != 0 {
		t.Errorf("while it runs: %+v", c)
	}

	with.Finish("done", 1.5)
	b.Look(t.Context())
	if j := jobOf(t, f, one); j.State != job.Ended || j.Status != "done" || j.USD != 1.5 {
		t.Errorf("%+v", j)
	}
	if c := open(t, f.Member("a").Log, "a").Cap("default"); len(c.Held) != 0 || c.Spent != 1.5 {
		t.Errorf("after its end: %+v", c)
	}
	if got := with.Jobs(); !slices.Equal(got, []string{one}) {
		t.Errorf("started: %v", got)
	}
}

// Members that look at the same time share jobs: each is started once, and no more at once than the cap allows.
func TestIssue20MembersShareJobs(t *testing.T) {
	f := linktest.New(t)
	const jobs, most = 30, 4
	add(t, f, job.Spec{}, numbered(jobs)...)
	_, err := open(t, f.Member("x").Log, "x").SetCap(t.Context(), "default", func(l *job.Limit) { l.Jobs = most })
	check(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	yards := map[string]*claimtest.Yard{"a": claimtest.New(3), "b": claimtest.New(3), "c": claimtest.New(3)}
	var all sync.WaitGroup
	for name, y := range yards {
		m := member(t, f.Member(name).Log, name, y)
		wake := make(chan struct{}, 1)
		m.Wake = wake
		y.Point = func(what string) {
			if what == "started" { // it ends at once, beside
				all.Go(func() {
					y.Finish("done", 0)
					select {
					case wake <- struct{}{}:
					default:
					}
				})
			}
		}
		all.Go(func() { _ = m.Board.Follow(ctx) })
		all.Go(func() { m.Run(ctx) })
	}

	reader := open(t, f.Member("reader").Log, "reader")
	all.Go(func() { _ = reader.Follow(ctx) })
	for news := reader.News(); ; news = reader.News() {
		if held := len(reader.Cap("default").Held); held > most {
			t.Errorf("%d jobs hold the cap of %d", held, most)
		}
		if len(reader.Live()) == 0 {
			break
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("%d jobs have not ended", len(reader.Live()))
		}
	}
	cancel()
	all.Wait()

	var started []string
	for name, y := range yards {
		t.Logf("%s did %d", name, len(y.Jobs()))
		started = append(started, y.Jobs()...)
	}
	slices.Sort(started)
	if !slices.Equal(started, numbered(jobs)) {
		t.Errorf("started: %v", started)
	}
}

// A member that cannot start a job says why, and another one gets it.
func TestIssue20AMemberRefusesWhatItCannotStart(t *testing.T) {
	f := linktest.New(t)
	add(t, f, job.Spec{}, one)
	bad, good := claimtest.New(1), claimtest.New(1)
	bad.Refuse = errNot
	a := member(t, f.Member("a").Log, "a", bad)
	a.Look(t.Context())
	a.Look(t.Context())
	if j := jobOf(t, f, one); j.State != job.Pending || j.Refused["a"] != errNot.Error() || j.Attempt != 1 {
		t.Fatalf("%+v", j)
	}
	if c := a.Board.Cap("default"); len(c.Held) != 0 {
		t.Errorf("it holds still: %+v", c)
	}
	member(t, f.Member("b").Log, "b", good).Look(t.Context())
	if j := jobOf(t, f, one); j.State != job.Running || j.Member != "b" || j.Attempt != 2 {
		t.Errorf("%+v", j)
	}
}

// What does not fit here, or has no room here, is left for others.
func TestWhatIsLeftForOthers(t *testing.T) {
	f := linktest.New(t)
	add(t, f, job.Spec{}, one)
	unfit := claimtest.New(1)
	unfit.Wrong = errNot
	for name, y := range map[string]*claimtest.Yard{"unfit": unfit, "full": claimtest.New(0)} {
		member(t, f.Member(name).Log, name, y).Look(t.Context())
	}
	if j := jobOf(t, f, one); j.State != job.Pending || j.Attempt != 0 {
		t.Errorf("%+v", j)
	}
}

// A job that is cancelled while a member has it is ended by that member.
func TestIssue20ARunningJobIsCancelled(t *testing.T) {
	f := linktest.New(t)
	add(t, f, job.Spec{}, one)
	y := claimtest.New(1)
	a := member(t, f.Member("a").Log, "a", y)
	a.Look(t.Context())
	other := open(t, f.Member("b").Log, "b")
	_, err := other.Change(t.Context(), one, func(j job.Job) (job.Fact, error) { return j.Cancel("b", time.Now()) })
	check(t, err)

	check(t, a.Board.Fresh(t.Context(), one))
	a.Look(t.Context())
	a.Look(t.Context())
	if j := jobOf(t, f, one); j.Status != "cancelled" || y.Running() != 0 {
		t.Errorf("%+v, %d run", j, y.Running())
	}
}

// An attempt that comes back finds what was decided: it goes on while the job is still its own, and is cancelled
// here, and people are told, when the job is another's.
func TestIssue20AnAttemptComesBack(t *testing.T) {
	lost := func(t *testing.T) (*linktest.Fleet, *claimtest.Yard) {
		f := linktest.New(t)
		add(t, f, job.Spec{}, one)
		y := claimtest.New(1)
		member(t, f.Member("a").Log, "a", y).Look(t.Context())
		y.Restart()
		_, err := open(t, f.Member("b").Log, "b").Change(t.Context(), one, func(j job.Job) (job.Fact, error) { return j.Lose("b", 1, time.Now()) })
		check(t, err)
		return f, y
	}
	decide := func(t *testing.T, f *linktest.Fleet, choice string) {
		t.Helper()
		_, err := open(t, f.Member("b").Log, "b").Change(t.Context(), one, func(j job.Job) (job.Fact, error) { return j.Decide(1, choice, "b", time.Now()) })
		check(t, err)
	}
	back := func(t *testing.T, f *linktest.Fleet, y *claimtest.Yard) {
		t.Helper()
		a := member(t, f.Member("a").Log, "a", y)
		for range 3 {
			a.Look(t.Context())
		}
	}
	mine := job.Owner(one, 1)

	t.Run("nothing was decided", func(t *testing.T) {
		f, y := lost(t)
		back(t, f, y)
		if j := jobOf(t, f, one); j.State != job.Running || j.Attempt != 1 || y.Running() != 1 || !y.Released(mine) {
			t.Errorf("%+v, %d run, told %v", j, y.Running(), y.Notices())
		}
	})
	t.Run("wait", func(t *testing.T) {
		f, y := lost(t)
		decide(t, f, "wait")
		if j := jobOf(t, f, one); j.State != job.Running || !j.Waiting {
			t.Fatalf("%+v", j)
		}
		back(t, f, y)
		if j := jobOf(t, f, one); j.State != job.Running || j.Waiting || y.Running() != 1 || !y.Released(mine) {
			t.Errorf("%+v, %d run, told %v", j, y.Running(), y.Notices())
		}
	})
	t.Run("cancel", func(t *testing.T) {
		f, y := lost(t)
		decide(t, f, "cancel")
		back(t, f, y)
		if j := jobOf(t, f, one); j.Status != "cancelled" || y.Running() != 0 || len(y.Notices()) != 1 {
			t.Errorf("%+v, %d run, told %v", j, y.Running(), y.Notices())
		}
	})
	t.Run("again", func(t *testing.T) {
		f, y := lost(t)
		decide(t, f, "again")
		elsewhere := claimtest.New(1)
		member(t, f.Member("b").Log, "b", elsewhere).Look(t.Context())
		back(t, f, y)
		if j := jobOf(t, f, one); j.State != job.Running || j.Member != "b" || j.Attempt != 2 {
			t.Errorf("%+v", j)
		}
		if y.Running() != 0 || len(y.Notices()) != 1 || elsewhere.Running() != 1 {
			t.Errorf("%d run, told %v", y.Running(), y.Notices())
		}
	})
	t.Run("with its end", func(t *testing.T) {
		f, y := lost(t)
		y.Finish("done", 2)
		back(t, f, y)
		if j := jobOf(t, f, one); j.Status != "done" || j.USD != 2 {
			t.Errorf("%+v", j)
		}
	})
}

// A machine whose beats the fleet does not acknowledge takes no jobs: it would end them at once.
func TestIssue20AMachineThatIsNotHeardTakesNoJobs(t *testing.T) {
	f, y := linktest.New(t), claimtest.New(1)
	ids := numbered(1)
	add(t, f, job.Spec{}, ids...)
	heard := false
	m := member(t, f.Member("a").Log, "a", y)
	m.Heard = func() bool { return heard }
	m.Look(t.Context())
	if y.Running() != 0 || m.Passed()[ids[0]] == "" {
		t.Errorf("%d run, passed %v", y.Running(), m.Passed())
	}
	heard = true
	m.Look(t.Context())
	if y.Running() != 1 || len(m.Passed()) != 0 {
		t.Errorf("%d run, passed %v", y.Running(), m.Passed())
	}
}
