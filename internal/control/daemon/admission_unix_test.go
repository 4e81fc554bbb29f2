//go:build unix

package daemon

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
)

const deploy = `
[command.build]
args = "<env>"
run = { pipeline = "deploy" }

[pipeline.deploy]
vars = ["env"]
concurrency = { group = "deploy-${var.env}", limit = 1 }

[[pipeline.deploy.step]]
name = "go"
run = 'deploy "${var.env}"'
`

// A pipeline that waits for room is to be seen, and can be cancelled.
func TestAQueuedPipelineIsSeenAndCancelled(t *testing.T) {
	w := newWorld()
	r, root := begin(t, w, options(t, w, newMemory(t))), project(t, deploy)
	for i := range 3 {
		r.start(t, newID(i+1), root)
	}
	what, so := at("go")
	r.reach(t, newID(1), what, so)
	second, err := r.Owner(t.Context(), newID(2))
	check(t, err)
	if second.Status != "queued" || second.Reason != "waits for deploy-you: 00000000" || second.WaitsFor.Limit != 1 || !slices.Equal(second.WaitsFor.Inside, []string{newID(1)}) {
		t.Errorf("%+v", second)
	}
	queued, err := r.Pipelines(t.Context(), daemonapi.Filter{Status: "queued"})
	check(t, err)
	status, err := r.Status(t.Context())
	check(t, err)
	if len(queued) != 2 || status.Pipelines != (daemonapi.Counts{Running: 1, Queued: 2}) {
		t.Errorf("%+v %+v", queued, status.Pipelines)
	}
	cancelled, err := r.Cancel(t.Context(), newID(2), daemonapi.Cancel{})
	check(t, err)
	if cancelled.Status != "cancelled" {
		t.Errorf("%+v", cancelled)
	}
	w.endAll(0)
	r.reach(t, newID(3), what, so)
	var log []string
	for line, err := range r.Log(t.Context(), newID(3), false) {
		check(t, err)
		log = append(log, line)
	}
	if got := strings.Join(log, "\n"); !strings.Contains(got, "queued in group deploy-you") || !strings.Contains(got, "there is room in group deploy-you") {
		t.Error(got)
	}
}

// However often the daemon ends, and whatever becomes of its appends: no more run at once than the
// limit, they begin in the order in which they were created, and all come to their end.
func TestGroupsSurviveTheDaemon(t *testing.T) {
	w, random := newWorld(), rand.New(rand.NewPCG(17, 5))
	var appends atomic.Int64
	unsure := &faulty{Store: newMemory(t)}
	o := options(t, w, unsure)
	r, root := begin(t, w, o), project(t, deploy)
	const all = 12
	for i := range all {
		_, err := r.Client.Start(t.Context(), daemonapi.Start{ID: newID(all - i), Project: root, Cwd: root, Command: "build", Args: []string{"prod"}})
		check(t, err)
	}
	unsure.set(nil, func(e store.NewEvent) error {
		if appends.Add(1)%5 == 0 {
			return store.ErrUnknown
		}
		return nil
	})
	for i := range all {
		id := newID(all - i)
		r.reach(t, id, "its turn", func(o daemonapi.Owner) bool { return o.Step == "go" })
		if random.IntN(2) == 0 {
			r.stop(t)
			r = begin(t, w, o)
		}
		w.until(t, "the command", func() bool { return len(w.started) == i+1 })
		for _, key := range w.keys() {
			if strings.HasPrefix(key, id) {
				w.end(key, 0)
			}
		}
		r.reach(t, id, "its end", func(o daemonapi.Owner) bool { return o.Status == "done" })
	}
	unsure.set(nil, nil)
	r.stop(t)
	if most := mostInside(t, unsure); most != 1 {
		t.Errorf("%d were inside at once", most)
	}
}

// mostInside is how many pipelines were running at once, as the store has it.
func mostInside(t *testing.T, s store.Store) (most int) {
	t.Helper()
	inside := map[string]bool{}
	owners := map[string]*engine.Owner{}
	for e, err := range s.ReadAll(t.Context(), 0) {
		check(t, err)
		id, ours := ownerOf(e.Subject)
		if !ours {
			continue
		}
		owners[id], err = fold(owners[id], e)
		check(t, err)
		delete(inside, id)
		if o := owners[id]; o.Status == engine.Running || o.Terminal() && len(o.Effects) > 0 {
			inside[id] = true
		}
		most = max(most, len(inside))
	}
	if len(owners) == 0 {
		t.Error("there is no owner")
	}
	return most
}
