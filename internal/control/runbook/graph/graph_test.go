package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

var update = flag.Bool("update", false, "write the golden files anew")

func step(name, done, fail, cancel string) runbook.Step {
	return runbook.Step{Name: name, Run: runbook.Run{Shell: "make " + name}, OnDone: done, OnFail: fail, OnCancel: cancel}
}

// fix is a pipeline with a loop, a way round, and clean-up for all steps.
func fix() runbook.Pipeline {
	return runbook.Pipeline{
		Name: "fix", OnFail: "undo", OnCancel: "undo",
		Steps: []runbook.Step{
			step("plan", "work", "", ""),
			{Name: "work", Run: runbook.Run{Agent: "author"}, OnDone: "test"},
			step("test", "review", "work", ""),
			{Name: "review", Run: runbook.Run{Agent: "reviewer"}, OnDone: "merge", OnFail: "work"},
			step("merge", "", "test", "tidy"),
			step("tidy", "", "", ""),
			step("undo", "tidy", "", ""),
		},
	}
}

func TestText(t *testing.T) {
	want := `
plan    sh: make plan
  done ↓
work    agent author ◀────┬─╮
  done ↓                  │ │
test    sh: make test ◀───┼─┼─╮
  done ↓                  │ │ │
  fail ───────────────────╯ │ │
review  agent reviewer      │ │
  done ↓                    │ │
  fail ─────────────────────╯ │
merge   sh: make merge        │
  done → (done)               │
  fail ───────────────────────╯
  cancel ↓
tidy    sh: make tidy ◀───╮
  done → (done)           │
undo    sh: make undo ◀───┼─┬─╮
  done ───────────────────╯ │ │
any step                    │ │
  fail ─────────────────────╯ │
  cancel ─────────────────────╯
`
	got := "\n" + strings.Join(Of(fix()).Text(), "\n") + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, got)
	}
}

func TestSVG(t *testing.T) {
	odd := runbook.Pipeline{Name: "odd", Steps: []runbook.Step{{Name: "a", Run: runbook.Run{Shell: "echo \"<b>&\x1b[31m]]>\"\nx"}}}}
	got := SVG([]Graph{Of(fix()), Of(odd)})
	const golden = "testdata/fix.svg"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	wellFormed(t, got)
	if strings.Contains(string(got), "<b>") || strings.ContainsRune(string(got), 0x1b) {
		t.Error("a step's text is not escaped")
	}
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// Whatever leads where, each transition is drawn, no box covers another, and the drawing is the
// same each time.
func TestRandomGraphs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		p := runbook.Pipeline{Name: "p"}
		n := 1 + random.IntN(9)
		name := func() string { return fmt.Sprintf("s%d", random.IntN(n)) }
		maybe := func() string {
			if random.IntN(2) == 0 {
				return ""
			}
			return name()
		}
		for i := range n {
			p.Steps = append(p.Steps, step(fmt.Sprintf("s%d", i), maybe(), maybe(), maybe()))
		}
		p.OnFail, p.OnCancel, p.Finally = maybe(), maybe(), maybe()
		g := Of(p)
		text := strings.Join(g.Text(), "\n")
		if text != strings.Join(Of(p).Text(), "\n") || !bytes.Equal(SVG([]Graph{g}), SVG([]Graph{Of(p)})) {
			t.Fatalf("not the same twice:\n%s", text)
		}
		ways := strings.Count(text, "→") + strings.Count(text, "↓")
		begins := 0
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "  ") && strings.HasSuffix(strings.TrimRight(line, " │"), "─╮") || strings.HasPrefix(line, "  ") && strings.HasSuffix(strings.TrimRight(line, " │"), "─╯") {
				begins++
			}
		}
		if ways+begins != len(g.Edges) {
			t.Fatalf("%d of %d transitions are drawn:\n%s", ways+begins, len(g.Edges), text)
		}
		wellFormed(t, SVG([]Graph{g}))
		l := layout(g)
		for i, a := range l.boxes {
			for _, b := range l.boxes[i+1:] {
				if a.layer == b.layer && a.x < b.x+b.width && b.x < a.x+a.width {
					t.Fatalf("%s covers %s", a.Name, b.Name)
				}
			}
		}
	}
}

// Branches hang below their step, and what follows it comes after the last of them.
func TestBranchesOfAStep(t *testing.T) {
	g := Of(runbook.Pipeline{Name: "wide", Steps: []runbook.Step{
		{Name: "all", Parallel: true, Limit: 2, OnDone: "after"},
		{Name: "a", Of: "all", Run: runbook.Run{Shell: "a"}},
		{Name: "b", Of: "all", Run: runbook.Run{Shell: "b"}, Needs: []string{"a"}, ForEach: runbook.ForEach{Text: "x"}},
		{Name: "after", Run: runbook.Run{Pipeline: "other"}},
	}})
	want := strings.Join([]string{
		"all    branches, 2 at a time",
		"  branch ↓",
		"a      sh: a",
		"  needs ↓",
		"b      sh: b, for each item",
		"  done ↓",
		"after  pipeline other",
		"  done → (done)",
	}, "\n")
	if got := strings.Join(g.Text(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if svg := string(SVG([]Graph{g})); strings.Contains(svg, ">needs<") || strings.Count(svg, "<path class=") != 4 {
		t.Errorf("%d lines:\n%s", strings.Count(svg, "<path class="), svg)
	}
}
