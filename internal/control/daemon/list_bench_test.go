package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// BenchmarkLists has pages of 50 by how many owners there are, each with three agents that have ended.
func BenchmarkLists(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		state := engine.NewState()
		plan := &runbook.Plan{Pipeline: shellPlan("one", "two", "three").Pipeline}
		for i := range n {
			at := noon.Add(time.Duration(i) * time.Second)
			o := &engine.Owner{ID: newID(i), Kind: engine.Pipeline, Name: "build", Project: "/p", Step: runbook.EndDone, Status: engine.Ended, Created: at, Plan: plan}
			for j, step := range plan.Pipeline.Steps {
				o.History = append(o.History, engine.Visit{Step: step.Name, AgentID: fmt.Sprintf("%s-%d", o.ID, j), Started: at.Add(time.Duration(j) * time.Minute), Finished: at.Add(time.Hour), Outcome: "completed"})
			}
			state.Put(o)
		}
		p := planeOf(b, newCore(nil, state, 0, quiet(), time.Now))
		for name, list := range map[string]func(q *api.Query) error{
			"owners":    func(q *api.Query) error { _, err := p.Owners(b.Context(), q); return err },
			"agents":    func(q *api.Query) error { _, err := p.Agents(b.Context(), q); return err },
			"decisions": func(q *api.Query) error { _, err := p.Decisions(b.Context(), q); return err },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if err := list(&api.Query{Limit: 50, Past: true}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
