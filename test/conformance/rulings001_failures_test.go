package conformance

import (
	"os"
	"strings"
	"testing"
)

// No way around a check that is red but to make it pass.
func TestRuling117WhatDoesNotCloseACheck(t *testing.T) {
	t.Parallel()
	for name, evade := range map[string]func(*gated){
		"nothing":             func(*gated) {},
		"a commit":            func(g *gated) { g.commit("hide it") },
		"a merge":             func(g *gated) { g.commit("hide it"); g.git("branch", "-f", "main", "HEAD") },
		"another branch":      func(g *gated) { g.commit("hide it"); g.git("checkout", "-q", "-b", "other") },
		"deleting the logs":   func(g *gated) { removeAll(g.t, g.path("gauntlet_logs")) },
		"another change":      func(g *gated) { g.write("other.txt", "") },
		"another prompt":      func(*gated) {},
		"undoing the rest":    func(g *gated) { g.remove("work.txt") },
		"clean":               func(g *gated) { g.clean() },
		"a state from before": func(g *gated) { g.write("gauntlet_logs/.execution_state", "{}") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			g.write("bad", "")
			g.stop().is(t, "failed")
			evade(g)
			g.stopWith(map[string]any{"prompt_id": "another", "session_id": "another"}).is(t, "failed")
			g.remove("bad")
			g.stop().is(t, "passed")
		})
	}
}

func removeAll(t *testing.T, path string) {
	t.Helper()
	check(t, os.RemoveAll(path))
}

func TestRuling117ACheckThatPassesOnTheSameTreeIsFlaky(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", `test -e "$RUNS.ok"`))
	g.stop().is(t, "failed")
	spill(t, g.beside("runs.ok"), "")
	g.stop().is(t, "passed_with_warnings", "check:.:tests", "flaky")
}

func TestRuling117AGateThatWasChangedWhileRed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ config, word string }{
		"edited":  {strings.ReplaceAll(theCheck, "test ! -e bad", "true"), "definition was changed"},
		"removed": {"base_branch: main\n", "was removed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			g.write("bad", "")
			g.stop().is(t, "failed")
			g.write(".gauntlet/config.yml", tt.config)
			a := g.stop()
			a.is(t, "passed_with_warnings", "check:.:tests", tt.word)
			contains(t, a.SystemMessage, "check:.:tests")
			g.stop() // and it is closed now
			if g.write(".gauntlet/config.yml", theCheck); g.stop().Status != "failed" {
				t.Error("the old gate does not fail any more")
			}
		})
	}
}

func TestRuling117AReviewIsClosedByAVerifiedFixOnALaterTree(t *testing.T) {
	g := newGated(t, reviewed)
	g.reviewer("claude", reviewFails)
	g.stop().is(t, "failed")
	g.answerReview("fixed", "said it")
	g.reviewer("claude", reviewPasses)
	g.stop().is(t, "failed") // on the same tree nothing was fixed, whoever says so
	g.write("work.txt", "and on errors this happens\n")
	g.stop().is(t, "passed")
	contains(t, slurp(t, g.beside("claude.prompt")), "Nothing is said about errors.", "said it")
}

func TestRuling117AClaimThatIsNotTrueIsFoundOut(t *testing.T) {
	g := newGated(t, reviewed)
	g.reviewer("claude", reviewFails)
	g.stop().is(t, "failed")
	g.answerReview("fixed", "really")
	g.write("other.txt", "")
	g.stop().is(t, "failed") // the reviewer still sees it
}

func TestRuling118Retries(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	for i, want := range []string{"failed", "failed", "failed", "retry_limit_exceeded", "retry_limit_exceeded"} {
		a := g.stopWith(map[string]any{"prompt_id": string(rune('a' + i))}) // the series is the tree's
		a.is(t, want)
		if g.runs() != i+1 {
			t.Fatalf("stop %d: %d runs; a red gate is never answered from the ledger", i+1, g.runs())
		}
	}
	g.write("bad", "changed")
	g.stopWith(map[string]any{"prompt_id": "later"}).is(t, "failed") // a prompt and a changed tree start a new series
	g.remove("bad")
	g.stop().is(t, "passed")
	g.write("bad", "")
	for range 3 {
		g.stop().is(t, "failed") // a pass has ended the old one
	}
	g.stop().is(t, "retry_limit_exceeded")
}

// Other work keeps the series while something is open: a new branch for each attempt must
// not go on for ever.
func TestRuling118OtherWorkKeepsTheSeries(t *testing.T) {
	g := newGated(t, theCheck+"max_retries: 1\n")
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.git("checkout", "-q", "-b", "other")
	g.stop().is(t, "retry_limit_exceeded")
}

func TestRuling118APersonIsToldOfTheLimit(t *testing.T) {
	g := newGated(t, theCheck+"max_retries: 0\n")
	g.write("bad", "")
	told := g.beside("told")
	spill(t, g.beside("tell"), "#!/bin/sh\nprintf '%s\\n' \"$1\" >> '"+told+"'\n")
	g.global("notify: {command: " + g.beside("tell") + "}\n")
	a := g.stop()
	a.is(t, "retry_limit_exceeded", "clean")
	contains(t, a.SystemMessage, "retry limit exceeded")
	eventually(t, "a person is told", func() bool { return strings.HasSuffix(slurp(t, told), "\n") })
	contains(t, slurp(t, told), g.root, "check:.:tests")
}

// Only the run that reaches the limit is news.
func TestRuling118TheLimitIsReachedOnce(t *testing.T) {
	g := newGated(t, theCheck+"max_retries: 1\n")
	g.write("bad", "")
	for i, want := range []bool{false, true, false} {
		if r := g.execute("first"); r.NewLimit != want {
			t.Errorf("run %d: %+v", i+1, r)
		}
	}
	g.write("bad", "changed")
	for i, want := range []bool{false, true} {
		if r := g.execute("second"); r.NewLimit != want {
			t.Errorf("run %d of the second series: %+v", i+1, r)
		}
	}
}
