package effect

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// of is an owner whose runbook has room for so many agents, and that wants to start one.
func of(project, book string, atMost int, id string) *engine.Owner {
	o := open("o"+id, fresh(agent(id+"1", id, 0)))
	o.Project, o.Plan = project, &runbook.Plan{Runbook: book, MaxAgents: atMost}
	return o
}

func TestAtMostOfARunbook(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(of("/p", "x", 2, "a"))
		synctest.Wait()
		w.put(of("/p", "x", 2, "b"))
		synctest.Wait()
		w.put(of("/p", "x", 2, "c"))
		synctest.Wait()
		w.put(of("/p", "y", 1, "d")) // another runbook
		synctest.Wait()
		w.put(of("/q", "x", 2, "e")) // another project
		synctest.Wait()
		if diff := cmp.Diff([]bool{false, false, true, false, false}, w.queued("a", "b", "c", "d", "e")); diff != "" {
			t.Error(diff)
		}
		w.end("b") <- errand.Result{}
		synctest.Wait()
		if w.worker.Queued("c") {
			t.Error("there is room, and it waits")
		}
	})
}

func (w *world) queued(agents ...string) (all []bool) {
	for _, a := range agents {
		all = append(all, w.worker.Queued(a))
	}
	return all
}

// The limit of the machine holds for all, and a person may change it.
func TestAtMostOnTheMachine(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		most := 1
		w.worker.slots.most = func() int { return most }
		for _, id := range []string{"a", "b", "c"} {
			w.put(of("/"+id, id, 0, id))
			synctest.Wait()
		}
		if diff := cmp.Diff([]bool{false, true, true}, w.queued("a", "b", "c")); diff != "" {
			t.Error(diff)
		}
		w.worker.slots.mu.Lock()
		most = 2
		w.worker.slots.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]bool{false, false, true}, w.queued("a", "b", "c")); diff != "" {
			t.Error(diff)
		}
		w.worker.slots.mu.Lock()
		most = 0
		w.worker.slots.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if w.worker.Queued("c") {
			t.Error("there is no limit, and it waits")
		}
	})
}

// However they come and go, no place ever has more than it has room for, nobody waits
// where there is room and nobody before them, and everybody has their turn.
func TestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 3).Draw(t, "machine")
		s := slots{most: func() int { return most }}
		room := map[place]int{}
		draw := func() []limit {
			var all []limit
			for _, p := range []place{
				{project: "p", name: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name")},
				{project: "p", runbook: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "runbook")},
			} {
				if _, known := room[p]; !known {
					room[p] = rapid.IntRange(0, 2).Draw(t, "room")
				}
				all = append(all, limit{p, room[p]})
			}
			return all
		}
		granted := map[string]<-chan struct{}{}
		var order []string
		in := func(agent string) bool {
			select {
			case <-granted[agent]:
				return true
			default:
				return false
			}
		}
		for n := range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(order) > 0 && rapid.Bool().Draw(t, "release") {
				i := rapid.IntRange(0, len(order)-1).Draw(t, "which")
				s.release(order[i])
				delete(granted, order[i])
				order = slices.Delete(order, i, i+1)
			} else {
				id := strconv.Itoa(n)
				granted[id] = s.apply(id, draw())
				order = append(order, id)
			}
			counts := map[place]int{}
			for _, id := range order {
				if in(id) != !s.waits(id) {
					t.Fatalf("%s is in: %v, and waits: %v", id, in(id), s.waits(id))
				}
				if in(id) {
					counts[machine]++
					for _, l := range s.live[id] {
						counts[l.place]++
					}
				}
			}
			free := func(p place, atMost int) bool { return atMost == 0 || counts[p] < atMost }
			for p, n := range counts {
				if atMost := room[p]; p != machine && atMost > 0 && n > atMost || p == machine && most > 0 && n > most {
					t.Fatalf("%d at %v", n, p)
				}
			}
			if len(s.waiting) > 0 {
				first := s.waiting[0]
				fits := free(machine, most)
				for _, l := range first.limits {
					fits = fits && free(l.place, l.atMost)
				}
				if fits {
					t.Fatalf("there is room for %s", first.agent)
				}
			}
		}
		for len(order) > 0 { // whoever is in leaves: in the end nobody waits
			i := slices.IndexFunc(order, in)
			if i < 0 {
				t.Fatalf("%v wait for nobody", order)
			}
			s.release(order[i])
			order = slices.Delete(order, i, i+1)
		}
	})
}

// Nobody overtakes another at a place that is full for the other, also who is content with
// less room; elsewhere one need not wait.
func TestSlotsInTheirOrder(t *testing.T) {
	x := place{project: "p", name: "x"}
	var s slots
	s.hold("first", []limit{{x, 1}})
	s.apply("second", []limit{{x, 1}})
	s.apply("third", []limit{{x, 2}})
	s.apply("elsewhere", []limit{{place{project: "q", name: "x"}, 1}})
	s.apply("without limit", []limit{{x, 0}})
	for agent, want := range map[string]bool{"second": true, "third": true, "elsewhere": false, "without limit": false} {
		if s.waits(agent) != want {
			t.Errorf("%s waits: %v", agent, !want)
		}
	}
	s.release("without limit")
	s.release("first")
	if s.waits("second") || s.waits("third") {
		t.Error("there is room for both")
	}
}
