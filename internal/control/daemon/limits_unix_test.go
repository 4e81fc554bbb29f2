//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// An agent may edit the runbook that it was started by, and even wait for another daemon: its
// limits stay those of its start.
func TestLimitsAreOutsideTheAgentsReach(t *testing.T) {
	limits := "[pipeline.build]\nbudget = { usd = 1.5, time = \"1h\" }\nexpire = { after = \"8h\", answer = \"cancel\" }\n"
	root := project(t, "max_agents = 2\n"+strings.Replace(twoSteps, "[pipeline.build]\n", limits, 1))
	w, s := newWorld(), newMemory(t)
	r := begin(t, w, options(t, w, s))
	r.start(t, anID, root)
	w.runs(t, "echo one \"you\"")
	check(t, os.WriteFile(filepath.Join(root, ".gauntlet", "runbooks", "book.toml"), []byte(twoSteps), 0o600))
	r.stop(t)
	r = begin(t, w, r.opts)
	w.endAll(0)
	what, so := at("two")
	r.reach(t, anID, what, so)
	r.stop(t)

	state, _, err := load(t.Context(), s)
	check(t, err)
	o := state.Owner(anID)
	type held struct {
		Budget    runbook.Budget
		Expire    runbook.Expire
		MaxAgents int
	}
	want := held{runbook.Budget{USD: 1.5, Time: time.Hour}, runbook.Expire{After: 8 * time.Hour, Answer: "cancel"}, 2}
	if diff := cmp.Diff(want, held{o.Budget(), o.Plan.Pipeline.Expire, o.Plan.MaxAgents}); diff != "" {
		t.Error(diff)
	}
}
