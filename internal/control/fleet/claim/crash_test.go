package claim_test

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/claim/claimtest"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/store"
)

// flaky is a fleet's store of a member that can be killed around each thing that it does there.
type flaky struct {
	board.Log
	point func(string)
}

func (l flaky) AppendAll(ctx context.Context, events ...store.NewEvent) ([]store.Position, error) {
	l.point("append")
	defer l.point("appended")
	return l.Log.AppendAll(ctx, events...)
}

func (l flaky) Read(ctx context.Context, subject string, after store.Position) iter.Seq2[store.Event, error] {
	l.point("read")
	return l.Log.Read(ctx, subject, after)
}

func (l flaky) Barrier(ctx context.Context) (store.Position, error) {
	l.point("barrier")
	return l.Log.Barrier(ctx)
}

type killed struct{}

// life lets a member live until it is killed, or has done what there was to do.
func life(live func()) (wasKilled bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, is := p.(killed); !is {
				panic(p)
			}
			wasKilled = true
		}
	}()
	live()
	return false
}

// A member is killed before and after each thing that it does for a job, from its claim to its end. The next one
// goes on: the job is started once, ends once, and holds nothing of its cap.
func TestIssue20AMemberIsKilledAnywhere(t *testing.T) {
	f := linktest.New(t)
	log := f.Member("a").Log
	points := 0
	for n := 1; ; n++ {
		id := numbered(n)[n-1]
		add(t, f, job.Spec{USD: 1}, id)
		y, left, where := claimtest.New(1), n, ""
		y.Point = func(what string) {
			if left--; left == 0 {
				where = what
				panic(killed{})
			}
		}
		live := func() {
			m := &claim.Member{Name: "a", Board: open(t, flaky{log, y.Point}, "a"), Machine: y, Log: quiet, Now: time.Now}
			for range 4 {
				m.Look(t.Context())
				y.Finish("done", 0.5)
			}
		}
		crashed := life(live)
		if crashed && life(live) {
			t.Fatal("it was killed twice")
		}
		if j := jobOf(t, f, id); j.Status != "done" || j.Attempt != 1 || j.USD != 0.5 {
			t.Errorf("killed at %d (%s): %+v", n, where, j)
		}
		if got := y.Jobs(); !slices.Equal(got, []string{id}) {
			t.Errorf("killed at %d (%s): started %v", n, where, got)
		}
		if c := open(t, log, "a").Cap("default"); len(c.Held) != 0 || c.Spent != 0.5*float64(n) {
			t.Errorf("killed at %d (%s): %+v", n, where, c)
		}
		if !crashed {
			break
		}
		points++
	}
	if points < 8 {
		t.Errorf("only %d points", points)
	}
	t.Logf("killed at %d points", points)
}
