package job

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 17, 8, 0, 0, 0, time.UTC)

// told is a job after facts that must have been possible.
func told(t *testing.T, j Job, does ...func(Job) (Fact, error)) Job {
	t.Helper()
	for i, do := range does {
		f, err := do(j)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		j = j.After(f)
	}
	return j
}

func added(spec Spec) Job { return Job{ID: "1"}.After(Fact{Type: Added, Time: start, Spec: &spec}) }

func claim(member string) func(Job) (Fact, error) {
	return func(j Job) (Fact, error) { return j.Claim(member, nil, 0, start) }
}

func begin(j Job) (Fact, error) { return j.Start(j.Member, j.Attempt, start) }
func lose(j Job) (Fact, error)  { return j.Lose("other", j.Attempt, start) }

func decide(choice string) func(Job) (Fact, error) {
	return func(j Job) (Fact, error) { return j.Decide(j.Losses, choice, "ada", start) }
}

func TestAJobFromItsAdditionToItsEnd(t *testing.T) {
	j := told(t, added(Spec{Project: "shop", Command: "fix"}), claim("a"), begin)
	if j.State != Running || j.Member != "a" || j.Attempt != 1 {
		t.Fatalf("%+v", j)
	}
	j = told(t, j, func(j Job) (Fact, error) { return j.End("a", 1, "done", "", 0, start.Add(time.Hour)) })
	if j.State != Ended || j.Status != "done" || !j.Since.Equal(start.Add(time.Hour)) {
		t.Errorf("%+v", j)
	}
	if _, err := j.Cancel("ada", start); !errors.Is(err, ErrState) {
		t.Errorf("an ended job is cancelled: %v", err)
	}
}

func TestWhoMayClaim(t *testing.T) {
	j := added(Spec{Needs: []string{"gpu", "linux"}})
	for name, test := range map[string]struct {
		job    Job
		member string
		labels []string
		may    bool
	}{
		"all labels":         {j, "a", []string{"linux", "gpu", "big"}, true},
		"a label is missing": {j, "a", []string{"linux"}, false},
		"another host":       {added(Spec{Host: "b"}), "a", nil, false},
		"the host":           {added(Spec{Host: "b"}), "b", nil, true},
		"claimed":            {told(t, added(Spec{}), claim("a")), "b", nil, false},
		"it refused it": {told(t, added(Spec{}), claim("a"), func(j Job) (Fact, error) {
			return j.Refuse("a", 1, "no such project", start)
		}), "a", nil, false},
		"another one refused it": {told(t, added(Spec{}), claim("a"), func(j Job) (Fact, error) {
			return j.Refuse("a", 1, "no such project", start)
		}), "b", nil, true},
		"not added": {Job{}, "a", nil, false},
	} {
		if test.job.May(test.member, test.labels) != test.may {
			t.Errorf("%s: %+v", name, test.job)
		}
	}
}

// A lost attempt is asked about, or done again, as the job says; one that comes back goes on where no person has
// decided otherwise, and is refused where one has.
func TestAMemberIsLost(t *testing.T) {
	running := told(t, added(Spec{}), claim("a"), begin)
	asking := told(t, running, lose)
	if asking.State != Asking || asking.Member != "a" {
		t.Fatalf("%+v", asking)
	}
	if back := told(t, asking, func(j Job) (Fact, error) { return j.Return("a", 1, start) }); back.State != Running || back.Attempt != 1 {
		t.Errorf("it came back: %+v", back)
	} else if back.Decided != "" {
		t.Errorf("its own member has decided: %+v", back)
	}
	if left := told(t, running, func(j Job) (Fact, error) { return j.Abandon("b", "asleep", start) }); left.Status != "cancelled" || left.Decided != "" {
		t.Errorf("it was cancelled, and no question was answered: %+v", left)
	}
	if given := told(t, added(Spec{}), func(j Job) (Fact, error) { return j.Abandon("b", "asleep", start) }); given.Reason != "cancelled by b" {
		t.Errorf("no member had it: %+v", given)
	}
	if ended := told(t, asking, func(j Job) (Fact, error) { return j.End("a", 1, "done", "", 0, start) }); ended.Status != "done" {
		t.Errorf("it came back with its end: %+v", ended)
	}
	if waits := told(t, asking, decide("wait")); waits.State != Running {
		t.Errorf("wait: %+v", waits)
	}
	if given := told(t, asking, decide("cancel")); given.Status != "cancelled" {
		t.Errorf("cancel: %+v", given)
	}
	again := told(t, asking, decide("again"), claim("b"), begin)
	if again.Attempt != 2 || again.Member != "b" {
		t.Errorf("again: %+v", again)
	}
	for name, err := range map[string]error{
		"end":    second(again.End("a", 1, "done", "", 0, start)),
		"return": second(again.Return("a", 1, start)),
		"start":  second(again.Start("a", 1, start)),
		"lose":   second(again.Lose("c", 1, start)),
	} {
		if !errors.Is(err, ErrStale) {
			t.Errorf("%s of the old attempt: %v", name, err)
		}
	}
	if j := told(t, added(Spec{OnLost: Again}), claim("a"), begin, lose); j.State != Pending || j.Attempt != 1 {
		t.Errorf("on_lost again: %+v", j)
	}
}

