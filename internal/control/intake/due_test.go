package intake

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/control/cron"
)

var monday = time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC)

func plan(t fataler, fields string, once bool) Plan {
	t.Helper()
	times, err := cron.Parse(fields)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return Plan{Key: "k", Times: fields, Once: once, Next: func(after time.Time) time.Time { return times.Next(after, time.UTC) }}
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// do puts facts on record, and sees to it that they are the same when they are read again.
func do(t fataler, p *Project, at time.Time, facts ...Fact) {
	t.Helper()
	text, err := Encode(Step{Project: p.Root, Time: at, Facts: facts})
	if err != nil {
		t.Fatalf("%v", err)
	}
	step, err := Decode(text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(facts, step.Facts); diff != "" {
		t.Fatalf("%s", diff)
	}
	p.Apply(step)
}

func TestTurn(t *testing.T) {
	p, daily := &Project{Root: "/p"}, plan(t, "0 3 * * *", false)
	see := func(at time.Time) { do(t, p, at, Fact{Type: ScheduleSeen, Name: "k", Times: daily.Times}) }
	if turn := p.Turn(daily, monday); turn != (Turn{Seen: true}) {
		t.Error("a new schedule starts nothing", turn)
	}
	see(monday)
	for at, want := range map[time.Duration]Turn{
		0:                             {},
		24*time.Hour - 1:              {},
		24 * time.Hour:                {Due: monday.Add(24 * time.Hour), Start: true},
		24*time.Hour + Grace:          {Due: monday.Add(24 * time.Hour), Start: true},
		24*time.Hour + Grace + 1:      {Due: monday.Add(24 * time.Hour)},
		30*24*time.Hour + time.Minute: {Due: monday.Add(30 * 24 * time.Hour), Start: true},
	} {
		if got := p.Turn(daily, monday.Add(at)); got != want {
			t.Errorf("after %s: %+v, want %+v", at, got, want)
		}
	}
	once := plan(t, "0 3 * * *", true)
	if got := p.Turn(once, monday.Add(50*time.Hour)); got != (Turn{Due: monday.Add(48 * time.Hour), Start: true}) {
		t.Error("what was missed is started once", got)
	}
	other := plan(t, "0 4 * * *", true)
	if got := p.Turn(other, monday.Add(50*time.Hour)); got != (Turn{Seen: true}) {
		t.Error("other times begin anew", got)
	}
	do(t, p, monday.Add(50*time.Hour), Fact{Type: ScheduleOn})
	if got := p.Turn(once, monday.Add(51*time.Hour)); got != (Turn{}) {
		t.Error("what was due before schedules were on is not missed", got)
	}
}

// Whatever the clock and the daemon do, something is started at most once for each time, and never
// for one that has not come.
func TestSchedulesStartOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := plan(t, rapid.SampledFrom([]string{"*/5 * * * *", "0 * * * *", "0 3 * * *", "0 0 1 * *"}).Draw(t, "times"), rapid.Bool().Draw(t, "once"))
		p, now, started := &Project{Root: "/p"}, monday, map[string]bool{}
		do(t, p, now, Fact{Type: ScheduleOn})
		for range rapid.IntRange(1, 60).Draw(t, "length") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 1, 5, 60, 90, 3000, -3, -100, -1400, 30000}).Draw(t, "minutes")) * time.Minute)
			turn := p.Turn(plan, now)
			if turn.Seen {
				do(t, p, now, Fact{Type: ScheduleSeen, Name: plan.Key, Times: plan.Times})
				started = map[string]bool{} // the clock was wrong by days: what is there by its id is not started again
				continue
			}
			if turn.Due.After(now) {
				t.Fatalf("%s is not due at %s", turn.Due, now)
			}
			if next := plan.Next(turn.Due); turn.Due != (time.Time{}) && !next.After(now) {
				t.Fatalf("%s is later than %s", next, turn.Due)
			}
			if turn.Start {
				id := OwnerOf(p.Root, plan.Key, turn.Due)
				if started[id] {
					t.Fatalf("%s is started twice", turn.Due)
				}
				started[id] = true
			}
			if turn.Due != (time.Time{}) {
				do(t, p, now, Fact{Type: ScheduleDue, Name: plan.Key, Due: turn.Due, Owner: "0123456789abcdef"})
			}
		}
	})
}
