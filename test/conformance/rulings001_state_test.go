package conformance

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

func TestRuling19StateIsWrittenWhenGatesRan(t *testing.T) {
	t.Parallel()
	failing := strings.ReplaceAll(theCheck, "test ! -e bad", "false")
	for status, tt := range map[string]struct {
		config  string
		written bool
	}{
		"passed":               {theCheck, true},
		"failed":               {failing, true},
		"retry_limit_exceeded": {failing + "max_retries: 0\n", true},
		"no_applicable_gates":  {strings.Replace(theCheck, "path: .", "path: src", 1), false},
		"infrastructure_error": {strings.ReplaceAll(theCheck, "test !", "no-such-tool !"), false},
		"error":                {"{", false},
		"stop_hook_disabled":   {theCheck + "stop_hook: {enabled: false}\n", false},
	} {
		t.Run(status, func(t *testing.T) {
			g := newGated(t, tt.config)
			g.stop().is(t, status)
			if got := g.state() != nil; got != tt.written {
				t.Errorf("written: %t", got)
			}
		})
	}
}

func TestRuling19AStateFromTheFutureIsNone(t *testing.T) {
	paced(t, -time.Hour).runsNormally()
}

func TestRuling19ADamagedStateIsNone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":   "",
		"half":    `{"last_run_completed_at": "2026-01`,
		"lacking": `{"branch": "work", "commit": "1"}`,
		"no time": `{"last_run_completed_at": "soon", "branch": "work", "commit": "1"}`,
		"binary":  "\x00\xff",
	} {
		t.Run(name, func(t *testing.T) {
			g := paced(t, time.Minute)
			g.write("gauntlet_logs/.execution_state", text)
			g.runsNormally()
		})
	}
}

// Clean ends the series of retries, and closes nothing.
func TestRuling110CleanEndsTheSeriesAndClosesNothing(t *testing.T) {
	g := newGated(t, theCheck+"max_retries: 1\n")
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.clean()
	g.commit("hide it in a commit")
	g.git("branch", "-f", "main", "HEAD") // so that nothing has changed
	g.stop().is(t, "failed")
	g.stop().is(t, "retry_limit_exceeded")
}

func TestRuling110TheArchiveAfterAPassKeepsTheState(t *testing.T) {
	g := newGated(t, theCheck)
	g.stop().is(t, "passed")
	if g.state() == nil || exists(g.log("previous/.execution_state")) || !exists(g.log("previous/console.1.log")) {
		t.Errorf("%q", g.logs())
	}
}

// On a fresh branch with nothing but uncommitted work the recorded commit is part
// of the base all along. Nothing was merged, and the series goes on.
func TestRuling111AFreshBranchWasNotMerged(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	for range 3 {
		g.stop().is(t, "failed")
	}
	g.stop().is(t, "retry_limit_exceeded")
	if exists(g.log("previous")) {
		t.Errorf("logs were archived: %q", g.logs())
	}
}

func TestRuling111AutoCleanWaitsForTheLock(t *testing.T) {
	g := failedOnce(t)
	g.git("checkout", "-q", "-b", "other")
	defer g.hold()()
	g.set("GAUNTLET_STOP_HOOK_DEADLINE=10")
	a := g.stop()
	a.is(t, "failed") // something is open, so the agent is not let go
	contains(t, a.Reason, "already in progress")
	if exists(g.log("previous")) || g.state()["branch"] != "work" {
		t.Errorf("cleaned without the lock: %q", g.logs())
	}
}

func TestRuling112TheLockNamesItsOwner(t *testing.T) {
	g := newGated(t, strings.Replace(theCheck, "echo run", `cat gauntlet_logs/.gauntlet-run.lock > "$RUNS.lock"; echo run`, 1))
	g.stop().is(t, "passed")
	var owner map[string]any
	text := slurp(t, g.beside("runs.lock"))
	if err := json.Unmarshal([]byte(text), &owner); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	host, err := os.Hostname()
	if err != nil || owner["host"] != host {
		t.Errorf("host %v, want %s: %v", owner["host"], host, err)
	}
	for _, key := range []string{"pid", "start", "boot"} {
		if owner[key] == nil || owner[key] == "" {
			t.Errorf("no %s in %s", key, text)
		}
	}
	for _, name := range g.logs() {
		if strings.Contains(name, "lock") {
			t.Errorf("%s was left", name)
		}
	}
}

func TestRuling116NothingChanged(t *testing.T) {
	t.Parallel()
	t.Run("no gate runs", func(t *testing.T) {
		g := newGated(t, theCheck)
		g.remove("work.txt")
		g.stop().is(t, "no_applicable_gates", "nothing has changed")
		if g.runs() != 0 || exists(g.path("gauntlet_logs")) {
			t.Errorf("%d runs, %q", g.runs(), g.logs())
		}
	})
	t.Run("but those with an open failure do", func(t *testing.T) {
		g := newGated(t, theCheck)
		g.write("bad", "")
		g.stop().is(t, "failed")
		g.commit("work")
		g.git("branch", "-f", "main", "HEAD")
		g.git("checkout", "-q", "main")
		g.stop().is(t, "failed")
		g.remove("bad")
		g.commit("fixed")
		g.stop().is(t, "passed")
		if g.runs() != 3 {
			t.Errorf("%d runs", g.runs())
		}
	})
}
