package conformance

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
)

// proving is theCheck with more keys.
func proving(keys string) string { return theCheck + "        " + keys + "\n" }

// What a pass proves, and what makes it run again.
func TestRuling123WhatAPassProves(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keys   string
		change func(*gated)
		again  bool
	}{
		"nothing changed":             {"", func(*gated) {}, false},
		"committed as it is":          {"", func(g *gated) { g.commit("work") }, false},
		"staged as it is":             {"", func(g *gated) { g.git("add", "-A") }, false},
		"touched":                     {"", func(g *gated) { g.write("work.txt", "what the agent did\n") }, false},
		"a tracked file":              {"", func(g *gated) { g.write("tracked.txt", "changed") }, true},
		"an untracked file":           {"", func(g *gated) { g.write("new.txt", "") }, true},
		"same size, same second":      {"", func(g *gated) { g.write("work.txt", "what the agent dod\n") }, true},
		"an executable bit":           {"", func(g *gated) { chmod(g.t, g.path("work.txt"), 0o700) }, true},
		"an ignored file":             {"", func(g *gated) { g.write("out.ignored", "") }, false},
		"a log":                       {"", func(g *gated) { g.write("gauntlet_logs/mine.txt", "") }, false},
		"outside of its inputs":       {"inputs: [work.txt]", func(g *gated) { g.write("new.txt", "") }, false},
		"one of its inputs":           {"inputs: [work.txt]", func(g *gated) { g.write("work.txt", "more") }, true},
		"a variable that it names":    {"env: [MODE]", func(g *gated) { g.set("MODE=fast") }, true},
		"a variable that it does not": {"env: [MODE]", func(g *gated) { g.set("MOOD=fast") }, false},
		"a tool's version":            {`tools: ['cat "$RUNS.version" 2> /dev/null || echo 1']`, func(g *gated) { spill(g.t, g.beside("runs.version"), "2") }, true},
		"the same version":            {`tools: ['cat "$RUNS.version" 2> /dev/null || echo 1']`, func(*gated) {}, false},
		"its definition":              {"", func(g *gated) { g.write(".gauntlet/config.yml", proving("timeout: 100")) }, true},
		"a repository within":         {"", func(g *gated) { g.nested() }, true},
		"without a cache":             {"cache: false", func(*gated) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, proving(tt.keys))
			g.write("tracked.txt", "")
			g.write(".gitignore", "*.ignored\n")
			g.git("add", "tracked.txt", ".gitignore")
			g.stop().is(t, "passed")
			tt.change(g)
			g.stop().is(t, "passed")
			if want := 1 + map[bool]int{true: 1}[tt.again]; g.runs() != want {
				t.Errorf("%d runs, want %d", g.runs(), want)
			}
		})
	}
}

// nested makes a repository within the repository, of which git tells nothing.
func (g *gated) nested() {
	g.t.Helper()
	g.git("init", "-q", filepath.Join(g.root, "nested"))
	g.write("nested/file", "")
}

func TestRuling123InputsMayNameIgnoredFiles(t *testing.T) {
	g := newGated(t, proving("inputs: ['**/*.ignored', work.txt]"))
	g.write(".gitignore", "*.ignored\n")
	g.write("in.ignored", "1")
	g.stop().is(t, "passed")
	g.stop().is(t, "passed")
	if g.runs() != 1 {
		t.Errorf("%d runs before anything changed", g.runs())
	}
	g.write("in.ignored", "2")
	g.stop().is(t, "passed")
	if g.runs() != 2 {
		t.Errorf("%d runs", g.runs())
	}
}

func TestRuling123AProofExpiresAfterADay(t *testing.T) {
	g := newGated(t, theCheck)
	options := g.options()
	start := time.Now()
	for _, tt := range []struct {
		after time.Duration
		runs  int
	}{{0, 1}, {23 * time.Hour, 1}, {25 * time.Hour, 2}, {-time.Hour, 3}} {
		options.Now = func() time.Time { return start.Add(tt.after) }
		if r := gauntlet.Execute(context.Background(), options); r.Status != gauntlet.Passed || g.runs() != tt.runs {
			t.Errorf("after %s: %d runs, want %d, %+v", tt.after, g.runs(), tt.runs, r)
		}
	}
}

// A pass of a tree that changed while the gate ran proves nothing about either: not about the
// one that it left, nor about the one that it began with.
func TestRuling123ATreeThatChangedMeanwhileIsNotProven(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", "echo after > made.txt"))
	for i, step := range []struct {
		content string
		runs    int
	}{{"before\n", 1}, {"after\n", 2}, {"before\n", 3}, {"after\n", 3}} {
		g.write("made.txt", step.content)
		g.stop().is(t, "passed")
		if g.runs() != step.runs {
			t.Errorf("stop %d: %d runs, want %d", i+1, g.runs(), step.runs)
		}
	}
}

// A review looks at what changed since the base, so the base is part of the key.
func TestRuling123AReviewIsAboutItsBase(t *testing.T) {
	g := newGated(t, reviewed)
	g.reviewer("claude", reviewPasses)
	g.stop().is(t, "passed")
	g.commit("work")
	g.stop().is(t, "passed")
	runs := func() int { return strings.Count(slurp(t, g.beside("claude.runs")), "\n") }
	if runs() != 1 {
		t.Errorf("%d reviews", runs())
	}
	g.git("checkout", "-q", "main")
	g.write("base.txt", "")
	g.commit("base")
	g.git("checkout", "-q", "work")
	g.git("rebase", "-q", "main")
	g.stop().is(t, "passed")
	if runs() != 2 {
		t.Errorf("%d reviews", runs())
	}
}

func TestRuling122BaseBranch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string
		env    []string
		args   []string
		want   string
	}{
		"the flag":         {"base_branch: main\n", []string{"CI=true", "GITHUB_BASE_REF=ci"}, []string{"--base-branch", "flag"}, "flag"},
		"CI":               {"base_branch: main\n", []string{"CI=true", "GITHUB_BASE_REF=ci"}, nil, "ci"},
		"the config":       {"base_branch: main\n", nil, nil, "main"},
		"the remote's own": {"", nil, nil, "origin/trunk"},
		"origin/main":      {"log_dir: gauntlet_logs\n", []string{"WITHOUT=1"}, nil, "origin/main"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, strings.ReplaceAll(strings.Replace(theCheck, "base_branch: main\n", tt.config, 1), "test ! -e bad", `echo "$BASE_BRANCH" > "$RUNS.base"`))
			g.env = append(g.env, tt.env...)
			for _, branch := range []string{"flag", "ci", "refs/remotes/origin/main", "refs/remotes/origin/trunk"} {
				g.git("update-ref", "refs/heads/"+branch, "main")
				if strings.HasPrefix(branch, "refs/") {
					g.git("update-ref", branch, "main")
				}
			}
			if tt.want == "origin/trunk" {
				g.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
			}
			g.commit("work")
			if r := g.call(nil, append([]string{"run"}, tt.args...)...); r.code != 0 {
				t.Fatalf("%+v", r)
			}
			if got := strings.TrimSpace(slurp(t, g.beside("runs.base"))); got != tt.want {
				t.Errorf("counted from %q, want %q", got, tt.want)
			}
		})
	}
}
