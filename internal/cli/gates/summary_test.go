package gates

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func testSummary(out *strings.Builder, p term.Paint) summary {
	return summary{out: out, paint: p, short: func(path string) string { return strings.TrimPrefix(path, "/proj/") }}
}

func TestSummary(t *testing.T) {
	for name, result := range testResults() {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			testSummary(&out, false).print(result)
			goldentest.Check(t, "summary/"+name+".txt", out.String())
			if strings.Contains(out.String(), "\x1b") {
				t.Error("what a gate printed steers the terminal")
			}
			var coloured strings.Builder
			testSummary(&coloured, true).print(result)
			if uncoloured(coloured.String()) != out.String() {
				t.Errorf("colours change the text:\n%s", coloured.String())
			}
		})
	}
}

func uncoloured(text string) string {
	var b strings.Builder
	for text != "" {
		if rest, ok := plain.CutEscape(text); ok {
			text = rest
			continue
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return b.String()
}

// TestFollow is what comes after the lines that a run prints in a pipe.
func TestFollow(t *testing.T) {
	for name, result := range testResults() {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			testSummary(&out, false).follow(result)
			goldentest.Check(t, "follow/"+name+".txt", out.String())
		})
	}
}

// TestEveryFailureSaysWhatToDo: there is no bad end without a next step.
func TestEveryFailureSaysWhatToDo(t *testing.T) {
	for name, result := range testResults() {
		var out strings.Builder
		testSummary(&out, false).print(result)
		bad := exitFor(result) != term.ExitOK && !result.Interrupted
		if says := strings.Contains(out.String(), "→ "); says != bad {
			t.Errorf("%s: a next step: %t, wanted: %t\n%s", name, says, bad, out.String())
		}
	}
}

func TestExitFor(t *testing.T) {
	for status, want := range map[gauntlet.Status]int{
		gauntlet.Passed: 0, gauntlet.PassedWithWarnings: 0, gauntlet.NoApplicableGates: 0, gauntlet.Failed: 1,
		gauntlet.InfrastructureError: 3, gauntlet.Error: 3, gauntlet.LockExists: 3, gauntlet.Untrusted: 3, "something new": 3,
	} {
		if got := exitFor(&gauntlet.Result{Status: status}); got != want {
			t.Errorf("%s exits with %d, not %d", status, got, want)
		}
		if got := exitFor(&gauntlet.Result{Status: status, Interrupted: true}); got != 130 {
			t.Errorf("%s, interrupted, exits with %d", status, got)
		}
	}
}

func TestSummaryFitsTheScreen(t *testing.T) {
	var out strings.Builder
	s := summary{out: &out, short: func(path string) string { return path }, width: 40}
	s.table([]gauntlet.GateResult{{Name: "x", Entry: ".", Outcome: gauntlet.GateCouldNotRun, Message: strings.Repeat("long ", 30)}})
	for line := range strings.Lines(out.String()) {
		if n := term.Cells(strings.TrimSuffix(line, "\n")); n > 40 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
