package claim_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/claim/claimtest"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// storm is a fleet in which everything goes wrong: members are killed, appends have unknown outcomes, boards are
// behind, members are cut off and given up, people decide at any time.
type storm struct {
	t       *testing.T
	random  *rand.Rand
	fleet   *linktest.Fleet
	calm    bool
	logs    map[string]board.Log
	yards   map[string]*claimtest.Yard
	members map[string]*claim.Member // those that live
	cut     map[string]bool          // those that are cut off: they do nothing, and what they run goes on
	names   []string
	ids     []string
	faults  int
	limit   job.Limit
}

// rough is a store whose appends may come to anything.
type rough struct {
	board.Log
	s *storm
}

var errLost = fmt.Errorf("%w: the connection was lost", store.ErrUnknown)

func (l rough) AppendAll(ctx context.Context, events ...store.NewEvent) ([]store.Position, error) {
	l.s.strike()
	defer l.s.strike()
	switch {
	case l.s.calm || l.s.random.IntN(5) > 0:
		return l.Log.AppendAll(ctx, events...)
	case l.s.random.IntN(2) == 0: // appended, and not known to be
		l.s.faults++
		_, err := l.Log.AppendAll(ctx, events...)
		if err == nil {
			err = errLost
		}
		return nil, err
	}
	l.s.faults++
	return nil, errLost
}

// strike kills the one who acts, sometimes.
func (s *storm) strike() {
	if !s.calm && s.random.IntN(15) == 0 {
		s.faults++
		panic(killed{})
	}
}

func newStorm(t *testing.T, random *rand.Rand) *storm {
	s := &storm{
		t: t, random: random, fleet: linktest.New(t), names: []string{"a", "b", "c"}, limit: job.Limit{Jobs: 3, USD: 30},
		logs: map[string]board.Log{}, yards: map[string]*claimtest.Yard{}, members: map[string]*claim.Member{}, cut: map[string]bool{},
	}
	for _, name := range s.names {
		s.logs[name] = rough{s.fleet.Member(name).Log, s}
		s.yards[name] = claimtest.New(2)
		s.yards[name].Point = func(string) { s.strike() }
	}
	s.logs["reader"] = s.fleet.Member("reader").Log
	_, err := open(t, s.logs["reader"], "reader").SetCap(t.Context(), "default", func(l *job.Limit) { *l = s.limit })
	check(t, err)
	return s
}

// acts lets a member, or a person at it, do something. One that is killed begins anew the next time.
func (s *storm) acts(name string, do func(m *claim.Member)) {
	if s.cut[name] {
		return
	}
	dead := life(func() {
		m := s.members[name]
		if m == nil {
			s.yards[name].Restart()
			m = member(s.t, s.logs[name], name, s.yards[name])
			s.members[name] = m
		}
		do(m)
	})
	if dead {
		delete(s.members, name)
	}
}

func (s *storm) one() string { return s.names[s.random.IntN(len(s.names))] }

// step does one thing at random.
func (s *storm) step() {
	t, name := s.t, s.one()
	switch s.random.IntN(12) {
	case 0, 10:
		if len(s.ids) < 40 {
			s.ids = append(s.ids, fmt.Sprintf("%016x", len(s.ids)+1))
		}
		id := s.ids[s.random.IntN(len(s.ids))] // or one again
		spec := job.Spec{Project: "shop", Command: "fix", USD: float64(1 + int(id[15])%3)}
		if id[15]%4 == 0 {
			spec.OnLost = job.Again
		}
		s.acts(name, func(m *claim.Member) { s.fails(second(m.Board.Add(t.Context(), id, spec, nil))) })
	case 1:
		s.yards[name].Finish("done", 0.5)
	case 2:
		s.people(name, func(j job.Job) (job.Fact, error) {
			if j.State == job.Asking {
				return j.Decide(j.Losses, job.Choices[s.random.IntN(3)], name, time.Now())
			}
			return job.Fact{}, job.ErrState
		})
	case 3:
		if s.random.IntN(4) == 0 {
			s.people(name, func(j job.Job) (job.Fact, error) { return j.Cancel(name, time.Now()) })
		}
	case 4:
		s.cut[name] = !s.cut[name] && s.random.IntN(2) == 0
	case 5: // those that are cut off are given up
		s.people(name, func(j job.Job) (job.Fact, error) {
			if !s.cut[j.Member] {
				return job.Fact{}, job.ErrState
			}
			if j.Spec.OnLost == job.Again { // its own machine has ended it by then
				s.endUnheard(j)
			}
			return j.Lose(name, j.Attempt, time.Now())
		})
	case 6: // its board learns of some of what the others did
		s.acts(name, func(m *claim.Member) {
			for _, id := range s.ids {
				if s.random.IntN(3) == 0 {
					check(t, m.Board.Fresh(t.Context(), id))
				}
			}
		})
	default:
		s.acts(name, func(m *claim.Member) { m.Look(t.Context()) })
	}
}

