package setup

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// printChanges shows how files differ from the approved ones, as a unified diff.
func printChanges(out io.Writer, p term.Paint, folder string, changes []trust.Change) {
	for _, c := range changes {
		fmt.Fprintln(out)
		fmt.Fprintln(out, p.Bold("--- "+nameIn("approved", c.Path, c.Before)))
		fmt.Fprintln(out, p.Bold("+++ "+nameIn(folder, c.Path, c.After)))
		if c.Before != nil && c.After != nil && c.Before.Exec != c.After.Exec {
			fmt.Fprintln(out, modeChange(c.After.Exec))
		}
		for _, line := range diffOf(textOf(c.Before), textOf(c.After)) {
			fmt.Fprintln(out, paintDiff(p, visible(line)))
		}
	}
}

func nameIn(folder, name string, v *trust.Version) string {
	if v == nil {
		return "/dev/null"
	}
	return plain.Name(path.Join(folder, name))
}

func modeChange(executable bool) string {
	if executable {
		return "the file is now executable"
	}
	return "the file is no longer executable"
}

func textOf(v *trust.Version) string {
	if v == nil {
		return ""
	}
	return string(v.Data)
}

// diffOf is a unified diff, also of what has no lines to compare.
func diffOf(before, after string) []string {
	switch {
	case before == after:
		return nil
	case strings.Contains(before+after, "\x00"):
		return []string{"the files are binary"}
	}
	if lines := protect.Unified(before, after); len(lines) > 0 {
		return lines
	}
	return []string{"only the newline at the end of the file changed"}
}

// visible shows what cannot be seen in escapes. Nothing is left out: a person is to approve it.
func visible(line string) string {
	var b strings.Builder
	for _, r := range line {
		if r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

func paintDiff(p term.Paint, line string) string {
	switch line[0] {
	case '@':
		return p.Faint(line)
	case '-':
		return p.Red(line)
	case '+':
		return p.Green(line)
	}
	return line
}
