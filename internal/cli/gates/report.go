package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// report is a file that a run leaves for other programs.
type report struct {
	path   string
	encode func(*gauntlet.Result) []byte
}

// reportsFor decides by their names what the files are to hold.
func reportsFor(paths []string) ([]report, error) {
	var reports []report
	for _, path := range paths {
		r := report{path: path}
		switch filepath.Ext(path) {
		case ".xml":
			r.encode = junit
		case ".md":
			r.encode = markdown
		default:
			return nil, term.BadUsage(fmt.Errorf("--report %s: the name must end in .xml (JUnit) or .md (Markdown)", path), "for example: --report gates.xml")
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return nil, term.BadUsage(fmt.Errorf("--report %s: no such directory", path), "create it first: mkdir -p "+term.Quote(filepath.Dir(path)))
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func (r report) write(result *gauntlet.Result) error {
	return atomicfile.Write(r.path, r.encode(result), 0o644)
}

// markdown is the report for people, such as the summary of a CI job.
func markdown(r *gauntlet.Result) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# stopgate: %s\n\n%s\n", strings.ToLower(verdictWord(r)), inline(r.Sentence()))
	if len(r.Gates) > 0 {
		b.WriteString("\n| gate | result | time | |\n|---|---|---:|---|\n")
	}
	for i := range r.Gates {
		g := &r.Gates[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", inline(gateName(g)), outcomeWord(g.Outcome), took(g), inline(g.Message))
	}
	for _, g := range troubled(r) {
		b.WriteString(chapter(g))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "\n> **Warning** %s\n", inline(warning))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\n> %s\n", inline(note))
	}
	return []byte(b.String())
}

// chapter is a gate that did not pass.
func chapter(g *gauntlet.GateResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", inline(gateName(g)), inline(endWords(g)))
	if len(g.Violations) > 0 {
		b.WriteString("\n| priority | where | issue | id |\n|---|---|---|---|\n")
	}
	for _, v := range g.Violations {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", inline(string(v.Priority)), inline(v.Location()), inline(v.Issue), inline(v.ID))
	}
	if g.Tail != "" {
		output, _ := plain.Fence("text", term.PrintableLines(g.Tail))
		b.WriteString("\n" + output)
	}
	if g.FixInstructions != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(g.FixInstructions))
	}
	if g.Log != "" {
		fmt.Fprintf(&b, "\nLog: %s\n", inline(g.Log))
	}
	return b.String()
}

// inline makes one line of text that means nothing to Markdown or HTML.
func inline(text string) string {
	var b strings.Builder
	for _, r := range plain.Line(text) {
		if strings.ContainsRune("\\`*_[]<>|#~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
