package board

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

const month = 30 * 24 * time.Hour

// calendar is a fleet on whose days something happens.
type calendar struct {
	*linktest.Fleet
	t      *testing.T
	day    time.Time
	boards map[string]*Board
}

func newCalendar(t *testing.T, members ...string) *calendar {
	c := &calendar{Fleet: linktest.New(t), t: t, day: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), boards: map[string]*Board{}}
	for _, name := range members {
		c.opens(name)
	}
	return c
}

func (c *calendar) now() time.Time { return c.day }

// opens is a member that begins anew.
func (c *calendar) opens(name string) *Board {
	c.t.Helper()
	b, err := Open(c.t.Context(), c.Member(name).Log, name, c.now, slog.New(slog.DiscardHandler))
	check(c.t, err)
	c.boards[name] = b
	return b
}

// tidies has a hub look, and returns how many events it trimmed.
func (c *calendar) tidies() int {
	c.t.Helper()
	trimmed, err := Tidy(c.t.Context(), c.Member("hub").Log, month, "hub-1", c.now, slog.New(slog.DiscardHandler))
	check(c.t, err)
	return trimmed.Events
}

// does a job from its beginning to its end.
func (c *calendar) does(id, member string) {
	c.t.Helper()
	b := c.boards[member]
	_, err := b.Add(c.t.Context(), id, fix, nil)
	check(c.t, err)
	_, err = b.Claim(c.t.Context(), id, nil, 0)
	check(c.t, err)
	_, err = b.Change(c.t.Context(), id, func(j job.Job) (job.Fact, error) { return j.Start(member, j.Attempt, c.day) })
	check(c.t, err)
	_, err = b.Change(c.t.Context(), id, func(j job.Job) (job.Fact, error) { return j.End(member, j.Attempt, "done", "", 1, c.day) })
	check(c.t, err)
}

// months passes so many, and tidies at the end of each.
func (c *calendar) months(n int) (trimmed int) {
	c.t.Helper()
	for i := range n {
		c.day = c.day.Add(month + time.Hour)
		c.does(fmt.Sprintf("%015d%d", c.day.Unix(), i), "a") // something happens in each
		trimmed += c.tidies()
	}
	return trimmed
}

// Facts of jobs that ended long ago are trimmed. What has not ended is as it was, caps and all, and what ended lately
// is still known.
func TestIssue20JobsThatEndedLongAgoAreTrimmed(t *testing.T) {
	c := newCalendar(t, "a", "b")
	const old, live, late = "00000000000000aa", "00000000000000bb", "00000000000000cc"
	c.does(old, "a")
	_, err := c.boards["b"].Add(t.Context(), live, fix, nil)
	check(t, err)
	_, err = c.boards["b"].Claim(t.Context(), live, nil, 0)
	check(t, err)
	if n := c.tidies() + c.tidies(); n != 0 {
		t.Fatalf("%d events were trimmed on the first day", n)
	}
	c.day = c.day.Add(month - time.Hour)
	if n := c.tidies(); n != 0 {
		t.Fatalf("%d events were trimmed before their time", n)
	}
	if c.months(2) == 0 {
		t.Fatal("nothing was trimmed")
	}
	c.does(late, "a")

	b := c.opens("c")
	known := map[string]bool{}
	for _, j := range b.All() {
		known[j.ID] = true
	}
	if known[old] || !known[live] || !known[late] {
		t.Errorf("known: %v", known)
	}
	if j, _ := b.Job(live); !reflect.DeepEqual(j, first(c.boards["b"].Job(live))) || j.State != job.Claimed {
		t.Errorf("%+v", j)
	}
	if got := b.Cap(DefaultCap); len(got.Held) != 1 || got.Held[live].USD != 2 || got.Spent != 4 {
		t.Errorf("%+v", got)
	}
	_, err = b.Change(t.Context(), live, func(j job.Job) (job.Fact, error) { return j.End("b", 1, "done", "", 1, c.day) })
	check(t, err)
}

func first(j job.Job, _ bool) job.Job { return j }

// A member that comes back after months finds out that a job has ended, whatever it knew of it, and never does it again.
func TestIssue20AMemberThatComesBackNeverDoesAnEndedJobAgain(t *testing.T) {
	for _, knew := range []string{"nothing", "that it waits", "that it was claimed"} {
		t.Run(knew, func(t *testing.T) {
			c := newCalendar(t, "a", "away")
			away := c.boards["away"]
			switch knew {
			case "that it waits", "that it was claimed":
				_, err := away.Add(t.Context(), one, fix, nil)
				check(t, err)
			}
			if knew == "that it was claimed" {
				_, err := away.Claim(t.Context(), one, nil, 0)
				check(t, err)
				check(t, c.boards["a"].Fresh(t.Context(), one))
				_, err = c.boards["a"].Change(t.Context(), one, func(j job.Job) (job.Fact, error) { return j.Lose("a", 1, c.day) })
				check(t, err)
				_, err = c.boards["a"].Change(t.Context(), one, func(j job.Job) (job.Fact, error) { return j.Decide(1, "again", "a", c.day) })
				check(t, err)
			}
			check(t, c.boards["a"].Fresh(t.Context(), one))
			c.does(one, "a")
			c.tidies()
			c.months(3)

			for _, b := range []*Board{away, c.opens("away")} {
				j, err := b.Claim(t.Context(), one, nil, 0)
				if err == nil {
					t.Fatalf("it is claimed: %+v", j)
				}
				check(t, b.Fresh(t.Context(), one))
				if j, known := b.Job(one); !known || j.State != job.Ended || j.Status != "done" || j.EndedBy != "a" {
					t.Errorf("%+v", j)
				}
				for _, j := range b.Live() {
					t.Errorf("it is live: %+v", j)
				}
				_, err = b.Change(t.Context(), one, func(j job.Job) (job.Fact, error) { return j.Start("away", 1, c.day) })
				if !errors.Is(err, job.ErrStale) {
					t.Errorf("a start: %v", err)
				}
				j, err = b.Add(t.Context(), one, fix, nil) // by a queue whose machine was away
				check(t, err)
				if j.State != job.Ended {
					t.Errorf("%+v", j)
				}
			}
		})
	}
}

