//go:build unix

package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// branchPlan is a step with two branches, of which the second needs the first.
func branchPlan() runbook.Plan {
	return runbook.Plan{Pipeline: runbook.Pipeline{Name: "wide", Steps: []runbook.Step{
		{Name: "all", Parallel: true},
		{Name: "left", Of: "all", Run: runbook.Run{Shell: "left"}},
		{Name: "right", Of: "all", Run: runbook.Run{Shell: "right"}, Needs: []string{"left"}},
	}}}
}

// A pipeline does not wait for ever for a branch that is gone.
func TestAChildThatIsMissingHasFailed(t *testing.T) {
	c := testCore(newMemory(t))
	o := do(t, c, anID, create(anID, branchPlan()))
	check(t, c.missChildren(t.Context()))
	if now := c.owner(anID); now.Terminal() {
		t.Fatal("it is not started yet, and counts as missing")
	}
	done(t, c, anID)
	check(t, children{c}.Start(t.Context(), o, o.Offspring.Children[0].ID))
	check(t, c.missChildren(t.Context()))
	if now := c.owner(anID); now.Terminal() {
		t.Fatal("it is there, and counts as missing")
	}
	c.hold(engine.Subject(engine.Pipeline, o.Offspring.Children[0].ID), "a test")
	c.release(engine.Subject(engine.Pipeline, o.Offspring.Children[0].ID), o.Offspring.Children[0].ID)
	check(t, c.missChildren(t.Context()))
	if now := c.owner(anID); now.Step != runbook.EndFailed || !strings.Contains(now.Error, "given up") {
		t.Errorf("%s: %s", now.Step, now.Error)
	}
}

// What branches, items and used pipelines leave on disk goes with the pipeline that ran them, and not
// before.
func TestChildrenGoWithTheirParent(t *testing.T) {
	d := attic(t, 0)
	o := do(t, d.core, anID, create(anID, branchPlan()))
	child := o.Offspring.Children[0].ID
	check(t, children{d.core}.Start(t.Context(), o, child))
	end := func(id string) {
		t.Helper()
		key := done(t, d.core, id).Shell.Key
		do(t, d.core, id, engine.Input{ID: "ends", Time: noon, What: engine.ShellExited{Key: key, Code: 1}})
		done(t, d.core, id)
	}
	end(child)
	later := time.Now().Add(time.Hour)
	if pruned, err := d.prune(t.Context(), daemonapi.Prune{Before: &later}); err != nil || len(pruned.Owners) != 0 {
		t.Fatalf("%+v, %v", pruned, err)
	}
	done(t, d.core, anID)
	do(t, d.core, anID, engine.Input{ID: "reported", Time: noon, What: d.core.owner(child).Report()})
	if pruned, err := d.prune(t.Context(), daemonapi.Prune{Before: &later}); err != nil || len(pruned.Owners) != 1 || pruned.Owners[0].ID != anID {
		t.Fatalf("%+v, %v", pruned, err)
	}
	if left := d.core.owners(); len(left) != 0 {
		t.Errorf("%d are left", len(left))
	}
}

// The graph says how far each branch is, and which pipeline it is.
func TestGraphOfBranches(t *testing.T) {
	c := testCore(newMemory(t))
	o := do(t, c, anID, create(anID, branchPlan()))
	left := o.Offspring.Children[0].ID
	check(t, children{c}.Start(t.Context(), o, left))
	look := func() (nodes map[string]daemonapi.Node) {
		nodes = map[string]daemonapi.Node{}
		c.look(func(s *engine.State) {
			for _, n := range graphView(s.Owner(anID), s.Children(anID)).Nodes {
				nodes[n.Name] = n
			}
		})
		return nodes
	}
	if n := look()["left"]; n.State != "running" || n.Pipeline != left || n.Of != "all" {
		t.Errorf("%+v", n)
	}
	if n := look()["right"]; n.State != notReached || n.Pipeline != "" {
		t.Errorf("%+v", n)
	}
	do(t, c, left, engine.Input{ID: "ends", Time: noon, What: engine.ShellExited{Key: c.owner(left).Shell.Key, Code: 1}})
	do(t, c, anID, engine.Input{ID: "reported", Time: noon, What: c.owner(left).Report()})
	if n := look()["left"]; n.State != "failed" {
		t.Errorf("%+v", n)
	}
	if n := look()["right"]; n.State != "skipped" {
		t.Errorf("%+v", n)
	}
}
