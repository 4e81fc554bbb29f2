package top

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// line is a text from outside in one line, without anything that steers a terminal.
func line(text string) string { return calm(plain.Line(text)) }

// calm leaves out what terminals draw in different widths: selectors of variants, and marks that are
// piled up on one character.
func calm(text string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef:
			return -1
		case !unicode.In(r, unicode.Mn, unicode.Me):
			marks = 0
			return r
		}
		const most = 2
		if marks++; marks > most {
			return -1
		}
		return r
	}, text)
}

// cells is how many columns a text takes. Terminals count the parts of some characters one by one, or
// all of them as one: the larger number is safe.
func cells(text string) int { return max(ansi.StringWidth(text), ansi.StringWidthWc(text)) }

// cut shortens a text to at most so many columns.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if cells(text) <= width {
		return text
	}
	for w := width; w > 0; w-- {
		if short := ansi.Truncate(text, w, "…"); cells(short) <= width {
			return short
		}
	}
	return ""
}

// pad cuts or fills a text to exactly so many columns.
func pad(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(0, width-cells(text)))
}

// wrap makes lines of what an agent or a person wrote.
func wrap(text string, width int) (lines []string) {
	const most = 64 << 10 // a person reads no more of it on a screen
	text = plain.Words(plain.Cut(text, most))
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		part = strings.TrimRight(calm(strings.ReplaceAll(part, "\t", "    ")), " ")
		for wrapped := range strings.SplitSeq(ansi.Wrap(part, max(1, width), ""), "\n") {
			lines = append(lines, cut(wrapped, width))
		}
	}
	return lines
}

// indent puts a beginning before lines: before the first, and as much space before the others.
func indent(beginning string, lines []string) []string {
	out := make([]string, len(lines))
	for i, text := range lines {
		out[i] = beginning + text
		beginning = strings.Repeat(" ", cells(beginning))
	}
	return out
}

// ago is how long ago something was, in at most six characters.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return short(now.Sub(t))
}

// short is a duration in at most six characters.
func short(d time.Duration) string {
	switch d = max(0, d); { // the clock may have been set back
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// exact is a duration of milliseconds in at most six characters.
func exact(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= 0 && d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return short(d)
}

// money is a cost; "" where there is none.
func money(usd float64) string {
	if usd <= 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", usd)
}

// maxPath is longer than the path of any project.
const maxPath = 4 << 10

// projectName is what people call a project.
func projectName(root string) string {
	if root == "" {
		return ""
	}
	return filepath.Base(root[max(0, len(root)-maxPath):])
}

// shortID is enough of an id for people.
func shortID(id string) string {
	if id = id[:min(len(id), 8)]; daemonapi.IsID(id) {
		return id
	}
	return line(id)
}
