package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// What is kept of owners that live and of those that have ended is what one finds by looking at all, after
// any history.
func TestLiveIsWhatHasNotEnded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := NewState()
	begin := time.Unix(1_700_000_000, 0)
	steps := []string{"work", "work", runbook.EndDone, runbook.EndFailed, runbook.EndCancelled}
	for range 3000 {
		n := random.IntN(60)
		o := &Owner{ID: string(rune('a'+n%26)) + string(rune('a'+n/26)), Kind: Pipeline, Step: steps[random.IntN(len(steps))], Created: begin.Add(time.Duration(n%7) * time.Second), Plan: &runbook.Plan{}}
		o.Deleted = random.IntN(10) == 0
		if n%5 == 0 {
			o.Kind = AgentRun
		}
		if n%3 == 0 {
			o.Parent = &Parent{ID: "parent"}
		}
		if o.Step != "work" {
			o.Status = Ended
		}
		if known := s.Owner(o.ID); known != nil && random.IntN(2) == 0 { // as events that are read back do
			known.Step, known.Status, known.Deleted = o.Step, o.Status, o.Deleted
			o = known
		}
		s.Put(o)

		var live []*Owner
		ends := map[AtEnd]int{}
		for _, o := range s.Owners() {
			switch {
			case !o.Terminal():
				live = append(live, o)
			case o.Parent == nil:
				ends[AtEnd{o.Kind, o.Step}]++
			}
		}
		if !slices.Equal(live, s.Live()) {
			t.Fatalf("%d live, %d found", len(live), len(s.Live()))
		}
		if diff := cmp.Diff(ends, s.Ends()); diff != "" {
			t.Fatal(diff)
		}
	}
}
