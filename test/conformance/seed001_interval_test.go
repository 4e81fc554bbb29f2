package conformance

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// paced is a project in which the run interval counts and a run was so long ago.
func paced(t *testing.T, ago time.Duration) *gated {
	t.Helper()
	g := newGated(t, theCheck)
	g.set("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES=") // as good as not set
	g.recorded(time.Now().Add(-ago), "work", g.git("rev-parse", "HEAD"))
	return g
}

func (g *gated) skips() answer {
	g.t.Helper()
	a := g.stop()
	a.is(g.t, "interval_not_elapsed")
	if a.Decision != "approve" || g.runs() != 0 {
		g.t.Errorf("%d runs, %s", g.runs(), a.stdout)
	}
	return a
}

func (g *gated) runsNormally() {
	g.t.Helper()
	g.stop().is(g.t, "passed")
	if g.runs() != 1 {
		g.t.Errorf("%d runs", g.runs())
	}
}

func TestGlobalConfigWithStopHookInterval(t *testing.T) {
	t.Parallel()
	for ago, skipped := range map[time.Duration]bool{14 * time.Minute: true, 16 * time.Minute: false} {
		t.Run(ago.String(), func(t *testing.T) {
			g := paced(t, ago)
			g.global("stop_hook:\n  run_interval_minutes: 15\n")
			if skipped {
				g.skips()
			} else {
				g.runsNormally()
			}
		})
	}
}

func TestGlobalConfigMissing(t *testing.T) {
	t.Parallel()
	t.Run("9m", func(t *testing.T) { paced(t, 9*time.Minute).skips() })
	t.Run("11m", func(t *testing.T) { paced(t, 11*time.Minute).runsNormally() })
}

func TestGlobalConfigInvalid(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"not YAML":        "stop_hook: [run_interval_minutes: 1\n",
		"of another type": "stop_hook:\n  run_interval_minutes: soon\n",
	} {
		for ago, skipped := range map[time.Duration]bool{9 * time.Minute: true, 11 * time.Minute: false} {
			t.Run(name+" "+ago.String(), func(t *testing.T) {
				g := paced(t, ago)
				g.global(text)
				a := g.stop()
				if want := map[bool]string{true: "interval_not_elapsed", false: "passed"}[skipped]; a.Status != want {
					t.Errorf("status %q, want %q", a.Status, want)
				}
				contains(t, strings.ToLower(a.stderr), "warning", "agent-gauntlet/config.yml")
			})
		}
	}
}

func TestIntervalNotElapsedSkipRun(t *testing.T) {
	g := paced(t, 5*time.Minute)
	g.global("stop_hook:\n  run_interval_minutes: 10\n")
	a := g.skips()
	contains(t, a.stderr, "interval not elapsed")
	if strings.Count(a.stderr, "\n") != 1 {
		t.Errorf("not one line on stderr: %q", a.stderr)
	}
	if exists(g.log("console.1.log")) {
		t.Errorf("a run left %q", g.logs())
	}
}

func TestIntervalElapsedRunGauntlet(t *testing.T) {
	g := paced(t, 15*time.Minute)
	g.global("stop_hook:\n  run_interval_minutes: 10\n")
	g.runsNormally()
}

func TestNoExecutionStateRunGauntlet(t *testing.T) {
	g := paced(t, 0)
	g.remove("gauntlet_logs/.execution_state")
	g.runsNormally()
}

func TestRunIntervalNotElapsed(t *testing.T) {
	g := paced(t, 5*time.Minute+30*time.Second)
	a := g.skips()
	if left := regexp.MustCompile(`\b5 min remain`); !left.MatchString(a.Message) {
		t.Errorf("the message %q does not tell the time left", a.Message)
	}
}
