package status

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/record/event"
)

func blocked() *event.Record {
	return &event.Record{
		Kind: event.Answered, Time: time.Now(), Event: "Stop", Session: "5d8ff7a1-3c2b-4d1e", Project: "/home/dev/my-web-application", Decision: "block",
		Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "failed", Status: "failed", DurationMS: 318, Message: "the gates failed: " + strings.Repeat("word ", 20)}},
	}
}

// On a terminal of 80 columns the columns are straight and there is room for the reason; what is
// longer wraps below, but for a path, which is to be copied.
func TestLogFitsATerminal(t *testing.T) {
	path := strings.Repeat("/deep", 20)
	r := blocked()
	r.Trees = []event.Tree{{Gates: []event.Gate{{Job: "check:.:lint", Outcome: "failed", Log: path}}}}
	lines := logged(t, r, 80)
	if !strings.HasSuffix(lines[0], "  block   gates: failed in 0.3s") || !strings.Contains(lines[0], "  my-web-a…  Stop   ") {
		t.Errorf("%q", lines[0])
	}
	for i, line := range lines {
		if term.Cells(line) > 80 && !strings.Contains(line, path) {
			t.Errorf("%d columns: %q", term.Cells(line), line)
		}
		if i > 0 && !strings.HasPrefix(line, "    ") {
			t.Errorf("not below: %q", line)
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

// In a pipe nothing is cut or wrapped.
func TestLogIsWholeInAPipe(t *testing.T) {
	lines := logged(t, blocked(), math.MaxInt)
	if len(lines) != 2 || !strings.Contains(lines[0], "  my-web-application  Stop") {
		t.Errorf("%q", lines)
	}
}

// A reason that does not fit is the first line below.
func TestLogReasonsThatDoNotFit(t *testing.T) {
	r := blocked()
	r.Effects = []string{strings.Repeat("queue ended ", 4)}
	lines := logged(t, r, 80)
	if !strings.HasSuffix(lines[0], "  block") || !strings.HasPrefix(lines[1], "    gates: failed in 0.3s, queue ended") {
		t.Errorf("%q", lines)
	}
}

func logged(t *testing.T, r *event.Record, width int) []string {
	t.Helper()
	var out strings.Builder
	view := newLogView(&out)
	view.width, view.projects = width, true
	if err := view.line(r); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
}
