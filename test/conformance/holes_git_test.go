package conformance

import (
	"strings"
	"testing"
)

func TestHoleDetachedHead(t *testing.T) {
	g := newGated(t, theCheck)
	g.git("checkout", "-q", "--detach")
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.stop().is(t, "failed") // and the series goes on: HEAD is no other branch
	if g.state()["branch"] != "HEAD" || exists(g.log("previous")) {
		t.Errorf("%v, %q", g.state(), g.logs())
	}
	g.remove("bad")
	g.stop().is(t, "passed")
}

func TestHoleUnbornHead(t *testing.T) {
	t.Parallel()
	g := bare(t)
	g.write(".gauntlet/config.yml", theCheck)
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.remove("bad")
	g.stop().is(t, "passed")
	if g.state()["branch"] != "main" {
		t.Errorf("%v", g.state())
	}
}

func TestHoleNoGit(t *testing.T) {
	t.Parallel()
	g := bare(t)
	removeAll(t, g.path(".git"))
	g.write(".gauntlet/config.yml", theCheck)
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.remove("bad")
	g.stop().is(t, "passed")
}

func TestHoleGitIsNotInstalled(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	g.set("PATH=" + onlyTools(g, "sh"))
	g.stop().is(t, "failed") // everything counts as changed
	g.remove("bad")
	g.stop().is(t, "passed")
}

func TestHoleCIKeepsChecks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keys string
		runs int
	}{
		"by default":       {"", 1},
		"run_in_ci: false": {"run_in_ci: false", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, proving(tt.keys))
			g.set("CI=true")
			g.commit("work")
			g.stop()
			if g.runs() != tt.runs {
				t.Errorf("%d runs, want %d", g.runs(), tt.runs)
			}
		})
	}
}

func TestHoleExcludeIsAppliedToTheReviewDiff(t *testing.T) {
	g := newGated(t, strings.Replace(reviewed, "path: .", "path: .\n    exclude: [vendor, '*.gen']", 1))
	g.reviewer("claude", reviewPasses)
	g.write("vendor/lib.txt", "somebody else's words\n")
	g.write("made.gen", "a generator's words\n")
	g.stop().is(t, "passed")
	prompt := slurp(t, g.beside("claude.prompt"))
	contains(t, prompt, "what the agent did")
	for _, words := range []string{"somebody else's words", "a generator's words"} {
		if strings.Contains(prompt, words) {
			t.Errorf("the reviewer was shown %q", words)
		}
	}
}

func TestHoleAWorktreeIsAProjectOfItsOwn(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.git("worktree", "add", "-q", g.beside("second"), "main")
	second := &gated{bench: &bench{t: t, home: g.home, root: g.beside("second")}, env: g.env}
	second.write("work.txt", "")
	second.stop().is(t, "passed") // what is open in one is not open in the other
	g.stop().is(t, "failed")
}

// Neither the environment of a git hook nor the settings of a repository make
// changes invisible.
func TestHoleGitIsAskedExactly(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(*gated){
		"variables": func(g *gated) {
			g.env = append(g.env, "GIT_DIR=/nowhere", "GIT_WORK_TREE=/nowhere", "GIT_INDEX_FILE=/nowhere/index")
		},
		"untracked files":  func(g *gated) { g.git("config", "status.showUntrackedFiles", "no") },
		"colours":          func(g *gated) { g.git("config", "color.ui", "always") },
		"quoted names":     func(g *gated) { g.git("config", "core.quotePath", "true") },
		"relative names":   func(g *gated) { g.git("config", "status.relativePaths", "true") },
		"an external diff": func(g *gated) { g.git("config", "diff.external", "touch pwned; true") },
		"unchanged by decree": func(g *gated) {
			g.write("work.txt", "")
			g.git("add", "work.txt")
			g.git("commit", "-q", "-m", "base")
			g.git("branch", "-f", "main", "HEAD")
			g.git("update-index", "--assume-unchanged", "work.txt")
			g.write("work.txt", "changed all the same\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, reviewed)
			g.reviewer("claude", reviewFails)
			hide(g)
			g.stop().is(t, "failed")
			contains(t, slurp(t, g.beside("claude.prompt")), "work.txt")
			if exists(g.path("pwned")) {
				t.Error("a command of the repository's settings ran")
			}
		})
	}
}
