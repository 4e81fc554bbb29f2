package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// BenchmarkNow is what the web page Now asks for each time that it is drawn, by how many pipelines have
// ended. One runs, and it is the oldest.
func BenchmarkNow(b *testing.B) {
	for _, n := range []int{20, 10_000} {
		state := engine.NewState()
		plan := &runbook.Plan{Pipeline: shellPlan("one", "two", "three").Pipeline}
		for i := range n {
			o := &engine.Owner{ID: newID(i), Kind: engine.Pipeline, Name: "build", Project: "/p", Step: runbook.EndDone, Status: engine.Ended, Created: noon.Add(time.Duration(i) * time.Second), Plan: plan}
			if i == 0 {
				o.Step, o.Status = "one", engine.Running
			}
			state.Put(o)
		}
		p := planeOf(b, newCore(nil, state, 0, quiet(), time.Now))
		for name, ask := range map[string]func() error{
			"status":    func() error { _ = p.Status(b.Context()); return nil },
			"decisions": func() error { _, err := p.Decisions(b.Context(), &api.Query{Limit: 12}); return err },
			"settled":   func() error { _, err := p.Decisions(b.Context(), &api.Query{Past: true, Limit: 12}); return err },
			"working": func() error {
				_, err := p.Owners(b.Context(), &api.Query{Status: []string{"running", "queued", "waiting"}, Limit: 24})
				return err
			},
			"ended": func() error {
				_, err := p.Owners(b.Context(), &api.Query{Status: []string{"done", "failed", "cancelled"}, Limit: 8})
				return err
			},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if err := ask(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
