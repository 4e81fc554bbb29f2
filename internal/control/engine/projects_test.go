package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The projects are those of the owners that are there, after any history, and of more than are asked for
// those of the newest owners.
func TestProjectsAreThoseOfTheOwners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewState()
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			id := fmt.Sprintf("%016x", rapid.IntRange(0, 20).Draw(t, "id"))
			o := s.Owner(id)
			if o == nil || rapid.Bool().Draw(t, "another value") { // in place as events that are read back do
				o = &Owner{ID: id, Created: noon.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "hour")) * time.Hour)}
			}
			o.Project = fmt.Sprintf("/project %d", rapid.IntRange(0, 6).Draw(t, "project"))
			o.Deleted = rapid.IntRange(0, 3).Draw(t, "deleted") == 0
			s.Put(o)
		}

		for most := 1; most < 8; most++ {
			var want []string
			for _, o := range s.Owners() {
				if !slices.Contains(want, o.Project) && len(want) < most {
					want = append(want, o.Project)
				}
			}
			slices.Sort(want)
			if got := s.Projects(most); !slices.Equal(got, want) {
				t.Fatalf("%q, want %q", got, want)
			}
		}
	})
}
