package conformance

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// blocked is the answer to a stop with a failed check and a failed review.
func blocked(t *testing.T) (*gated, answer) {
	t.Helper()
	g := newGated(t, strings.TrimSuffix(reviewed, "\n")+`
    checks:
      - {name: tests, command: "echo the output; exit 1"}
`)
	g.reviewer("claude", reviewFails)
	a := g.stop()
	a.is(t, "failed")
	return g, a
}

func TestBlockWithReason(t *testing.T) {
	_, a := blocked(t)
	contains(t, a.Reason, "gates did not pass", "check:.:tests", "review:.:quality", "the output", "Nothing is said about errors.")
	a.is(t, "failed", "Gauntlet failed", "check:.:tests", "review:.:quality")
	if len(a.Message) > 200 || strings.Contains(a.Message, "\n") {
		t.Errorf("not brief: %q", a.Message)
	}
}

func TestOutputFormat(t *testing.T) {
	_, a := blocked(t)
	if strings.Count(a.stdout, "\n") != 1 {
		t.Errorf("not one line: %q", a.stdout)
	}
	at := -1
	for _, key := range []string{`{"decision":"block"`, `,"status":"failed"`, `,"message":"`, `,"reason":"`} {
		next := strings.Index(a.stdout, key)
		if next <= at {
			t.Errorf("%s is not in its place: %s", key, a.stdout)
		}
		at = next
	}
	known := []string{"decision", "status", "message", "reason", "stopReason", "systemMessage"}
	for key := range a.keys {
		if !slices.Contains(known, key) {
			t.Errorf("the key %q is not in the contract", key)
		}
	}
}

func TestStopReasonIncludesConsoleLogPath(t *testing.T) {
	g, a := blocked(t)
	path := g.log("console.1.log")
	if !filepath.IsAbs(path) || !exists(path) {
		t.Fatalf("no %s", path)
	}
	contains(t, a.StopReason, "`"+path+"`", "Read this file for full execution output")
	again := g.stop()
	again.is(t, "failed")
	contains(t, again.StopReason, "`"+g.log("console.2.log")+"`")
	if strings.Contains(again.StopReason, path) {
		t.Errorf("an older log is named: %q", again.StopReason)
	}
}

func TestStopReasonExcludesManualRerunInstruction(t *testing.T) {
	_, a := blocked(t)
	for _, command := range []string{"agent-gauntlet", "stopgate run", "gauntlet run"} {
		if strings.Contains(a.StopReason, command) {
			t.Errorf("%q is in %q", command, a.StopReason)
		}
	}
}

func TestStopReasonIncludesUrgentFixDirective(t *testing.T) {
	_, a := blocked(t)
	contains(t, a.StopReason, "GAUNTLET FAILED", "YOU MUST FIX ISSUES NOW", "cannot stop until the issues are resolved or one of the termination conditions")
}

func TestStopReasonIncludesTrustLevel(t *testing.T) {
	_, a := blocked(t)
	contains(t, a.StopReason, "trust level: medium", "Fix issues that", "Skip issues that")
}

func TestStopReasonIncludesViolationHandling(t *testing.T) {
	g, a := blocked(t)
	contains(t, a.StopReason, `"status"`, `"result"`, `"status": "fixed"`, `"status": "skipped"`, g.log("review_._quality_claude@1.1.json"))
}

func TestStopReasonIncludesTerminationConditions(t *testing.T) {
	_, a := blocked(t)
	contains(t, a.StopReason, "Termination conditions", `"Status: Passed"`, `"Status: Passed with warnings"`, `"Status: Retry limit exceeded"`)
}

func TestGatesFailedBlock(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	for range 3 {
		a := g.stop()
		a.is(t, "failed", "issues must be fixed")
		if a.Decision != "block" || len(a.Reason) <= len(a.Message) {
			t.Error(a.stdout)
		}
	}
	a := g.stop() // now a termination condition is met
	a.is(t, "retry_limit_exceeded")
	if a.Decision != "approve" {
		t.Error(a.stdout)
	}
}
