package conformance

import (
	"strings"
	"testing"
)

// The seed's lock is a file that is there, whoever wrote what into it.
func TestLockFileExistsAllowStop(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"a pid": "4711\n", "nothing": "", "another tool's": `{"owner": "me"}`} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			g.write("bad", "")
			g.write("gauntlet_logs/.gauntlet-run.lock", content)
			a := g.stop()
			if a.Decision != "approve" || g.runs() != 0 || exists(g.log("console.1.log")) {
				t.Errorf("%d runs, %s", g.runs(), a.stdout)
			}
			contains(t, a.stderr, "gauntlet already running")
			if strings.Count(a.stderr, "\n") != 1 {
				t.Errorf("not one line: %q", a.stderr)
			}
			if got := slurp(t, g.log(".gauntlet-run.lock")); got != content {
				t.Errorf("the lock is now %q", got)
			}
		})
	}
}

func TestLockFileDoesNotExistRunGauntlet(t *testing.T) {
	g := newGated(t, strings.Replace(theCheck, "echo run", `cat gauntlet_logs/.gauntlet-run.lock >> "$RUNS.lock"; echo run`, 1))
	g.stop().is(t, "passed")
	if g.runs() != 1 || exists(g.log(".gauntlet-run.lock")) {
		t.Errorf("%d runs, the log directory has %q", g.runs(), g.logs())
	}
	contains(t, slurp(t, g.beside("runs.lock")), `"pid"`) // it was there while the gates ran
}

func TestLockFileExists(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("gauntlet_logs/.gauntlet-run.lock", "4711\n")
	a := g.stop()
	a.is(t, "lock_exists", "already in progress")
}