func second(_ Fact, err error) error { return err }

// Whatever members, people and lost links do in whichever order: an attempt has one member, numbers only
// grow, what has ended stays so, and a stale attempt changes nothing.
func TestAJobsAttemptsNeverMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := added(Spec{OnLost: rapid.SampledFrom([]OnLost{"", Ask, Again}).Draw(t, "on lost")})
		owners := map[int]string{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			member := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member")
			attempt := max(0, j.Attempt+rapid.IntRange(-1, 1).Draw(t, "attempt"))
			does := map[string]func() (Fact, error){
				"claim":   func() (Fact, error) { return j.Claim(member, nil, 0, start) },
				"start":   func() (Fact, error) { return j.Start(member, attempt, start) },
				"refuse":  func() (Fact, error) { return j.Refuse(member, attempt, "no", start) },
				"end":     func() (Fact, error) { return j.End(member, attempt, "done", "", 0, start) },
				"lose":    func() (Fact, error) { return j.Lose(member, attempt, start) },
				"return":  func() (Fact, error) { return j.Return(member, attempt, start) },
				"cancel":  func() (Fact, error) { return j.Cancel("ada", start) },
				"abandon": func() (Fact, error) { return j.Abandon("ada", "asleep", start) },
				"give":    func() (Fact, error) { return j.GiveBack(member, attempt, "alone", 0, start) },
				"decide": func() (Fact, error) {
					return j.Decide(j.Losses, rapid.SampledFrom(Choices).Draw(t, "choice"), "ada", start)
				},
			}
			names := []string{"abandon", "cancel", "claim", "decide", "end", "give", "lose", "refuse", "return", "start"}
			name := rapid.SampledFrom(names).Draw(t, "does")
			f, err := does[name]()
			if err != nil {
				continue
			}
			next := j.After(f)
			if next.State == Pending && next.Cancelling {
				t.Fatalf("%s: it never ends: %+v", name, next)
			}
			if j.State == Ended || next.Attempt < j.Attempt || next.Attempt > j.Attempt+1 || next.Attempt != j.Attempt && name != "claim" {
				t.Fatalf("%s: %+v became %+v", name, j, next)
			}
			if slices.Contains([]string{"start", "refuse", "end", "return", "give"}, name) && (attempt != j.Attempt || member != owners[attempt]) {
				t.Fatalf("%s of attempt %d by %s: %+v", name, attempt, member, j)
			}
			if name == "claim" {
				owners[next.Attempt] = member
			}
			j = next
		}
	})
}

// A cap is never exceeded, and what is held is what jobs hold that have not ended.
func TestACapIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := Limit{Jobs: rapid.IntRange(0, 3).Draw(t, "jobs"), USD: float64(rapid.IntRange(0, 10).Draw(t, "usd"))}
		c := Cap{}.After(CapFact{Type: "set", Limit: &limit})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			job, attempt := fmt.Sprint(rapid.IntRange(1, 5).Draw(t, "job")), rapid.IntRange(1, 3).Draw(t, "attempt")
			usd := float64(rapid.IntRange(0, 4).Draw(t, "cost"))
			var f CapFact
			var err error
			if rapid.Bool().Draw(t, "reserve") {
				f, err = c.Reserve(job, attempt, usd)
			} else {
				f, err = c.Settle(job, attempt, min(usd, c.Held[job].USD))
			}
			if err != nil {
				continue
			}
			c = c.After(f)
			if limit.Jobs > 0 && len(c.Held) > limit.Jobs || limit.USD > 0 && c.Spent+c.Reserved() > limit.USD {
				t.Fatalf("%+v", c)
			}
		}
	})
}
