package gates

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// annotated reports whether what we print is the log of a job of GitHub Actions, which reads annotations from it.
func annotated(variables []string) bool { return environ.Get(variables, "GITHUB_ACTIONS") == "true" }

// annotate prints what GitHub Actions shows on the page of a job, and in a pull request beside the lines that a
// review found something in. The gates are those of the project at root.
func annotate(out io.Writer, r *gauntlet.Result, root string) {
	_, within, _ := paths.Repository(root) // GitHub knows files by their paths from the top of the repository
	for _, g := range troubled(r) {
		level := "error"
		if g.Outcome == gauntlet.GateCouldNotRun {
			level = "warning"
		}
		if len(g.Violations) == 0 {
			fmt.Fprintf(out, "::%s title=%s::%s\n", level, property("stopgate: "+gateName(g)), message(endWords(g)))
		}
		for i := range g.Violations {
			v := &g.Violations[i]
			fmt.Fprintf(out, "::%s %stitle=%s::%s\n", level, place(v, within), property("stopgate: "+gateName(g)), message(v.Issue))
		}
	}
}

// place is where a violation is, as properties of an annotation. Lines may be a range, or no number at all.
func place(v *review.Violation, within string) string {
	if v.File == "" {
		return ""
	}
	at := "file=" + property(path.Join(within, v.File)) + ","
	line, _, _ := strings.Cut(string(v.Line), "-")
	if line != "" && strings.Trim(line, "0123456789") == "" {
		at += "line=" + line + ","
	}
	return at
}

// message is a text in the form that a workflow command wants; it stays one line.
func message(text string) string { return strings.ReplaceAll(plain.Line(text), "%", "%25") }

// property is the same for a value before the text, which ends at a comma or colon.
func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(text))
}