// endUnheard is the dead-man's switch of the machine that has a job.
func (s *storm) endUnheard(j job.Job) {
	calm := s.calm
	s.calm = true
	defer func() { s.calm = calm }()
	check(s.t, s.yards[j.Member].Cancel(s.t.Context(), job.Owner(j.ID, j.Attempt), claim.Unheard))
}

// people change jobs at a member, where that can be done.
func (s *storm) people(name string, do func(job.Job) (job.Fact, error)) {
	s.acts(name, func(m *claim.Member) {
		for _, j := range m.Board.Live() {
			s.fails(second(m.Board.Change(s.t.Context(), j.ID, do)))
		}
	})
}

func second(_ job.Job, err error) error { return err }

// fails lets those errors be that are to be expected.
func (s *storm) fails(err error) {
	s.t.Helper()
	for _, known := range []error{store.ErrUnknown, job.ErrState, job.ErrStale} {
		if errors.Is(err, known) {
			return
		}
	}
	check(s.t, err)
}

// looks checks what must hold at any time.
func (s *storm) looks() *board.Board {
	t := s.t
	t.Helper()
	b := open(t, s.logs["reader"], "reader")
	limit := b.Cap("default")
	if len(limit.Held) > s.limit.Jobs || limit.Spent+limit.Reserved() > s.limit.USD {
		t.Fatalf("the cap is exceeded: %+v", limit)
	}
	var holding []string
	for _, j := range b.Live() {
		if j.State != job.Pending {
			holding = append(holding, j.ID)
		}
	}
	slices.Sort(holding)
	if held := slices.Sorted(maps.Keys(limit.Held)); !slices.Equal(held, holding) {
		t.Fatalf("the cap is held by %v, and these have attempts: %v", held, holding)
	}

	runs := 0
	for name, y := range s.yards {
		for owner, of := range y.Attempts() {
			j, known := b.Job(of.Job)
			current := known && j.Member == name && job.Owner(j.ID, j.Attempt) == owner && j.State != job.Ended && j.State != job.Pending
			switch {
			case current:
				runs++
			case of.Again && !s.cut[name]: // it was given back, or waits to be seen by its own machine
			case !known:
				t.Fatalf("%s runs something for a job that was never added", name)
			}
		}
	}
	if runs > s.limit.Jobs {
		t.Fatalf("%d attempts run under a cap of %d", runs, s.limit.Jobs)
	}
	return b
}

// settles lets the storm pass: everyone is back, people decide, what runs ends.
func (s *storm) settles() *board.Board {
	s.calm = true
	for range 60 {
		b := s.looks()
		live := b.Live()
		if len(live) == 0 && s.running() == 0 {
			return b
		}
		for _, j := range live {
			if j.State == job.Asking {
				s.fails(second(b.Change(s.t.Context(), j.ID, func(j job.Job) (job.Fact, error) { return j.Decide(j.Losses, "cancel", "reader", time.Now()) })))
			}
		}
		if len(b.Cap("default").Held) == 0 { // money that is spent does not come back
			_, err := b.SetCap(s.t.Context(), "default", func(l *job.Limit) { l.USD += 10 })
			check(s.t, err)
			s.limit.USD += 10
		}
		for _, name := range s.names {
			s.cut[name] = false
			delete(s.members, name)
			s.acts(name, func(m *claim.Member) { m.Look(s.t.Context()) })
			s.yards[name].Finish("done", 0.5)
			s.acts(name, func(m *claim.Member) { m.Look(s.t.Context()) })
		}
	}
	s.t.Fatalf("jobs never end: %+v", open(s.t, s.logs["reader"], "reader").Live())
	return nil
}

func (s *storm) running() (n int) {
	for _, y := range s.yards {
		n += y.Running()
	}
	return n
}

// Members are killed, appends have unknown outcomes, boards are behind, machines are cut off and given up. The cap is never
// exceeded, by the log and by what runs; each attempt is started once; every job ends, and then holds nothing.
func TestIssue20JobsInAStorm(t *testing.T) {
	s := newStorm(t, seedtest.New(t))
	steps := 400
	if testing.Short() {
		steps = 100
	}
	for i := range steps {
		if len(s.ids) == 0 {
			s.ids = numbered(1)
		}
		if s.step(); i%3 == 0 {
			s.looks()
		}
	}
	b := s.settles()
	if held := b.Cap("default").Held; len(held) != 0 {
		t.Errorf("it still holds %v", held)
	}
	on := map[string]string{}
	for name, y := range s.yards {
		for _, owner := range y.Owners() {
			if on[owner] != "" {
				t.Errorf("attempt %s was started on %s and on %s", owner, name, on[owner])
			}
			on[owner] = name
		}
	}
	t.Logf("%d jobs, %d attempts, %d faults", len(b.All()), len(on), s.faults)
}
