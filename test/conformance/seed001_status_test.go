package conformance

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
)

// statuses are all there are.
var statuses = []gauntlet.Status{
	gauntlet.Passed, gauntlet.PassedWithWarnings, gauntlet.NoApplicableGates, gauntlet.Failed,
	gauntlet.RetryLimitExceeded, gauntlet.LockExists, gauntlet.InfrastructureError, gauntlet.Error,
	gauntlet.NoConfig, gauntlet.StopHookActive, gauntlet.StopHookDisabled, gauntlet.IntervalNotElapsed,
	gauntlet.InvalidInput, gauntlet.Untrusted, gauntlet.Off, gauntlet.Unchanged,
	gauntlet.TerminationPassed, gauntlet.TerminationWarnings, gauntlet.TerminationRetryLimit,
}

// reviewed is a project with a review by the fake client claude.
const reviewed = `base_branch: main
cli: {default_preference: [claude]}
entry_points:
  - path: .
    reviews:
      - {name: quality, prompt: Look for defects.}
`

// reviewer installs a fake reviewer. It answers with the file beside the project
// that is named after it, and notes each run and what it was told.
func (g *gated) reviewer(name, answer string) {
	g.t.Helper()
	said := g.beside(name + ".answer")
	spill(g.t, said, answer)
	spill(g.t, filepath.Join(g.beside("bin"), name), "#!/bin/sh\necho run >> '"+g.beside(name+".runs")+"'\ncat > '"+g.beside(name+".prompt")+"'\ncat '"+said+"'\n")
}

const (
	reviewPasses = `{"status": "pass", "message": "fine"}`
	reviewFails  = `{"status": "fail", "violations": [{"file": "work.txt", "line": 1, "issue": "Nothing is said about errors.", "fix": "Say it.", "priority": "high", "status": "new"}]}`
)

// The executor and the hook see the same work, apart from each other, and come to
// the same word.
func TestDirectStatusUsage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string
		work   func(*gated)
		want   gauntlet.Status
	}{
		"passed":               {theCheck, func(*gated) {}, gauntlet.Passed},
		"failed":               {theCheck, func(g *gated) { g.write("bad", "") }, gauntlet.Failed},
		"retry_limit_exceeded": {theCheck + "max_retries: 0\n", func(g *gated) { g.write("bad", "") }, gauntlet.RetryLimitExceeded},
		"no_applicable_gates":  {"base_branch: main\n", func(*gated) {}, gauntlet.NoApplicableGates},
		"infrastructure_error": {reviewed, func(g *gated) { g.set("PATH=" + onlyTools(g, "git", "sh")) }, gauntlet.InfrastructureError},
		"lock_exists":          {theCheck, func(g *gated) { g.t.Cleanup(g.hold()) }, gauntlet.LockExists},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, tt.config)
			tt.work(g)
			if r := g.execute("p"); r.Status != tt.want {
				t.Errorf("the executor says %q: %+v", r.Status, r)
			}
			g.stop().is(t, string(tt.want))
		})
	}
}

// A mapping would have to spell the names a second time. Words that also mean
// something else, such as a field of the payload, prove nothing.
func TestNoStatusMapping(t *testing.T) {
	t.Parallel()
	common := []gauntlet.Status{gauntlet.Passed, gauntlet.Failed, gauntlet.Error, gauntlet.Off, gauntlet.Untrusted, gauntlet.StopHookActive}
	spelled := map[gauntlet.Status][]string{}
	inspect(t, "internal", func(place string, node ast.Node) {
		literal, ok := node.(*ast.BasicLit)
		if !ok {
			return
		}
		text, err := strconv.Unquote(literal.Value)
		if status := gauntlet.Status(text); err == nil && slices.Contains(statuses, status) && !slices.Contains(common, status) {
			spelled[status] = append(spelled[status], place)
		}
	})
	for status, places := range spelled {
		inOrder := func(place string) bool {
			place = filepath.ToSlash(place)
			return strings.Contains(place, "internal/gate/gauntlet/status.go") || strings.Contains(place, "internal/record/event/status.go")
		}
		if len(places) != 1 || !inOrder(places[0]) {
			t.Errorf("%q is spelled in %q, not once where statuses are", status, places)
		}
	}
}

func TestBlockingDetermination(t *testing.T) {
	t.Parallel()
	for _, status := range statuses {
		if got := status.IsBlocking(); got != (status == "failed") {
			t.Errorf("%s blocks: %t", status, got)
		}
		// The hook asks the same helper: its reason is there exactly when it says so.
		stop := gauntlet.Stop{Options: gauntlet.Options{Project: &keeper.Project{Config: &config.Project{}}, Global: &config.Global{}}, Alone: true}
		verdict := stop.Verdict(&gauntlet.Result{Status: status})
		if verdict.Blocks() != status.IsBlocking() {
			t.Errorf("%s: the verdict blocks: %t", status, verdict.Blocks())
		}
	}
}

func TestStatusPassed(t *testing.T) {
	g := newGated(t, theCheck)
	a := g.stop()
	a.is(t, "passed")
	if a.Decision != "approve" {
		t.Error(a.stdout)
	}
}

func TestStatusPassedWithWarnings(t *testing.T) {
	g := newGated(t, reviewed)
	g.reviewer("claude", reviewFails)
	g.stop().is(t, "failed")
	g.answerReview("skipped", "a matter of taste")
	g.write("work.txt", "more\n")
	a := g.stop()
	a.is(t, "passed_with_warnings", "a matter of taste")
	if a.Decision != "approve" {
		t.Error(a.stdout)
	}
}

// answerReview does what an agent is told to: it changes the status and the
// result of all violations in the latest review file, and nothing else.
func (g *gated) answerReview(status, result string) {
	g.t.Helper()
	files, err := filepath.Glob(g.log("review_*.json"))
	if err != nil || len(files) == 0 {
		g.t.Fatalf("no review file: %v", err)
	}
	file := files[len(files)-1]
	text := slurp(g.t, file)
	edited := strings.ReplaceAll(text, `"status": "new"`, `"status": "`+status+`", "result": "`+result+`"`)
	if edited == text {
		g.t.Fatalf("nothing to answer in %s", text)
	}
	spill(g.t, file, edited)
}

func TestStatusRetryLimitExceeded(t *testing.T) {
	g := newGated(t, theCheck+"max_retries: 1\n")
	g.write("bad", "")
	g.stop().is(t, "failed")
	a := g.stop()
	a.is(t, "retry_limit_exceeded")
	if a.Decision != "approve" {
		t.Error(a.stdout)
	}
}

func TestStatusFailed(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	a := g.stop()
	a.is(t, "failed")
	if a.Decision != "block" || a.Reason == "" {
		t.Error(a.stdout)
	}
}
