package conformance

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/stop"
)

// external is a project with a gauntlet of its own: a script that exits so, after
// it has said so.
func external(t *testing.T, output string, code string) *gated {
	t.Helper()
	g := newGated(t, "base_branch: main\nstop_hook:\n  runner: [sh, runner.sh]\n")
	g.write("runner.sh", "cat <<'END'\n"+output+"\nEND\nexit "+code+"\n")
	return g
}

// Every outcome has the structure; understand holds each to it.
func TestResponseStructure(t *testing.T) {
	t.Parallel()
	for status, prepare := range map[string]func(*testing.T) *gated{
		"passed":              func(t *testing.T) *gated { return newGated(t, theCheck) },
		"failed":              func(t *testing.T) *gated { return newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", "false")) },
		"no_applicable_gates": func(t *testing.T) *gated { return newGated(t, "base_branch: main\n") },
		"error":               func(t *testing.T) *gated { return newGated(t, "entry_points: 7\n") },
		"infrastructure_error": func(t *testing.T) *gated {
			return newGated(t, strings.ReplaceAll(theCheck, "test !", "no-such-tool !"))
		},
		"stop_hook_disabled": func(t *testing.T) *gated { return newGated(t, theCheck+"stop_hook: {enabled: false}\n") },
		"retry_limit_exceeded": func(t *testing.T) *gated {
			return newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", "false")+"max_retries: 0\n")
		},
		"termination_passed": func(t *testing.T) *gated { return external(t, "Status: Passed", "1") },
	} {
		t.Run(status, func(t *testing.T) {
			g := prepare(t)
			a := g.stop()
			a.is(t, status)
			for key, value := range a.keys {
				if text, ok := value.(string); !ok || text == "" {
					t.Errorf("%s is %v", key, value)
				}
			}
		})
	}
}

// The order of the four steps, as the external runner shows it: each case has the
// marks of later steps too.
func TestStatusPrecedenceOrder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ output, code, want string }{
		"1 before all others": {"Status: Retry limit exceeded\nNo applicable gates for these changes", "0", "no_applicable_gates"},
		"2 before 3":          {"Status: Passed with warnings", "0", "passed"},
		"3 before 4":          {"No applicable gates\nStatus: Passed", "1", "termination_passed"},
		"4":                   {"No applicable gates", "1", "failed"},
		"longer words first":  {"Status: Passed with warnings", "3", "termination_warnings"},
	} {
		t.Run(name, func(t *testing.T) { external(t, tt.output, tt.code).stop().is(t, tt.want) })
	}
}

func TestGauntletPassedExitCode0(t *testing.T) {
	external(t, "all is well", "0").stop().is(t, "passed", "completed")
	g := bare(t)
	g.write(".gauntlet/config.yml", theCheck)
	g.stop().is(t, "passed", "Gauntlet passed", "completed")
}

func TestNoApplicableGates(t *testing.T) {
	t.Parallel()
	t.Run("external", func(t *testing.T) {
		external(t, "No applicable gates", "0").stop().is(t, "no_applicable_gates", "no applicable gates")
	})
	t.Run("ours", func(t *testing.T) {
		g := newGated(t, strings.Replace(theCheck, "path: .", "path: src", 1))
		g.stop().is(t, "no_applicable_gates", "no applicable gates", "files that changed")
		if g.runs() != 0 {
			t.Errorf("%d runs", g.runs())
		}
	})
}

// terminated demands a status that an external runner ends with, and that the
// agent may stop.
func terminated(t *testing.T, output, status string, words ...string) {
	t.Helper()
	g := external(t, "some output\n"+output+"\nmore", "1")
	a := g.stop()
	a.is(t, status, words...)
	if a.Decision != "approve" {
		t.Error(a.stdout)
	}
}

func TestTerminationConditionPassedNonZeroExit(t *testing.T) {
	terminated(t, "Status: Passed", "termination_passed", "all gates passed")
}

func TestTerminationConditionPassedWithWarningsNonZeroExit(t *testing.T) {
	terminated(t, "Status: Passed with warnings", "termination_warnings", "passed with warnings", "skipped")
}

func TestTerminationConditionRetryLimitExceededNonZeroExit(t *testing.T) {
	terminated(t, "Status: Retry limit exceeded", "termination_retry_limit", "limit was exceeded", "human review may be needed")
}

func TestInfrastructureError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string
		words  []string
	}{
		"the runner is missing":  {"stop_hook: {runner: [no-such-runner]}\n", []string{"no-such-runner", "not found"}},
		"the runner hangs":       {"stop_hook: {runner: [sleep, '600'], deadline: 10}\n", []string{"sleep", "timed out"}},
		"a command is not found": {strings.ReplaceAll(theCheck, "test !", "no-such-tool !"), []string{"not found", "check:.:tests"}},
		"the time is over":       {strings.ReplaceAll(theCheck, "test ! -e bad", "sleep 600") + "stop_hook: {deadline: 10}\n", []string{"cut off after", "stop_hook.deadline (10s)"}},
		"nobody can review":      {reviewed, []string{"claude", "not installed"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, tt.config)
			g.set("PATH=" + onlyTools(g, "git", "sh", "sleep"))
			a := g.stop()
			a.is(t, "infrastructure_error", tt.words...)
			if a.Decision != "approve" || a.SystemMessage == "" {
				t.Error(a.stdout)
			}
		})
	}
}

func TestNoGauntletConfiguration(t *testing.T) {
	t.Parallel()
	g := bare(t)
	g.stop().is(t, "no_config", "not a gauntlet project")
}

func TestStopHookAlreadyActive(t *testing.T) {
	g := newGated(t, theCheck)
	g.stopWith(map[string]any{"stop_hook_active": true}).is(t, "stop_hook_active", "infinite loop")
}

func TestUnexpectedError(t *testing.T) {
	t.Parallel()
	t.Run("without a place for our state", func(t *testing.T) {
		g := newGated(t, theCheck)
		cmd := g.command("stop-hook")
		cmd.Env = []string{"PATH=/nowhere"}
		a := understand(t, await(t, cmd, strings.NewReader(string(g.stopPayload(nil)))))
		a.is(t, "error", "HOME")
		if a.Decision != "approve" {
			t.Error(a.stdout)
		}
	})
	t.Run("a panic", func(t *testing.T) {
		t.Parallel()
		broken := stop.Service{StateDir: t.TempDir(), Now: func() time.Time { panic("the clock fell down") }, Stderr: t.Output()}
		reply := broken.StopHook(context.Background(), strings.NewReader("{}"))
		var a answer
		if err := json.Unmarshal(reply.Stdout, &a); err != nil || a.Decision != "approve" || reply.Code != 0 {
			t.Errorf("%v in %s", err, reply.Stdout)
		}
		a.is(t, "error", "the clock fell down")
	})
}

func TestInvalidHookInput(t *testing.T) {
	t.Parallel()
	g := bare(t)
	for _, text := range []string{"", "{"} {
		a := understand(t, g.call([]byte(text), "stop-hook"))
		a.is(t, "invalid_input", "could not parse JSON")
		if a.Decision != "approve" {
			t.Error(a.stdout)
		}
	}
}
