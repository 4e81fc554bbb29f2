package fleet

import (
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
)

// A job whose pipeline waits for a person says so on every machine, with the decision; and of what kind it is.
func TestIssue20AJobSaysThatItsPipelineAsks(t *testing.T) {
	w := newWorld(t)
	here, there, child := owner(1), owner(2), owner(3)
	there.Kind = "run"
	parent := daemonapi.Owner{ID: "0000000000000009", Kind: "pipeline", Name: "build", Status: "running", Created: noon}
	child.Parent = parent.ID
	goes := owner(4)
	goes.Status, goes.Decision = "running", nil
	laptop := w.machine("laptop", "ann", here, goes)
	w.machine("vps", "ann", there, child, parent)
	w.sees(laptop, 5)

	wants := map[string]struct{ asks, kind string }{
		here.ID: {here.Decision.ID, "pipeline"}, there.ID: {there.Decision.ID, "run"}, parent.ID: {child.Decision.ID, "pipeline"},
		goes.ID: {"", "pipeline"}, "ffffffffffffffff": {"", ""}, "": {"", ""},
	}
	laptop.own.mu.Lock()
	for id := range wants {
		laptop.own.jobs = append(laptop.own.jobs, daemonapi.Job{ID: "job" + id, Status: "running", Owner: id})
	}
	laptop.own.jobs = append(laptop.own.jobs, daemonapi.Job{ID: "over", Status: "done", Owner: here.ID})
	laptop.own.mu.Unlock()
	page, err := laptop.Jobs(t.Context(), &api.Query{Limit: 50})
	check(t, err)
	for _, j := range page.Items {
		want := wants[j.Owner]
		if j.Status == "done" {
			want.asks = ""
		}
		one, err := laptop.Job(t.Context(), j.ID)
		check(t, err)
		waits := 0
		if want.asks != "" {
			waits = 1
		}
		if j.Asks != want.asks || one.Asks != want.asks || len(j.Waits) != waits || len(one.Waits) != waits || one.Kind != want.kind {
			t.Errorf("%+v, %+v, not %+v", j, one, want)
		}
	}
}
