package gates

import (
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/project/config"
)

// testResults are runs that ended in every way that people are shown.
func testResults() map[string]*gauntlet.Result {
	passed := gauntlet.GateResult{Job: "check:.:format", Kind: gauntlet.KindCheck, Entry: ".", Name: "format", Outcome: gauntlet.GatePassed, Message: "Exited with code 0", Duration: 340 * time.Millisecond}
	proven := gauntlet.GateResult{Job: "check:.:vet", Kind: gauntlet.KindCheck, Entry: ".", Name: "vet", Outcome: gauntlet.GateProven, Message: "passed before"}
	unit := gauntlet.GateResult{
		Job: "check:src:unit", Kind: gauntlet.KindCheck, Entry: "src", Name: "unit", Outcome: gauntlet.GateFailed, Message: "Exited with code 1",
		Log: "/proj/gauntlet_logs/check_src_unit.1.log", Tail: "[…]\n\x1b[31m--- FAIL: TestAdd\x1b[0m\n\tadd_test.go:12: got 3 <want> 4 & ]]>\n```\nFAIL",
		FixInstructions: "The test is usually right.\nAsk before you change it.\n", Duration: 65 * time.Second,
	}
	types := gauntlet.GateResult{
		Job: "check:.:types", Kind: gauntlet.KindCheck, Entry: ".", Name: "types", Outcome: gauntlet.GateCouldNotRun, Message: "was not found (exit 127)",
		Log: "/proj/gauntlet_logs/check_._types.1.log", Tail: "sh: 1: tsc: not found", Duration: 2 * time.Millisecond,
	}
	notStarted := gauntlet.GateResult{Job: "check:.:e2e", Kind: gauntlet.KindCheck, Entry: ".", Name: "e2e", Outcome: gauntlet.GateNotStarted, Message: "was not started: check:src:unit did not pass and fails fast"}
	security := gauntlet.GateResult{
		Job: "review:.:security", Kind: gauntlet.KindReview, Entry: ".", Name: "security", Outcome: gauntlet.GateFailed, Message: "3 violations",
		Log: "/proj/gauntlet_logs/review_._security_claude@1.1.log", Reviews: []string{"/proj/gauntlet_logs/review_._security_claude@1.1.json"}, Duration: 12 * time.Second,
		Violations: []review.Violation{
			{ID: "3fa91c02beef", File: "src/a.go", Line: "3", Issue: "SQL is built from *user* input | here", Fix: "use a prepared statement", Priority: config.Critical, Status: review.New},
			{ID: "00aa11bb22cc", File: "src/b.go", Line: "10-12", Issue: "the error is\nswallowed", Priority: config.Medium, Status: review.New},
			{ID: "99ff99ff99ff", File: "src/c.go", Issue: "a name says nothing", Priority: config.Low, Status: review.Fixed, Result: "renamed"},
		},
	}
	stranded := gauntlet.GateResult{Job: "review:.:style", Kind: gauntlet.KindReview, Entry: ".", Name: "style", Outcome: gauntlet.GateCouldNotRun, Message: "claude: not installed"}
	ended := gauntlet.GateResult{Job: "check:.:slow", Kind: gauntlet.KindCheck, Entry: ".", Name: "slow", Outcome: gauntlet.GateCouldNotRun, Message: "was interrupted", Log: "/proj/gauntlet_logs/check_._slow.1.log", Duration: time.Second}
	return map[string]*gauntlet.Result{
		"passed":   {Status: gauntlet.Passed, Message: "Gauntlet passed: all gates completed.", ConsoleLogPath: "c", Gates: []gauntlet.GateResult{passed, proven}, Duration: 340 * time.Millisecond},
		"warnings": {Status: gauntlet.PassedWithWarnings, Message: "Gauntlet passed with warnings: it is flaky.", ConsoleLogPath: "c", Gates: []gauntlet.GateResult{passed}, Warnings: []string{"check:.:format is flaky"}, Notes: []string{"no commit yet"}, Duration: time.Second},
		"failed": {
			Status: gauntlet.Failed, Message: "Gauntlet failed: issues must be fixed (check:src:unit, review:.:security).", ConsoleLogPath: "c",
			Gates: []gauntlet.GateResult{passed, proven, unit, types, notStarted, security}, Duration: 77 * time.Second,
		},
		"could-not":    {Status: gauntlet.InfrastructureError, Message: "Gauntlet could not run: review:.:style: claude: not installed.", ConsoleLogPath: "c", Gates: []gauntlet.GateResult{passed, stranded}, Duration: time.Second},
		"no-git":       {Status: gauntlet.InfrastructureError, Message: "Gauntlet could not run: git is not installed.", ErrorMessage: "git is not installed", Gates: []gauntlet.GateResult{}},
		"locked":       {Status: gauntlet.LockExists, Message: `A gauntlet run is already in progress (process 7 on "host" since 2026-01-02 03:04:05); nothing was checked this time.`, Gates: []gauntlet.GateResult{}},
		"nothing":      {Status: gauntlet.NoApplicableGates, Message: "Gauntlet: no applicable gates, because nothing has changed.", Gates: []gauntlet.GateResult{}},
		"interrupted":  {Status: gauntlet.InfrastructureError, Interrupted: true, Message: "Gauntlet could not run: the run was interrupted.", ConsoleLogPath: "c", Gates: []gauntlet.GateResult{passed, ended, notStarted}, Duration: time.Second},
		"only-reviews": {Status: gauntlet.Failed, Message: "Gauntlet failed.", ConsoleLogPath: "c", Gates: []gauntlet.GateResult{security}, Duration: 12 * time.Second},
	}
}
