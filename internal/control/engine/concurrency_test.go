package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// put keeps the state that owners are admitted by, and holds that no more are in a group than its
// limit, which is the end of its name.
func (s *simulation) put(a *actor) {
	if a.o == nil {
		return
	}
	if a.born == 0 {
		s.serial++
		a.born = s.serial
	}
	a.o.Born = uint64(a.born)
	s.state.Put(a.o)
	for g, c := range s.state.groups {
		if limit := int(g.name[len(g.name)-1] - '0'); len(c.inside) > limit {
			s.t.Fatalf("%d are in group %s: %v", len(c.inside), g.name, c.inside)
		}
	}
	if !s.admitting && s.up {
		s.admitting = true
		s.daemon(time.Millisecond, time.Second, s.admit)
	}
}

// admit is what the daemon does for those that wait for room. It may die between any two of them.
func (s *simulation) admit() {
	s.admitting = false
	actors := map[string]*actor{}
	for _, a := range s.owners {
		actors[a.id] = a
	}
	due := s.state.Admission()
	for _, c := range due.Cancel {
		s.tell(actors[c.Owner], Input{ID: "superseded:" + c.By, What: Cancel{c.Why}})
	}
	for _, o := range due.Admit {
		if s.chance(3) {
			s.kill()
			return
		}
		s.tell(actors[o.ID], Input{ID: fmt.Sprint("admit:", len(actors[o.ID].log)), What: Admit{}})
	}
}

// crew are owners of one group.
type crew struct {
	t     *testing.T
	state *State
	all   []*stage
}

// join starts a pipeline of the group; it has the next letter.
func (c *crew) join(plan runbook.Plan) {
	c.t.Helper()
	s := newStage(c.t, fmt.Sprintf("%016x", 0xff-len(c.all))) // ids say nothing about the order
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "fix", Command: "fix", Project: "/p", Cwd: "/p", Vars: map[string]string{"env": "prod"}, Plan: plan})
	c.all = append(c.all, s)
	c.put()
}

func (c *crew) put() {
	for i, s := range c.all {
		s.o.Born = uint64(i + 1)
		c.state.Put(s.o)
	}
}

// admit admits and cancels whom the state says, once, and returns both as letters.
func (c *crew) admit() string {
	c.t.Helper()
	var did []string
	due := c.state.Admission()
	for i, s := range c.all {
		for _, o := range due.Cancel {
			if o.Owner == s.id {
				s.do(Cancel{o.Why})
				did = append(did, "-"+string(rune('a'+i)))
			}
		}
		for _, o := range due.Admit {
			if o.ID == s.id {
				s.do(Admit{})
				did = append(did, string(rune('a'+i)))
			}
		}
	}
	c.put()
	return strings.Join(did, " ")
}

// ends lets a pipeline's command end.
func (c *crew) ends(i, code int) {
	c.t.Helper()
	s := c.all[i]
	s.carryOut()
	s.do(ShellExited{Key: s.o.Shell.Key, Code: code})
	s.carryOut()
	c.put()
}

func grouped(limit int, full runbook.WhenFull) runbook.Plan {
	p := shells("a")
	p.Pipeline.Concurrency = runbook.Concurrency{Group: "deploy-${var.env}", Limit: limit, WhenFull: full}
	return p
}

func newCrew(t *testing.T, n, limit int, full runbook.WhenFull) *crew {
	t.Helper()
	c := &crew{t: t, state: NewState()}
	for range n {
		c.join(grouped(limit, full))
	}
	return c
}

// Those that wait for room begin in the order of creation, and not before there is room.
func TestGroupsAdmitInTheOrderOfCreation(t *testing.T) {
	c := newCrew(t, 4, 2, runbook.FullWait)
	c.all[0].is("", Queued)
	if did := c.admit(); did != "a b" {
		t.Fatal(did)
	}
	c.all[0].is("a", Running)
	if inside := c.state.Inside(c.all[2].o); len(inside) != 2 || inside[0] != c.all[0].id {
		t.Error(inside)
	}
	c.ends(1, 0)
	if did := c.admit() + "," + c.admit(); did != "c," {
		t.Fatal(did)
	}
	c.ends(0, 1)
	c.ends(2, 0)
	c.join(grouped(2, runbook.FullWait))
	if did := c.admit(); did != "d e" {
		t.Fatal(did)
	}
}

// An owner takes room until all that ran for it has ended.
func TestGroupsHoldUntilNothingRuns(t *testing.T) {
	c := newCrew(t, 2, 1, runbook.FullWait)
	c.admit()
	first := c.all[0]
	first.do(EffectStarted{first.o.Effects[0].Key})
	first.do(Cancel{"enough"})
	c.put()
	if first.is(runbook.EndCancelled, Ended); c.admit() != "" {
		t.Fatal("admitted while the command of the first is being ended")
	}
	first.carryOut()
	if c.put(); c.admit() != "b" {
		t.Fatal("not admitted")
	}
}

