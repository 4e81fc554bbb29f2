package gates

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

// What failed is annotated where it is, by its path from the top of the repository.
func TestIssue19Annotations(t *testing.T) {
	top := t.TempDir()
	project := filepath.Join(top, "shop")
	for _, dir := range []string{filepath.Join(top, ".git"), project} {
		check(t, os.Mkdir(dir, 0o755))
	}
	check(t, os.WriteFile(filepath.Join(top, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	result := &gauntlet.Result{Status: gauntlet.Failed, Gates: []gauntlet.GateResult{
		{Kind: gauntlet.KindCheck, Entry: ".", Name: "lint", Outcome: gauntlet.GatePassed},
		{Kind: gauntlet.KindCheck, Entry: ".", Name: "test", Outcome: gauntlet.GateFailed, Message: "Exited with code 1: 50%\nmore"},
		{Kind: gauntlet.KindCheck, Entry: ".", Name: "a,b", Outcome: gauntlet.GateCouldNotRun, Message: "no such program"},
		{Kind: gauntlet.KindReview, Entry: ".", Name: "security", Outcome: gauntlet.GateFailed, Violations: []review.Violation{
			{File: "api/a:b.go", Line: "10-12", Issue: "SQL from\nstrings"}, {File: "x.go", Line: "end", Issue: "late"}, {Issue: "no tests"},
		}},
	}}
	var b strings.Builder
	annotate(&b, result, project)
	got := strings.Split(strings.TrimSpace(b.String()), "\n")
	want := []string{
		"::error title=stopgate%3A test::Exited with code 1: 50%25 more",
		"::warning title=stopgate%3A a%2Cb::could not run: no such program",
		"::error file=shop/api/a%3Ab.go,line=10,title=stopgate%3A review security::SQL from strings",
		"::error file=shop/x.go,title=stopgate%3A review security::late",
		"::error title=stopgate%3A review security::no tests",
	}
	if !slices.Equal(got, want) {
		t.Errorf("annotations\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Whatever gates and reviewers say, each finding is one command, and it is ours.
func TestIssue19AnnotationsAreNotForged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, name)) + "\n::add-path::/tmp\r"
		}
		violations := make([]review.Violation, rapid.IntRange(0, 3).Draw(t, "violations"))
		for i := range violations {
			violations[i] = review.Violation{File: text("file"), Line: review.Line(text("line")), Issue: text("issue")}
		}
		var b strings.Builder
		annotate(&b, &gauntlet.Result{Gates: []gauntlet.GateResult{{
			Kind: gauntlet.KindReview, Entry: text("entry"), Name: text("name"), Message: text("said"), Outcome: gauntlet.GateFailed, Violations: violations,
		}}}, "/nowhere")
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != max(1, len(violations)) {
			t.Fatalf("%q", lines)
		}
		for _, line := range lines {
			if !strings.HasPrefix(line, "::error ") || strings.ContainsAny(line, "\r") {
				t.Fatalf("%q", line)
			}
		}
	})
}
