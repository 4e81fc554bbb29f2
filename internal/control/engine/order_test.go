package engine

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever is put and deleted, in whichever order, owners are listed newest first, and a list that
// is read in parts has each that was there all the time exactly once.
func TestOwnersKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state, all := NewState(), map[string]*Owner{}
		change := func() {
			id := fmt.Sprintf("%016x", rapid.IntRange(0, 30).Draw(t, "id"))
			o := &Owner{ID: id, Created: noon.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "hour")) * time.Hour)}
			if old := all[id]; old != nil {
				o.Created, o.Deleted = old.Created, rapid.Bool().Draw(t, "deleted")
				o.Agent = &Agent{ID: "agent-" + id, Session: "s-" + id}
			}
			state.Put(o)
			if all[id] = o; o.Deleted {
				delete(all, id)
			}
		}
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			change()
		}
		wantOrder(t, state, all)

		before, seen := map[string]bool{}, map[string]int{}
		for id := range all {
			before[id] = true
		}
		for at := (Place{}); ; {
			part := slices.Collect(take(state, at, 3))
			if len(part) == 0 {
				break
			}
			for _, o := range part {
				seen[o.ID]++
				at = o.Place()
			}
			change()
			for id := range before {
				before[id] = before[id] && all[id] != nil
			}
		}
		for id, stayed := range before {
			if stayed && seen[id] != 1 {
				t.Errorf("%s was listed %d times", id, seen[id])
			}
		}
	})
}

// take are the first owners behind a place.
func take(s *State, at Place, most int) func(yield func(*Owner) bool) {
	return func(yield func(*Owner) bool) {
		left := most
		for o := range s.After(at) {
			if left == 0 || !yield(o) {
				return
			}
			left--
		}
	}
}

func wantOrder(t *rapid.T, state *State, all map[string]*Owner) {
	want := []*Owner{}
	for _, o := range all {
		want = append(want, o)
	}
	slices.SortFunc(want, func(a, b *Owner) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	if got := state.Owners(); !slices.Equal(got, want) || state.Len() != len(want) {
		t.Errorf("the order is %v, want %v", ids(got), ids(want))
	}
}

func ids(owners []*Owner) (ids []string) {
	for _, o := range owners {
		ids = append(ids, o.ID)
	}
	return ids
}
