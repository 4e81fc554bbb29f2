package conformance

import (
	"strings"
	"testing"
	"time"
)

// Only an external gauntlet's words count; what a check of ours prints is output.
func TestRuling12OurGatesNeverEndInATermination(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", "echo Status':' Passed; false"))
	g.stop().is(t, "failed")
}

func TestRuling14AGateThatCouldNotRun(t *testing.T) {
	t.Parallel()
	two := func(first, second string) string {
		return "base_branch: main\nentry_points:\n  - path: .\n    checks:\n" +
			"      - {name: one, command: " + first + "}\n      - {name: two, command: " + second + "}\n"
	}
	for name, tt := range map[string]struct{ config, status string }{
		"beside one that failed":    {two("no-such-tool", "'false'"), "failed"},
		"beside one that passed":    {two("no-such-tool", "'true'"), "infrastructure_error"},
		"not executable":            {two("./work.txt", "'true'"), "infrastructure_error"},
		"with on_error: block":      {two("no-such-tool, on_error: block", "'true'"), "failed"},
		"with on_error: allow":      {two("no-such-tool, on_error: allow", "'true'"), "infrastructure_error"},
		"its folder does not exist": {two("'true', working_directory: nowhere", "'true'"), "infrastructure_error"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, tt.config)
			a := g.stop()
			a.is(t, tt.status)
			contains(t, a.Reason+a.SystemMessage, "check:.:one")
		})
	}
}

func TestRuling14AnOpenFailureThatCannotRunStaysFailed(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", "./tests.sh"))
	g.write("tests.sh", "exit 1\n")
	g.git("add", "tests.sh")
	g.git("update-index", "--chmod=+x", "tests.sh")
	chmod(t, g.path("tests.sh"), 0o700)
	g.stop().is(t, "failed")
	chmod(t, g.path("tests.sh"), 0o600)
	a := g.stop()
	a.is(t, "failed")
	contains(t, a.Reason, "cannot be executed", "it ran here before")
}

func TestRuling16TheIntervalHidesNoOpenFailure(t *testing.T) {
	g := newGated(t, theCheck)
	g.set("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES=10")
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.stop().is(t, "failed")
	g.remove("bad")
	g.stop().is(t, "passed")
	g.write("bad", "")
	g.stop().is(t, "interval_not_elapsed") // nothing is open, so the interval counts
	if g.runs() != 3 {
		t.Errorf("%d runs", g.runs())
	}
}

// Proven trees cost nothing, so a new project looks at every stop, and verifies.
func TestRuling16InitAsksAtEveryStop(t *testing.T) {
	t.Parallel()
	g := bare(t)
	g.set("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES=")
	if r := g.call(nil, "init", "--yes", "--check", `echo run >> "$RUNS"; test ! -e bad`); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	g.stop().is(t, "passed")
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.stopWith(map[string]any{"stop_hook_active": true}).is(t, "failed")
	if g.runs() != 3 {
		t.Errorf("%d runs", g.runs())
	}
}

func TestRuling17ReasonAndStopReasonAreTheSame(t *testing.T) {
	_, a := blocked(t)
	if a.Reason == "" || a.Reason != a.StopReason {
		t.Errorf("reason %q, stopReason %q", a.Reason, a.StopReason)
	}
}

// With verify_fixes a block is followed by a check, and the text says so; without
// it neither.
func TestRuling113VerifyFixes(t *testing.T) {
	t.Parallel()
	const promise = "this hook reruns the gates to verify your fixes"
	flagged := map[string]any{"stop_hook_active": true}
	t.Run("off", func(t *testing.T) {
		g := newGated(t, theCheck)
		g.write("bad", "")
		if a := g.stop(); strings.Contains(a.Reason, promise) {
			t.Errorf("an empty promise: %s", a.Reason)
		}
		g.stopWith(flagged).is(t, "stop_hook_active")
		if g.runs() != 1 {
			t.Errorf("%d runs", g.runs())
		}
	})
	t.Run("on", func(t *testing.T) {
		g := newGated(t, theCheck+"stop_hook: {verify_fixes: true}\n")
		g.stopWith(flagged).is(t, "stop_hook_active") // nothing is open
		g.write("bad", "")
		contains(t, g.stop().Reason, promise)
		g.stopWith(flagged).is(t, "failed")
		g.remove("bad")
		g.stopWith(flagged).is(t, "passed")
		g.stopWith(flagged).is(t, "stop_hook_active")
		if g.runs() != 3 {
			t.Errorf("%d runs", g.runs())
		}
	})
}

// Each case has the marks of every later step too, so only the order can explain
// the answer.
func TestRuling114Order(t *testing.T) {
	t.Parallel()
	locked := func(g *gated) { g.write("gauntlet_logs/.gauntlet-run.lock", "1") }
	recent := func(g *gated) {
		g.set("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES=10")
		g.recorded(time.Now(), "work", g.git("rev-parse", "HEAD"))
	}
	disabled := func(g *gated) { g.set("GAUNTLET_STOP_HOOK_ENABLED=false") }
	invalid := func(g *gated) { g.write(".gauntlet/config.yml", "{") }
	gone := func(g *gated) { g.remove(".gauntlet/config.yml") }
	guard := func(g *gated) { g.set("GAUNTLET_STOP_HOOK_ACTIVE=1") }
	for name, tt := range map[string]struct {
		payload string
		marks   []func(*gated)
		want    string
	}{
		"guard before parsing":            {"{", []func(*gated){guard, invalid, locked}, "stop_hook_active"},
		"parsing before config":           {"{", []func(*gated){gone, locked}, "invalid_input"},
		"active before config":            {`{"stop_hook_active": true}`, []func(*gated){gone}, "stop_hook_active"},
		"active before an invalid config": {`{"stop_hook_active": true}`, []func(*gated){invalid}, "stop_hook_active"},
		"active before enabled":           {`{"stop_hook_active": true}`, []func(*gated){disabled, locked}, "stop_hook_active"},
		"config before enabled":           {"{}", []func(*gated){gone, disabled, locked}, "no_config"},
		"enabled before lock":             {"{}", []func(*gated){disabled, locked, recent}, "stop_hook_disabled"},
		"lock before interval":            {"{}", []func(*gated){locked, recent}, "lock_exists"},
		"interval before the run":         {"{}", []func(*gated){recent}, "interval_not_elapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			for _, mark := range tt.marks {
				mark(g)
			}
			understand(t, g.call([]byte(tt.payload), "stop-hook")).is(t, tt.want)
			if g.runs() != 0 {
				t.Errorf("%d runs", g.runs())
			}
		})
	}
}

func TestRuling119ExitCodeIsAlways0(t *testing.T) {
	g := newGated(t, theCheck)
	for _, args := range [][]string{{"stop-hook"}, {"stop-hook", "--no-such-flag"}, {"stop-hook", "word"}} {
		understand(t, g.call(g.stopPayload(nil), args...)).is(t, "passed")
	}
}

func TestRuling121RequiredKeys(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ config, status string }{
		"hooks alone":             {"hooks:\n  SubagentStop:\n    - {run: 'true'}\n", "no_applicable_gates"},
		"no entry points":         {"base_branch: main\n", "no_applicable_gates"},
		"checks without cli":      {theCheck, "passed"},
		"a review without cli":    {strings.ReplaceAll(reviewed, "cli: {default_preference: [claude]}\n", ""), "error"},
		"an entry without a path": {"entry_points: [{checks: []}]\n", "error"},
	} {
		t.Run(name, func(t *testing.T) { newGated(t, tt.config).stop().is(t, tt.status) })
	}
}