// With when_full = "cancel" the newest stay, as many as the limit, waiting or running.
func TestGroupsCancelTheOldest(t *testing.T) {
	c := newCrew(t, 1, 2, runbook.FullCancel)
	c.admit()
	c.join(grouped(2, runbook.FullCancel))
	c.admit()
	c.join(grouped(2, runbook.FullCancel))
	c.join(grouped(2, runbook.FullCancel))
	if did := c.admit(); did != "-a -b" {
		t.Fatal(did)
	}
	if why := c.all[0].o.Cancelled; why != "superseded by "+c.all[2].id[:8]+" in group deploy-prod" {
		t.Error(why)
	}
	c.all[0].carryOut()
	c.all[1].carryOut()
	if c.put(); c.admit() != "c d" {
		t.Fatal("not admitted")
	}
}

// What waits can be cancelled: nothing of it runs, neither on_cancel nor finally.
func TestGroupsCancelWhatWaits(t *testing.T) {
	plan := grouped(1, runbook.FullWait)
	plan.Pipeline.Finally, plan.Pipeline.OnCancel = "a", "a"
	plan.Pipeline.Notify.OnCancel = "gave up: ${error}"
	c := newCrew(t, 1, 1, runbook.FullWait)
	c.join(plan)
	c.admit()
	s := c.all[1]
	s.do(Cancel{"enough"})
	s.is(runbook.EndCancelled, Ended)
	if s.effects() != string(NotifyPerson) || s.effect(NotifyPerson).Text != "gave up: enough" {
		t.Error(text(s.last))
	}
	if r := s.refused(Resume{}); !strings.Contains(r.Why, "cancelled") {
		t.Error(r)
	}
}

// A pipeline that is resumed waits for room again, with what it is to go on with.
func TestGroupsTakeBackWhatIsResumed(t *testing.T) {
	c := newCrew(t, 2, 1, runbook.FullWait)
	c.admit()
	c.ends(0, 1)
	c.admit()
	s := c.all[0]
	s.do(Resume{Vars: map[string]string{"env": "test"}})
	s.is("", Queued)
	if s.o.Turn.Group != "deploy-test" {
		t.Error(s.o.Turn)
	}
	if c.put(); c.admit() != "a" {
		t.Fatal("another group has room")
	}
	s.is("a", Running)
	if s.o.Visits["a"] != 1 || s.effects() != string(StartShell) {
		t.Error(text(s.last))
	}
}

// Waiting for room is none of the budget's time.
func TestGroupsWaitForNothingOfTheBudget(t *testing.T) {
	plan := grouped(1, runbook.FullWait)
	plan.Pipeline.Budget.Time = time.Minute
	s := start(t, plan)
	s.now = s.now.Add(time.Hour)
	s.do(Admit{})
	if s.is("a", Running); s.o.Ran != 0 || !s.o.Timers[budget].Equal(s.now.Add(time.Minute)) {
		t.Error(s.o.Ran, s.o.Timers)
	}
}

// An owner whose record is damaged keeps its room, and lets the others pass where it waits.
func TestGroupsPassByWhatIsHeld(t *testing.T) {
	c := newCrew(t, 3, 2, runbook.FullWait)
	c.state.Held = map[string]string{Subject(Pipeline, c.all[0].id): "damaged"}
	if did := c.admit(); did != "b c" {
		t.Fatal(did)
	}
	c.state.Held = map[string]string{Subject(Pipeline, c.all[1].id): "damaged"}
	if did := c.admit(); did != "" {
		t.Fatal(did)
	}
}

// A snapshot keeps who waits and in which order.
func TestGroupsAreInSnapshots(t *testing.T) {
	c := newCrew(t, 3, 1, runbook.FullWait)
	c.admit()
	data, err := EncodeState(c.state.Owners(), nil, nil)
	check(t, err)
	c.state, err = DecodeState(data)
	check(t, err)
	if did := c.admit(); did != "" {
		t.Fatal(did)
	}
	c.ends(0, 0)
	if did := c.admit(); did != "b" {
		t.Fatal(did)
	}
}

// What cannot be recorded when there is room fails the owner, which takes none.
func TestGroupsTooLarge(t *testing.T) {
	plan := grouped(1, runbook.FullWait)
	plan.Pipeline.Finally = "a"
	plan.Pipeline.Steps[0].Run.Shell = strings.Repeat("${var.x}", 100)
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "fix", Command: "fix", Project: "/p", Cwd: "/p", Vars: map[string]string{"x": strings.Repeat("x", 4000)}, Plan: plan})
	s.do(Admit{})
	s.is(runbook.EndFailed, Ended)
}
