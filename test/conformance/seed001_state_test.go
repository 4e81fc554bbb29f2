package conformance

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// state reads .execution_state; nil when there is none.
func (g *gated) state() map[string]any {
	g.t.Helper()
	text := slurp(g.t, g.log(".execution_state"))
	if text == "" {
		return nil
	}
	var state map[string]any
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		g.t.Fatalf("%v in %q", err, text)
	}
	return state
}

// recorded writes a state by hand, with the seed's three fields alone.
func (g *gated) recorded(at time.Time, branch, commit string) {
	g.t.Helper()
	text, err := json.Marshal(map[string]string{"last_run_completed_at": at.UTC().Format(time.RFC3339), "branch": branch, "commit": commit})
	check(g.t, err)
	g.write("gauntlet_logs/.execution_state", string(text))
}

// holdsState demands what a state must hold after a run that began at start.
func (g *gated) holdsState(start time.Time) {
	g.t.Helper()
	state := g.state()
	if state["branch"] != g.git("branch", "--show-current") || state["commit"] != g.git("rev-parse", "HEAD") {
		g.t.Errorf("%v", state)
	}
	text, _ := state["last_run_completed_at"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(start.Truncate(time.Millisecond)) || at.After(time.Now()) || !strings.HasSuffix(text, "Z") {
		g.t.Errorf("last_run_completed_at is %q: %v", text, err)
	}
}

// runners are the commands that run gates, and the hook, with the arguments of
// each.
var runners = map[string][]string{"run": {"run"}, "check": {"check"}, "stop-hook": {"stop-hook"}}

func TestStateFileWrittenOnSuccessfulRun(t *testing.T) {
	t.Parallel()
	for name, args := range runners {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			start := time.Now()
			if r := g.call(g.stopPayload(nil), args...); r.code != 0 {
				t.Fatalf("%+v", r)
			}
			g.holdsState(start)
		})
	}
	t.Run("review", func(t *testing.T) {
		g := newGated(t, reviewed)
		g.reviewer("claude", reviewPasses)
		start := time.Now()
		if r := g.call(nil, "review"); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		g.holdsState(start)
	})
}

func TestStateFileWrittenOnFailedRun(t *testing.T) {
	t.Parallel()
	for name, args := range runners {
		t.Run(name, func(t *testing.T) {
			passed := newGated(t, theCheck)
			passed.call(passed.stopPayload(nil), args...)
			g := &gated{bench: passed.bench, env: passed.env}
			fields := slices.Sorted(maps.Keys(g.state()))
			g.write("bad", "")
			start := time.Now()
			g.call(g.stopPayload(nil), args...)
			g.holdsState(start)
			if got := slices.Sorted(maps.Keys(g.state())); !slices.Equal(got, fields) {
				t.Errorf("fields %q after a failure, %q after a pass", got, fields)
			}
		})
	}
}

func TestStateFileClearedOnClean(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(*gated){
		"after a pass":    func(*gated) {},
		"after a failure": func(g *gated) { g.write("bad", "") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			work(g)
			g.stop()
			state := slurp(t, g.log(".execution_state"))
			g.clean()
			if exists(g.log(".execution_state")) || state == "" || slurp(t, g.log("previous/.execution_state")) != state {
				t.Errorf("the state was not moved: %s", g.logs())
			}
			contains(t, strings.Join(g.logs(), " "), "previous/console.1.log", "previous/check_._tests.1.log")
			for _, name := range g.logs() {
				if strings.HasSuffix(name, ".log") && !strings.HasPrefix(name, "previous/") {
					t.Errorf("%s was left", name)
				}
			}
		})
	}
}

func (g *gated) clean() {
	g.t.Helper()
	if r := g.call(nil, "clean"); r.code != 0 {
		g.t.Fatalf("%+v", r)
	}
}

// logs lists what is in the log directory, down to its archive.
func (g *gated) logs() []string {
	g.t.Helper()
	var names []string
	for _, pattern := range []string{"*", "previous/*"} {
		found, err := filepath.Glob(g.log(pattern))
		check(g.t, err)
		for _, path := range found {
			name, err := filepath.Rel(g.log(""), path)
			check(g.t, err)
			names = append(names, filepath.ToSlash(name))
		}
	}
	return names
}

// failedOnce is a project with the logs of a failed run, so that cleaning shows.
func failedOnce(t *testing.T) *gated {
	t.Helper()
	g := newGated(t, theCheck)
	g.write("bad", "")
	g.stop().is(t, "failed")
	return g
}

// ranAgain demands that a run was the first after a clean, or the second of a
// series, and that its console says why.
func (g *gated) ranAgain(cleaned bool, words string) {
	g.t.Helper()
	r := g.call(nil, "run")
	if r.code != 1 || g.runs() != 2 {
		g.t.Fatalf("%d runs, %+v", g.runs(), r)
	}
	console := "console.2.log"
	if cleaned {
		console = "console.1.log"
	}
	text := slurp(g.t, g.log(console))
	if told := strings.Contains(text, "Auto-cleaning logs"); text == "" || told != cleaned || !strings.Contains(text, words) {
		g.t.Errorf("%s says %q; there are %q", console, text, g.logs())
	}
	if told := strings.Contains(r.stdout+r.stderr, "Auto-cleaning logs"); told != cleaned {
		g.t.Errorf("said %q, %q", r.stdout, r.stderr)
	}
	if exists(g.log("previous/check_._tests.1.log")) != cleaned {
		g.t.Errorf("archived: %q", g.logs())
	}
}

func TestBranchChangedTriggersAutoClean(t *testing.T) {
	g := failedOnce(t)
	g.recorded(time.Now().Add(-time.Hour), "feature-a", g.git("rev-parse", "HEAD"))
	g.git("checkout", "-q", "-b", "feature-b")
	g.ranAgain(true, "branch changed")
	if state := g.state(); state["branch"] != "feature-b" {
		t.Errorf("%v", state)
	}
}

func TestCommitMergedTriggersAutoClean(t *testing.T) {
	t.Parallel()
	t.Run("literally", func(t *testing.T) {
		g := failedOnce(t)
		g.recorded(time.Now().Add(-time.Hour), "work", g.git("rev-parse", "main"))
		g.ranAgain(true, "commit merged")
	})
	t.Run("really", func(t *testing.T) {
		g := newGated(t, theCheck)
		g.write("bad", "")
		g.commit("work")
		g.stop().is(t, "failed")
		g.git("branch", "-f", "main", "HEAD")
		g.ranAgain(true, "commit merged")
	})
}

func TestNoAutoCleanWhenContextUnchanged(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	g.commit("work")
	g.stop().is(t, "failed")
	g.recorded(time.Now().Add(-time.Hour), "work", g.git("rev-parse", "HEAD"))
	g.ranAgain(false, "")
}

func TestNoAutoCleanWhenNoStateFile(t *testing.T) {
	g := failedOnce(t)
	g.remove("gauntlet_logs/.execution_state")
	g.ranAgain(false, "")
}
