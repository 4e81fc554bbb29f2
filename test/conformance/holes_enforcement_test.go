package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tests of these files are named after the weak points of the older tool, as
// docs/dev/conformance.md lists them.

// failedReview is a project whose review has failed.
func failedReview(t *testing.T) *gated {
	t.Helper()
	g := newGated(t, reviewed)
	g.reviewer("claude", reviewFails)
	g.stop().is(t, "failed")
	return g
}

func TestHole01RerunWithNothingChangedStaysFailed(t *testing.T) {
	g := failedReview(t)
	g.reviewer("claude", reviewPasses) // it was only lucky
	g.stop().is(t, "failed")
	if !exists(g.log("console.1.log")) {
		t.Errorf("the evidence was archived: %q", g.logs())
	}
}

func TestHole01CommitDoesNotClose(t *testing.T) {
	g := failedReview(t)
	g.reviewer("claude", reviewPasses)
	g.commit("unfixed")
	g.stop().is(t, "failed")
	g.git("branch", "-f", "main", "HEAD")
	g.stop().is(t, "failed")
}

func TestHole02NoChangeRunsDoNotConsumeRetries(t *testing.T) {
	g := newGated(t, theCheck+"max_retries: 1\n")
	g.remove("work.txt")
	for range 6 {
		g.stop().is(t, "no_applicable_gates")
	}
	g.write("bad", "")
	g.stop().is(t, "failed")
	g.stop().is(t, "retry_limit_exceeded")
}

func TestHole02ConsoleLogsAreNoCounter(t *testing.T) {
	g := newGated(t, theCheck)
	for _, name := range []string{"console.7.log", "console.9.log", "check_x.30.log"} {
		g.write("gauntlet_logs/"+name, "")
	}
	g.write("bad", "")
	a := g.stop()
	a.is(t, "failed")
	contains(t, a.Reason, "console.31.log")
	for _, want := range []string{"failed", "failed", "retry_limit_exceeded"} {
		g.stop().is(t, want)
	}
}

func TestHole04MoreThanOneBlockPerTurn(t *testing.T) {
	g := newGated(t, theCheck+"stop_hook: {verify_fixes: true}\n")
	g.write("bad", "")
	for i, want := range []string{"failed", "failed", "failed", "retry_limit_exceeded"} {
		g.stopWith(map[string]any{"stop_hook_active": i > 0}).is(t, want)
	}
}

func TestHole05AMissingReviewerDoesNotBlock(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"missing": "", "crashes": "exit 1", "babbles": "echo no json here", "empty": "true"} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, reviewed)
			g.set("PATH=" + onlyTools(g, "git", "sh"))
			if answer != "" {
				spill(t, filepath.Join(g.beside("only"), "claude"), "#!/bin/sh\n"+answer+"\n")
			}
			a := g.stop()
			a.is(t, "infrastructure_error", "claude")
			if a.SystemMessage == "" {
				t.Error("nobody is told")
			}
		})
	}
}

// A broken config is no way out: where trust is enforced the approved one runs
// (TestRulingT4AnAgentCannotWeakenItsGates); elsewhere it is told aloud.
func TestHole05ABrokenConfigIsTold(t *testing.T) {
	g := newGated(t, "entry_points: [")
	a := g.stop()
	a.is(t, "error", "config.yml")
	contains(t, a.SystemMessage, "config.yml")
}

func TestHole06TheThresholdForgivesNothingOld(t *testing.T) {
	t.Parallel()
	for _, priority := range []string{"low", "medium"} {
		t.Run(priority, func(t *testing.T) {
			g := newGated(t, reviewed+"rerun_new_issue_threshold: high\n")
			g.reviewer("claude", strings.ReplaceAll(reviewFails, `"high"`, `"`+priority+`"`))
			g.stop().is(t, "failed")
			g.write("work.txt", "something else\n")
			g.stop().is(t, "failed") // reported again
		})
	}
}

func TestHole06AnIssueThatMovedIsTheSame(t *testing.T) {
	g := newGated(t, reviewed+"rerun_new_issue_threshold: critical\n")
	g.reviewer("claude", reviewFails)
	g.stop().is(t, "failed")
	g.write("work.txt", "\n\n\nfurther down\n")
	moved := strings.ReplaceAll(strings.ReplaceAll(reviewFails, `"line": 1`, `"line": 4`), "about errors.", "about errors")
	g.reviewer("claude", moved)
	g.stop().is(t, "failed")
}

func TestHole06OnlyNewFindingsHaveAThreshold(t *testing.T) {
	g := failedReview(t)
	g.write("work.txt", "something else\n")
	g.reviewer("claude", `{"status": "fail", "violations": [{"file": "work.txt", "line": 1, "issue": "A new matter of taste.", "priority": "low"}]}`)
	g.stop().is(t, "passed")
}

func TestHole07AllSkippedIsPassedWithWarnings(t *testing.T) {
	g := failedReview(t)
	g.answerReview("skipped", "on purpose")
	g.stop().is(t, "passed_with_warnings", "on purpose", "work.txt")
}

func TestHole08SkippingNeedsAReason(t *testing.T) {
	g := failedReview(t)
	g.answerReview("skipped", "")
	g.stop().is(t, "failed")
}

func TestHole08ACriticalViolationIsNotForTheAgentToSkip(t *testing.T) {
	g := newGated(t, reviewed)
	g.reviewer("claude", strings.ReplaceAll(reviewFails, `"high"`, `"critical"`))
	g.stop().is(t, "failed")
	g.answerReview("skipped", "I do not care")
	g.stop().is(t, "failed")
}

func TestHole08AnEditedOrLostReviewFileClosesNothing(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(*gated, string){
		"deleted":          func(g *gated, file string) { removeAll(g.t, file) },
		"all logs deleted": func(g *gated, _ string) { removeAll(g.t, g.path("gauntlet_logs")) },
		"emptied":          func(g *gated, file string) { spill(g.t, file, "") },
		"no violations":    func(g *gated, file string) { spill(g.t, file, `{"status": "pass", "violations": []}`) },
		"made a pass": func(g *gated, file string) {
			spill(g.t, file, strings.Replace(slurp(g.t, file), `"fail"`, `"pass"`, 1))
		},
		"made less urgent":  func(g *gated, file string) { spill(g.t, file, strings.Replace(slurp(g.t, file), `"high"`, `"low"`, 1)) },
		"an unknown status": func(g *gated, _ string) { g.answerReview("wontfix", "because") },
		"an endless file": func(g *gated, file string) {
			removeAll(g.t, file)
			check(g.t, os.Symlink("/dev/zero", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := failedReview(t)
			tamper(g, g.log("review_._quality_claude@1.1.json"))
			g.reviewer("claude", reviewPasses)
			g.stop().is(t, "failed")
		})
	}
}

func TestHole09FutureTimestampsDoNotDisableTheHook(t *testing.T) {
	g := paced(t, -365*24*time.Hour)
	g.runsNormally()
	if at := g.state()["last_run_completed_at"].(string); at > time.Now().UTC().Add(time.Hour).Format(time.RFC3339) {
		t.Errorf("it is still in the future: %s", at)
	}
}