// A board that was not current for months is, after it has followed again.
func TestIssue20ABoardFollowsPastWhatWasTrimmed(t *testing.T) {
	c := newCalendar(t, "a", "b")
	_, err := c.boards["a"].Add(t.Context(), one, fix, nil)
	check(t, err)
	c.tidies()
	c.months(3)
	b := c.boards["b"]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.Follow(ctx) }()
	const later = "00000000000000ff"
	c.does(later, "a")
	for {
		news := b.News()
		if j, _ := b.Job(later); j.State == job.Ended {
			break
		}
		select {
		case <-news:
		case err := <-ended:
			t.Fatal(err)
		}
	}
	if j, _ := b.Job(one); j.State != job.Pending {
		t.Errorf("%+v", j)
	}
	cancel()
	<-ended
}

// Whatever happens between two looks of a hub, a board that begins anew knows the jobs that have not ended, those that
// ended lately, and the caps as one that has seen everything. One that was away finds the end of every job.
func TestIssue20TrimmedBoardsAgree(t *testing.T) {
	random := seedtest.New(t)
	c := newCalendar(t, "a", "b")
	witness, members := c.opens("witness"), []string{"a", "b"}
	var ids []string
	stale := []*Board{c.opens("stale")}
	for step := range 150 {
		c.day = c.day.Add(time.Duration(random.IntN(72)) * time.Hour)
		switch random.IntN(12) {
		case 0:
			c.tidies()
		case 1:
			stale = append(stale, c.opens(fmt.Sprint("stale-", step)))
		case 2, 3:
			ids = append(ids, fmt.Sprintf("%016x", step))
			_, err := c.boards["a"].Add(t.Context(), ids[len(ids)-1], fix, nil)
			check(t, err)
		default:
			if len(ids) > 0 {
				c.step(c.boards[members[random.IntN(2)]], ids[random.IntN(len(ids))], random.IntN(6))
			}
		}
		for _, id := range ids {
			check(t, witness.reread(t.Context(), link.Job(id)))
		}
		check(t, witness.reread(t.Context(), link.Cap(DefaultCap)))
	}
	for range 2 {
		c.months(1)
		check(t, witness.reread(t.Context(), link.Cap(DefaultCap)))
	}

	fresh := c.opens("fresh")
	if got, want := fresh.Cap(DefaultCap), witness.Cap(DefaultCap); !reflect.DeepEqual(got, want) {
		t.Errorf("the cap is %+v, not %+v", got, want)
	}
	for _, id := range ids {
		want, _ := witness.Job(id)
		got, known := fresh.Job(id)
		if (want.State != job.Ended || c.day.Sub(want.Since) < month) && !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, not %+v", got, want)
		}
		for _, b := range append(stale, fresh) {
			check(t, b.Fresh(t.Context(), id))
			if got, _ := b.Job(id); got.State != want.State || got.Status != want.Status || got.EndedBy != want.EndedBy {
				t.Errorf("known before: %v: %+v, not %+v", known, got, want)
			}
		}
	}
}

// step does something about a job, if it is possible.
func (c *calendar) step(b *Board, id string, what int) {
	c.t.Helper()
	check(c.t, b.Fresh(c.t.Context(), id))
	_, err := b.Change(c.t.Context(), id, func(j job.Job) (job.Fact, error) {
		switch what {
		case 0, 1:
			return j.Claim(b.member, nil, 0, c.day)
		case 2:
			return j.Start(b.member, j.Attempt, c.day)
		case 3:
			return j.Lose(b.member, j.Attempt, c.day)
		case 4:
			return j.Decide(j.Losses, "again", b.member, c.day)
		}
		return j.End(b.member, j.Attempt, "done", "", 0.5, c.day)
	})
	if err != nil && !errors.Is(err, job.ErrState) && !errors.Is(err, job.ErrStale) {
		c.t.Fatal(err)
	}
}

// A snapshot of a newer stopgate is not read as if it were ours.
func TestASnapshotOfANewerVersion(t *testing.T) {
	c := newCalendar(t, "a")
	c.does(one, "a")
	log := c.Member("hub").Log
	check(t, log.SaveSnapshot(t.Context(), store.Snapshot{Position: c.boards["a"].jobs[one].version, Data: []byte(`{"v":2}`)}))
	if _, err := Open(t.Context(), log, "b", c.now, slog.New(slog.DiscardHandler)); !errors.Is(err, store.ErrNewer) {
		t.Error(err)
	}
}
