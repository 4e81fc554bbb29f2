package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
)

// events are the ids of a subject's events.
func events(t *testing.T, s store.Store, subject string) (ids []string) {
	t.Helper()
	for e, err := range s.Read(t.Context(), subject, 0) {
		check(t, err)
		ids = append(ids, e.ID)
	}
	return ids
}

// same checks that the store leads to the state that the core has.
func same(t *testing.T, c *core) {
	t.Helper()
	state, _, err := load(t.Context(), c.store)
	check(t, err)
	if diff := cmp.Diff(c.owners(), state.Owners()); diff != "" {
		t.Errorf("(-state +store):\n%s", diff)
	}
}

func TestDoRecordsAStepBeforeAnybodySeesIt(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	c := testCore(s)
	s.set(func(store.NewEvent) error {
		if c.owner(anID) != nil {
			t.Error("it is there before it is recorded")
		}
		return nil
	}, nil)
	var told []string
	c.note = func(_, after *engine.Owner, _ []engine.Fact) {
		if c.owner(anID) != nil {
			t.Error("it was seen before it was noted")
		}
		told = append(told, "note "+after.Step)
	}
	c.changed = func(before, after *engine.Owner) {
		told = append(told, fmt.Sprint("changed ", before == nil, " ", after == c.owner(anID)))
	}
	o := do(t, c, anID, create(anID, shellPlan("one")))
	if want := []string{"note one", "changed true true"}; !slices.Equal(told, want) {
		t.Error(told)
	}
	if got := events(t, s, "pipeline."+anID); !slices.Equal(got, []string{engine.EventID(anID, "create")}) {
		t.Errorf("recorded %v", got)
	}
	if o.Version == 0 || o != c.owner(anID) {
		t.Errorf("%+v", o)
	}
	same(t, c)
}

func TestDoOfTheSameInputIsOneStep(t *testing.T) {
	c := testCore(newMemory(t))
	first := do(t, c, anID, create(anID, shellPlan("one")))
	if again := do(t, c, anID, create(anID, shellPlan("one"))); again != first {
		t.Errorf("%+v", again)
	}
	cancel := engine.Input{ID: "request:1", What: engine.Cancel{}}
	do(t, c, anID, cancel)
	do(t, c, anID, cancel)
	if got := events(t, c.store, "pipeline."+anID); len(got) != 2 {
		t.Errorf("recorded %v", got)
	}
}

func TestDoOfNobody(t *testing.T) {
	_, err := testCore(newMemory(t)).do(t.Context(), anID, engine.Input{ID: "x", What: engine.Cancel{}})
	var refusal *engine.Refusal
	if !errors.As(err, &refusal) || refusal.Code != "not_found" {
		t.Error(err)
	}
}

func TestDoAfterSomebodyElseAppended(t *testing.T) {
	s := newMemory(t)
	c, other := testCore(s), testCore(s)
	do(t, c, anID, create(anID, shellPlan("one", "two")))
	if o := do(t, other, anID, create(anID, shellPlan("one", "two"))); o == nil || len(events(t, s, "pipeline."+anID)) != 1 {
		t.Fatalf("a second one: %+v", o) // it was there, unknown to the other
	}
	done(t, other, anID)
	o := do(t, c, anID, engine.Input{ID: "exit", What: engine.ShellExited{Key: c.owner(anID).Shell.Key}})
	if o.Step != "two" || o.Effects[0].Kind != engine.StartShell || len(o.Effects) != 1 {
		t.Errorf("what the other one did is lost: %+v", o)
	}
	same(t, c)
}

func TestDoWhenTheAnswerIsLost(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	c := testCore(s)
	s.set(nil, func(store.NewEvent) error { return store.ErrUnknown })
	if o := do(t, c, anID, create(anID, shellPlan("one"))); o.Version == 0 {
		t.Errorf("%+v", o)
	}
	same(t, c)
}

