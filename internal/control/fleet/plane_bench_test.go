package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/view"
)

// BenchmarkMergedLists has pages of 50 of a machine that is alone, and of one that sees 200 others with 100
// pipelines each.
func BenchmarkMergedLists(b *testing.B) {
	for _, members := range []int{0, 200} {
		own := &ownPlane{owners: map[string]daemonapi.Owner{owner(1).ID: owner(1)}}
		f := New(Options{Plane: own, Now: time.Now})
		for m := range members {
			for i := range 100 {
				text, err := view.Encode(owner(m<<16|i), true)
				if err != nil {
					b.Fatal(err)
				}
				f.others.Take(fmt.Sprint("m", m), owner(m<<16|i).ID, text)
			}
		}
		p := f.Merged()
		for name, list := range map[string]func(q *api.Query) error{
			"owners":    func(q *api.Query) error { _, err := p.Owners(b.Context(), q); return err },
			"decisions": func(q *api.Query) error { _, err := p.Decisions(b.Context(), q); return err },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, members), func(b *testing.B) {
				for b.Loop() {
					if err := list(&api.Query{Limit: 50, Parent: api.AnyParent}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
