package conformance

import (
	"strings"
	"testing"
)

// enforced is a project where only approved content runs.
func enforced(t *testing.T) *gated {
	t.Helper()
	g := newGated(t, theCheck)
	g.global("trust: enforce\n")
	return g
}

func (g *gated) approve() {
	g.t.Helper()
	if r := g.call(nil, "trust", "--yes"); r.code != 0 {
		g.t.Fatalf("%+v", r)
	}
}

func TestRulingT1GatesRunUntrustedOnlyWithoutEnforcement(t *testing.T) {
	g := newGated(t, theCheck)
	g.stop().is(t, "passed")
	g.write("work.txt", "more\n")
	g.global("trust: enforce\n")
	g.stop().is(t, "untrusted")
	if g.runs() != 1 {
		t.Errorf("%d runs", g.runs())
	}
}

// A check's own file is content that runs: changing it changes what was approved.
func TestRulingT2GateFilesAreApprovedToo(t *testing.T) {
	g := newGated(t, "base_branch: main\nentry_points:\n  - {path: ., checks: [tests]}\n")
	g.global("trust: enforce\n")
	g.write(".gauntlet/checks/tests.yml", `command: echo run >> "$RUNS"; exit 1`)
	g.approve()
	g.write(".gauntlet/checks/tests.yml", "command: 'true'")
	a := g.stop()
	a.is(t, "failed")
	contains(t, a.SystemMessage, "differs from what was approved", "checks/tests.yml")
	if g.runs() != 1 {
		t.Errorf("%d runs", g.runs())
	}
}

func TestRulingT3UnapprovedGatesDoNotRun(t *testing.T) {
	g := enforced(t)
	g.write("bad", "")
	a := g.stop()
	a.is(t, "untrusted", "stopgate trust", "test ! -e bad")
	contains(t, a.SystemMessage, "stopgate trust", "test ! -e bad")
	if a.Decision != "approve" || g.runs() != 0 || exists(g.path("gauntlet_logs")) {
		t.Errorf("%d runs, %s", g.runs(), a.stdout)
	}
	if unified := g.chain(nil); unified.blocks() || g.runs() != 0 || !strings.Contains(unified.SystemMessage, "stopgate trust") {
		t.Errorf("the unified hook: %d runs, %s", g.runs(), unified.stdout)
	}
}

func TestRulingT4AnAgentCannotWeakenItsGates(t *testing.T) {
	t.Parallel()
	for name, weaken := range map[string]func(*gated){
		"edits them":   func(g *gated) { g.write(".gauntlet/config.yml", strings.ReplaceAll(theCheck, "test ! -e bad", "true")) },
		"breaks them":  func(g *gated) { g.write(".gauntlet/config.yml", "{") },
		"deletes them": func(g *gated) { g.remove(".gauntlet/config.yml") },
		"goes away": func(g *gated) {
			g.write("sub/.gauntlet/config.yml", strings.ReplaceAll(theCheck, "test ! -e bad", "true"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := enforced(t)
			g.approve()
			g.write("bad", "")
			weaken(g)
			a := g.stopWith(map[string]any{"cwd": g.path("sub")})
			a.is(t, "failed")
			if name != "goes away" {
				contains(t, a.SystemMessage, "the approved files run instead")
			}
		})
	}
}

func TestRulingT5AnAgentCannotApproveGates(t *testing.T) {
	g := enforced(t)
	g.set("CLAUDECODE=1")
	if r := g.call(nil, "trust", "--yes"); r.code == 0 {
		t.Errorf("%+v", r)
	}
	g.stop().is(t, "untrusted")
}
