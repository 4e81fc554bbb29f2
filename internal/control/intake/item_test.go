package intake

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Workers take items in order, as many as they may, and not before they are ready.
func TestWorkersTakeInOrder(t *testing.T) {
	p, w := &Project{Root: "/p"}, Crew{"w", "q", 2}
	for i := range 4 {
		do(t, p, monday, Fact{Type: ItemAdded, ID: fmt.Sprint(9 - i), Queue: "q", Vars: map[string]string{"n": fmt.Sprint(i)}})
	}
	do(t, p, monday, Fact{Type: ItemAdded, ID: "other", Queue: "other"})
	next := func(at time.Duration) (ids string) {
		for _, i := range p.Next(w, monday.Add(at)) {
			ids += i.ID
		}
		return ids
	}
	if next(0) != "" {
		t.Error("a worker that was not started takes something")
	}
	do(t, p, monday, Fact{Type: WorkerStarted, Name: "w"})
	if next(0) != "98" {
		t.Error(next(0))
	}
	do(t, p, monday, p.Take(w, p.Items["9"]))
	do(t, p, monday, Fact{Type: ItemFailed, ID: "9", Error: "no", Ready: monday.Add(time.Hour)})
	if next(0) != "87" || next(time.Hour) != "98" || !p.Wakes(monday).Equal(monday.Add(time.Hour)) {
		t.Error(next(0), next(time.Hour))
	}
	again := p.Take(w, p.Items["9"])
	if first := p.Items["9"].Owner; again.Owner == first {
		t.Error("two attempts have one owner")
	}
	do(t, p, monday, Fact{Type: ItemFailed, ID: "9", Error: "no"})
	if i := p.Items["9"]; i.State != Dead || i.Failures != 2 || !i.Over() {
		t.Errorf("%+v", i)
	}
	do(t, p, monday, Fact{Type: ItemRetried, ID: "9"}, Fact{Type: ItemDropped, ID: "8"})
	if next(0) != "97" || p.Items["9"].Failures != 0 {
		t.Error(next(0))
	}
	do(t, p, monday, Fact{Type: WorkerStopped, Name: "w"})
	if next(0) != "" {
		t.Error("a worker that was stopped takes something")
	}
}

// Whatever happens, no worker has more items than its limit, each attempt has an owner of its own, and
// no item is lost.
func TestItemsAreNeverLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, now := &Project{Root: "/p"}, monday
		crews := []Crew{{"w", "q", 2}, {"v", "q", 1}}
		added, dropped, owners := 0, 0, map[string]bool{}
		for range rapid.IntRange(1, 80).Draw(t, "length") {
			now = now.Add(time.Minute)
			all := p.InOrder()
			pick := func(state ...Standing) *Item {
				for _, i := range all {
					for _, s := range state {
						if i.State == s && rapid.Bool().Draw(t, "this") {
							return i
						}
					}
				}
				return nil
			}
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1:
				added++
				do(t, p, now, Fact{Type: ItemAdded, ID: fmt.Sprint("i", added), Queue: "q", Key: fmt.Sprint(added)})
			case 2:
				do(t, p, now, Fact{Type: rapid.SampledFrom([]Type{WorkerStarted, WorkerStarted, WorkerStopped}).Draw(t, "switch"), Name: rapid.SampledFrom([]string{"w", "v"}).Draw(t, "worker")})
			case 3, 4:
				w := rapid.SampledFrom(crews).Draw(t, "crew")
				for _, i := range p.Next(w, now) {
					f := p.Take(w, i)
					if owners[f.Owner] {
						t.Fatalf("%s is started twice", f.Owner)
					}
					owners[f.Owner] = true
					do(t, p, now, f)
				}
			case 5:
				if i := pick(Running); i != nil {
					do(t, p, now, rapid.SampledFrom([]Fact{{Type: ItemDone, ID: i.ID}, {Type: ItemFailed, ID: i.ID, Ready: now.Add(time.Minute)}, {Type: ItemFailed, ID: i.ID}, {Type: ItemReturned, ID: i.ID}}).Draw(t, "end"))
				}
			case 6:
				if i := pick(Dead, Done); i != nil {
					do(t, p, now, Fact{Type: ItemRetried, ID: i.ID})
				}
			case 7:
				if i := pick(Pending, Dead); i != nil {
					dropped++
					do(t, p, now, Fact{Type: ItemDropped, ID: i.ID})
				}
			}
			running := map[string]int{}
			for _, i := range p.Running() {
				running[i.Worker]++
			}
			if running["w"] > 2 || running["v"] > 1 || len(p.Items) != added-dropped {
				t.Fatalf("%v, %d items of %d", running, len(p.Items), added-dropped)
			}
		}
		text, err := json.Marshal(State{"/p": p}.Clone())
		if err != nil {
			t.Fatal(err)
		}
		again := State{}
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.InOrder(), again["/p"].InOrder()); diff != "" {
			t.Fatal(diff)
		}
	})
}
