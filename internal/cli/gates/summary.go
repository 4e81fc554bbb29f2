package gates

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// summary tells a person how a run ended: every gate, then whatever did not pass
// with what to do about it.
type summary struct {
	out   io.Writer
	paint term.Paint
	// short shows a path as a person would type it.
	short func(path string) string
	// width is how many columns there are; 0 for as many as it takes.
	width int
}

func (s summary) print(r *gauntlet.Result) {
	s.table(r.Gates)
	for _, g := range troubled(r) {
		s.trouble(g)
	}
	if len(r.Gates) > 0 {
		fmt.Fprintln(s.out)
	}
	s.remarks("warning", r.Warnings)
	s.remarks("note", r.Notes)
	s.verdict(r)
}

// troubled lists the gates that need something to be done. In a run that
// was interrupted, those that could not run are none.
func troubled(r *gauntlet.Result) []*gauntlet.GateResult {
	var all []*gauntlet.GateResult
	for i := range r.Gates {
		g := &r.Gates[i]
		if g.Outcome == gauntlet.GateFailed || g.Outcome == gauntlet.GateCouldNotRun && !r.Interrupted {
			all = append(all, g)
		}
	}
	return all
}

// table has a line for each gate.
func (s summary) table(gates []gauntlet.GateResult) {
	names := 0
	for i := range gates {
		names = max(names, term.Cells(gateName(&gates[i])))
	}
	for i := range gates {
		g := &gates[i]
		line := fmt.Sprintf("%s %s %*s", Mark(s.paint, g.Outcome), term.Pad(gateName(g), names), term.TimeColumn, took(g))
		if words := endWords(g); words != "" {
			line += "  " + s.paint.Faint(s.fit(words, term.Cells(line)+2))
		}
		fmt.Fprintln(s.out, line)
	}
}

// fit shortens words to what a line has left. The whole of them comes below.
func (s summary) fit(words string, used int) string {
	if s.width == 0 {
		return words
	}
	return term.Cut(words, max(10, s.width-used))
}

// trouble shows a gate that did not pass: what it found, then what to do.
func (s summary) trouble(g *gauntlet.GateResult) {
	fmt.Fprintf(s.out, "\n%s %s: %s\n", Mark(s.paint, g.Outcome), s.paint.Bold(gateName(g)), endWords(g))
	if g.Tail != "" {
		for line := range strings.SplitSeq(g.Tail, "\n") {
			fmt.Fprintf(s.out, "  %s %s\n", s.paint.Faint("│"), term.PrintableLine(line))
		}
	}
	for i := range g.Violations {
		s.violation(&g.Violations[i])
	}
	s.steps(g)
}

// steps say what to do about a gate.
func (s summary) steps(g *gauntlet.GateResult) {
	for _, step := range nextSteps(g, s.short) {
		fmt.Fprintf(s.out, "  %s %s\n", s.paint.Faint("→"), strings.ReplaceAll(step, "\n", "\n    "))
	}
}

func (s summary) violation(v *review.Violation) {
	fmt.Fprintf(s.out, "  %s  %s  %s\n", s.priority(v.Priority), s.paint.Bold(plain.Line(v.Location())), s.paint.Faint(v.ID))
	fmt.Fprintf(s.out, "            %s\n", plain.Line(v.Issue))
	if v.Fix != "" {
		fmt.Fprintf(s.out, "            %s\n", s.paint.Faint("fix: "+plain.Line(v.Fix)))
	}
	if v.Status != review.New {
		fmt.Fprintf(s.out, "            %s %s\n", s.paint.Green(string(v.Status)+":"), plain.Line(v.Result))
	}
}

func (s summary) priority(p config.Priority) string {
	text := fmt.Sprintf("%-8s", plain.Line(string(p)))
	if p.AtLeast(config.High) {
		return s.paint.Red(text)
	}
	return s.paint.Yellow(text)
}

func (s summary) remarks(kind string, texts []string) {
	for _, text := range texts {
		fmt.Fprintf(s.out, "%s: %s\n", s.paint.Yellow(kind), plain.Line(text))
	}
}

// verdict is the last word: how it ended and, where that is not well, what now.
func (s summary) verdict(r *gauntlet.Result) {
	word := verdictWord(r)
	switch exitFor(r) {
	case term.ExitOK:
		word = s.paint.Green(word)
	case term.ExitCouldNotRun, term.ExitInterrupted:
		word = s.paint.Yellow(word)
	default:
		word = s.paint.Red(word)
	}
	if len(r.Gates) > 0 {
		fmt.Fprintf(s.out, "%s: %s in %s\n", s.paint.Bold(word), tallyOf(r.Gates), term.Elapsed(r.Duration))
	} else {
		fmt.Fprintln(s.out, plain.Line(r.Sentence()))
	}
	if step := afterRun(r); step != "" {
		fmt.Fprintf(s.out, "%s %s\n", s.paint.Faint("→"), step)
	}
}

func verdictWord(r *gauntlet.Result) string {
	switch {
	case r.Interrupted:
		return "Interrupted"
	case r.Status == gauntlet.Passed:
		return "Passed"
	case r.Status == gauntlet.PassedWithWarnings:
		return "Passed with warnings"
	case r.Status == gauntlet.NoApplicableGates:
		return "Nothing to do"
	case r.Status == gauntlet.Failed:
		return "Failed"
	}
	return "Could not run"
}

// tallyOf counts the gates by how they ended.
func tallyOf(gates []gauntlet.GateResult) string {
	outcomes := []gauntlet.Outcome{gauntlet.GatePassed, gauntlet.GateProven, gauntlet.GateFailed, gauntlet.GateCouldNotRun, gauntlet.GateNotStarted}
	counts := make([]int, len(outcomes))
	for _, g := range gates {
		if at := slices.Index(outcomes, g.Outcome); at >= 0 {
			counts[at]++
		}
	}
	return term.Tally([]string{"passed", string(gauntlet.Unchanged), "failed", "could not run", "not started"}, counts)
}

// follow adds what to do next to what the run has printed line by line.
func (s summary) follow(r *gauntlet.Result) {
	for _, g := range troubled(r) {
		fmt.Fprintf(s.out, "Next for %s:\n", g.Job)
		s.steps(g)
	}
	if step := afterRun(r); step != "" {
		fmt.Fprintln(s.out, "Next: "+step)
	}
}

// exitFor is the exit code of a run that ended so.
func exitFor(r *gauntlet.Result) int {
	switch {
	case r.Interrupted:
		return term.ExitInterrupted
	case r.Status == gauntlet.Failed:
		return term.ExitFailed
	case r.Status == gauntlet.Passed, r.Status == gauntlet.PassedWithWarnings, r.Status == gauntlet.NoApplicableGates:
		return term.ExitOK
	}
	return term.ExitCouldNotRun
}