func TestAnAppendThatTookPlaceIsNoConflict(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	s.set(nil, func(store.NewEvent) error { return store.ErrUnknown })
	at, err := appendEvent(t.Context(), s, store.NewEvent{Subject: "a.b", ID: "mine"})
	if head, lost := s.Head(t.Context(), "a.b"); err != nil || lost != nil || at == 0 || at != head.Position {
		t.Errorf("%d, %v; the head is %+v, %v", at, err, head, lost)
	}
	if _, err := appendEvent(t.Context(), s, store.NewEvent{Subject: "a.b", ID: "another"}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a real conflict: %v", err)
	}
}

func TestDoWhenNobodyKnows(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	c := testCore(s)
	s.set(func(store.NewEvent) error { return store.ErrUnknown }, nil)
	if _, err := c.do(t.Context(), anID, create(anID, shellPlan("one"))); !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	s.set(nil, nil)
	check(t, c.snapshot(t.Context())) // it looks, and there is nothing
	if o := do(t, c, anID, create(anID, shellPlan("one"))); o.Version == 0 {
		t.Errorf("%+v", o)
	}
	same(t, c)
}

// An event that took place although nobody knew must not be left out of a snapshot: what
// is before one is not read again.
func TestASnapshotHasWhatTookPlaceUnknown(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	c := testCore(s)
	var lost store.NewEvent
	s.set(func(e store.NewEvent) error { lost = e; return store.ErrUnknown }, nil)
	if _, err := c.do(t.Context(), anID, create(anID, shellPlan("one"))); !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	s.set(nil, nil)
	if _, err := s.Append(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	do(t, c, anotherID, create(anotherID, shellPlan("one")))
	check(t, c.snapshot(t.Context()))
	if c.owner(anID) == nil {
		t.Error("nobody looked")
	}
	same(t, c)
	do(t, c, anID, create(anID, shellPlan("one")))
	if got := events(t, s, "pipeline."+anID); len(got) != 1 {
		t.Errorf("recorded %v", got)
	}
}

// Between an append and the change of the state that follows, no snapshot is taken.
func TestASnapshotHasWhatWasAppendedJustNow(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	c := testCore(s)
	appended, goOn := make(chan struct{}), make(chan struct{})
	s.set(nil, func(e store.NewEvent) error {
		if strings.HasSuffix(e.Subject, anID) {
			close(appended)
			<-goOn
		}
		return nil
	})
	recorded, saved := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := c.do(t.Context(), anID, create(anID, shellPlan("one")))
		recorded <- err
	}()
	<-appended
	other := newID(1)
	for n := 2; c.turnOf(other) == c.turnOf(anID); n++ {
		other = newID(n)
	}
	do(t, c, other, create(other, shellPlan("one"))) // with a later position
	go func() { saved <- c.snapshot(t.Context()) }()
	select {
	case err := <-saved:
		t.Errorf("a snapshot was taken: %v", err)
		saved <- err
	case <-time.After(20 * time.Millisecond): // it can only be too short to find a mistake
	}
	close(goOn)
	check(t, <-recorded)
	check(t, <-saved)
	same(t, c)
}

// A client that goes away must not leave the state behind the store.
func TestDoFinishesForSomebodyWhoIsGone(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	c := testCore(s)
	ctx, cancel := context.WithCancel(t.Context())
	s.set(func(store.NewEvent) error { cancel(); return nil }, nil)
	if _, err := c.do(ctx, anID, create(anID, shellPlan("one"))); err != nil || c.owner(anID) == nil {
		t.Error(err)
	}
}

func TestAPanicOfTheEngineChangesNothing(t *testing.T) {
	c := testCore(newMemory(t))
	do(t, c, anID, create(anID, shellPlan("one")))
	before := c.owner(anID)
	poison := engine.Input{ID: "poison"} // nothing happened, which nobody says
	if _, err := c.do(t.Context(), anID, poison); !errors.Is(err, errEngine) {
		t.Fatal(err)
	}
	if err := unlessRefused(c.must(t.Context(), anID, poison)); err != nil {
		t.Errorf("it would be told for ever: %v", err)
	}
	if c.owner(anID) != before || len(c.trouble.list()) != 1 {
		t.Errorf("%v", c.trouble.list())
	}
	do(t, c, anotherID, create(anotherID, shellPlan("one")))
	if len(c.trouble.list()) != 1 {
		t.Error("that another one is well says nothing about it")
	}
	do(t, c, anID, engine.Input{ID: "request:1", What: engine.Cancel{}}) // its turn comes
	if got := c.trouble.list(); len(got) != 0 {
		t.Errorf("it goes on, and its trouble is not over: %q", got)
	}
}

