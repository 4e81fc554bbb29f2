package gauntlet

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/gauntlet/review"
)

func failedResult(gates ...GateResult) *Result {
	return &Result{Status: Failed, ConsoleLogPath: "/p/gauntlet_logs/console.1.log", Gates: gates, Failures: 1, MaxRetries: 3}
}

func TestReasonPromisesACheckOnlyWhereThereIsOne(t *testing.T) {
	r := failedResult(GateResult{Job: "check:.:t", Kind: KindCheck, Outcome: GateFailed, Message: "Exited with code 1"})
	if text := Reason(r, false); strings.Contains(text, "again") {
		t.Errorf("promises another check:\n%s", text)
	}
	if text := Reason(r, true); !strings.Contains(text, "runs the gates again") {
		t.Errorf("does not say that it checks again:\n%s", text)
	}
}

// Any failure gives a reason that names every gate while there is room, never
// floods the agent, and always ends with the rules.
func TestReasonStaysWithinItsBounds(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.StringMatching("[a-z`\n ]{1,30}é").Draw(t, "part"), rapid.IntRange(0, 3000).Draw(t, "times"))
	}))
	rapid.Check(t, func(t *rapid.T) {
		var gates []GateResult
		for i := range rapid.IntRange(0, 30).Draw(t, "gates") {
			g := GateResult{Job: fmt.Sprintf("check:.:g%02d", i), Kind: KindCheck, Outcome: GateFailed, Message: text.Draw(t, "message"), Tail: text.Draw(t, "tail"), Log: "/p/l.log"}
			if rapid.Bool().Draw(t, "review") {
				g.Kind, g.Violations = KindReview, []review.Violation{{File: "f", Issue: text.Draw(t, "issue"), Status: review.New}}
			}
			gates = append(gates, g)
		}
		got := Reason(failedResult(gates...), true)
		if len(got) >= 8<<10 || !utf8.ValidString(got) {
			t.Fatalf("%d bytes, valid %t", len(got), utf8.ValidString(got))
		}
		if !strings.HasSuffix(got, ".\n") || !strings.Contains(got, "Retry limit exceeded") {
			t.Fatalf("the rules are cut:\n%s", got)
		}
		for _, g := range gates {
			if !strings.Contains(got, g.Job) {
				t.Fatalf("%s is not named in\n%s", g.Job, got)
			}
		}
	})
}

func TestReasonShowsTheEndOfTheOutput(t *testing.T) {
	tail := strings.Repeat("noise\n", 5000) + "the cause"
	got := Reason(failedResult(GateResult{Job: "check:.:t", Kind: KindCheck, Outcome: GateFailed, Tail: tail}), true)
	if !strings.Contains(got, "the cause") {
		t.Errorf("the cause is missing in\n%s", got)
	}
}
