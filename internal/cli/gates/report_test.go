package gates

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

// junitSuites is the report as a CI system reads it.
type junitSuites struct {
	Suites []struct {
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []struct{} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestReports(t *testing.T) {
	for name, result := range testResults() {
		goldentest.Check(t, "report/"+name+".xml", string(junit(result)))
		goldentest.Check(t, "report/"+name+".md", string(markdown(result)))
	}
}

// TestJUnitIsNeverGreenByAccident: a report without a bad case is taken for a pass.
func TestJUnitIsNeverGreenByAccident(t *testing.T) {
	for name, result := range testResults() {
		var read junitSuites
		check(t, xml.Unmarshal(junit(result), &read))
		bad := read.Suites[0].Failures+read.Suites[0].Errors > 0
		if bad != (exitFor(result) != term.ExitOK) {
			t.Errorf("%s: bad cases: %t, exit code %d", name, bad, exitFor(result))
		}
	}
}

// TestJUnitIsWellFormed whatever gates print and are called.
func TestJUnitIsWellFormed(t *testing.T) {
	outcomes := []gauntlet.Outcome{gauntlet.GatePassed, gauntlet.GateFailed, gauntlet.GateCouldNotRun, gauntlet.GateNotStarted, gauntlet.GateProven}
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, name)) }
		result := &gauntlet.Result{Status: gauntlet.Failed, Message: text("message"), ErrorMessage: text("error")}
		for range rapid.IntRange(0, 3).Draw(t, "gates") {
			result.Gates = append(result.Gates, gauntlet.GateResult{
				Kind: gauntlet.KindCheck, Entry: text("entry"), Name: text("name"), Message: text("said"), Tail: text("tail") + "]]>", Log: text("log"),
				Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"), Violations: []review.Violation{{File: text("file"), Issue: text("issue")}},
			})
		}
		var read junitSuites
		if err := xml.Unmarshal(junit(result), &read); err != nil {
			t.Fatalf("%v in\n%s", err, junit(result))
		}
		if cases := read.Suites[0].Cases; len(cases) < len(result.Gates) || len(cases) != read.Suites[0].Tests {
			t.Errorf("%d cases, %d tests, %d gates", len(cases), read.Suites[0].Tests, len(result.Gates))
		}
	})
}

// TestMarkdownHoldsItsTables: no text breaks out of its cell or its fence.
func TestMarkdownHoldsItsTables(t *testing.T) {
	result := &gauntlet.Result{Status: gauntlet.Failed, Gates: []gauntlet.GateResult{{
		Kind: gauntlet.KindCheck, Entry: ".", Name: "x", Outcome: gauntlet.GateFailed,
		Message: "a | b\n\n# <script>", Tail: "````\n# still output\n```",
	}}}
	text := string(markdown(result))
	if !strings.Contains(text, `| x | failed | 0.0s | a \| b  \# \<script\> |`) {
		t.Errorf("the cell is not one cell:\n%s", text)
	}
	if !strings.Contains(text, "`````text\n````\n# still output\n```\n`````\n") {
		t.Errorf("the fence is not closed by itself alone:\n%s", text)
	}
}

func TestReportsFor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.md")
	reports, err := reportsFor([]string{filepath.Join(dir, "r.xml"), path})
	check(t, err)
	for _, r := range reports {
		if err := r.write(testResults()["failed"]); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), "# stopgate: failed\n") {
		t.Errorf("%s, %v", text, err)
	}
	for _, path := range []string{"", "report", "report.txt", ".xml.gz", "r.XML", filepath.Join(dir, "not", "there", "r.md")} {
		if _, err := reportsFor([]string{path}); err == nil {
			t.Errorf("%q was taken", path)
		}
	}
}