// What the engine cannot take is not reported again and again either.
func TestAReportThatTheEngineCannotTake(t *testing.T) {
	d := &daemon{core: testCore(newMemory(t))}
	do(t, d.core, anID, create(anID, shellPlan("one")))
	var refusal *engine.Refusal
	if err := d.report(t.Context(), anID, engine.Input{ID: "poison"}); !errors.As(err, &refusal) {
		t.Error(err)
	}
	if got := d.core.trouble.list(); len(got) != 1 {
		t.Errorf("trouble: %q", got)
	}
}

func TestTroubleOfManyIsToldOnce(t *testing.T) {
	var all trouble
	all.set("b", errors.New("the disk is full"))
	all.set("a", errors.New("the disk is full"))
	all.set("c", errors.New("something else"))
	want := []string{"a and 1 more: the disk is full", "c: something else"}
	if diff := cmp.Diff(want, all.list()); diff != "" {
		t.Error(diff)
	}
}

func TestMustWaitsUntilTheDiskHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &faulty{Store: newMemory(t)}
		c := testCore(s)
		tries := 0
		s.set(func(store.NewEvent) error { tries++; return errors.New("no space left on device") }, nil)
		recorded := make(chan error, 1)
		go func() { recorded <- c.must(t.Context(), anID, create(anID, shellPlan("one"))) }()
		for range 3 {
			synctest.Wait()
			if got := c.trouble.list(); len(got) != 1 || !strings.Contains(got[0], "no space left") {
				t.Errorf("trouble: %q", got)
			}
			time.Sleep(longest) // of the bubble
		}
		s.set(nil, nil)
		check(t, <-recorded)
		if tries < 3 || c.owner(anID) == nil || len(c.trouble.list()) != 0 {
			t.Errorf("%d tries, trouble: %q", tries, c.trouble.list())
		}
	})
}

func TestMustEndsWithItsContext(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	s.set(func(store.NewEvent) error { return errors.New("no space left on device") }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := testCore(s).must(ctx, anID, create(anID, shellPlan("one"))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Snapshots are taken while everything goes on, and the store must come to the same
// state from each of them.
func TestSnapshotWhileAppending(t *testing.T) {
	c := testCore(newMemory(t))
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 20 {
				id := newID(n*100 + i)
				do(t, c, id, create(id, shellPlan("one", "two")))
				done(t, c, id)
				do(t, c, id, engine.Input{ID: "exit", What: engine.ShellExited{Key: c.owner(id).Shell.Key}})
			}
		})
	}
	for range 20 {
		check(t, c.snapshot(t.Context()))
		snapshot, err := c.store.LoadSnapshot(t.Context())
		check(t, err)
		if _, _, err := load(t.Context(), c.store); err != nil {
			t.Fatalf("from the snapshot at %d: %v", snapshot.Position, err)
		}
	}
	all.Wait()
	same(t, c)
	check(t, c.snapshot(t.Context()))
	if c.steps != 0 {
		t.Errorf("%d steps since", c.steps)
	}
	same(t, c)
	_, err := c.store.Trim(t.Context(), "test")
	check(t, err)
	same(t, c)
}

func TestSnapshotRefusesWhatIsNotKnown(t *testing.T) {
	c := testCore(newMemory(t))
	do(t, c, anID, create(anID, shellPlan("one")))
	c.unsure[anotherID] = true
	if _, _, _, _, _, err := c.exactly(); err == nil {
		t.Error("no error")
	}
}

// load is the state that the store's events come to.
func load(ctx context.Context, s store.Store) (*engine.State, store.Position, error) {
	l := &loader{store: s}
	err := l.load(ctx)
	return l.state, l.last, err
}
