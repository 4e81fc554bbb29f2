package term

import (
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Prose is an output for sentences. On a terminal, a line that does not fit is broken between words and
// goes on below the column where its text began; elsewhere it stays one line, for grep. Lines must
// be written whole, or as a prompt.
func Prose(out io.Writer) io.Writer {
	file, ok := IsScreen(out)
	if !ok {
		return out
	}
	return stream{ProseIn(Verbatim(out), WidthOf(out)), file}
}

// ProseIn is Prose for a text that is shown later, in so many columns.
func ProseIn(out io.Writer, width int) io.Writer { return prose{out, width} }

type prose struct {
	out   io.Writer
	width int
}

func (p prose) Write(text []byte) (int, error) {
	var folded strings.Builder
	for line := range strings.Lines(string(text)) {
		body, ended := strings.CutSuffix(line, "\n")
		folded.WriteString(strings.Join(Fold(body, p.width), "\n"))
		if ended {
			folded.WriteByte('\n')
		}
	}
	if _, err := io.WriteString(p.out, folded.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Verbatim is an output without Prose, for what must stay as it is.
func Verbatim(out io.Writer) io.Writer {
	inner := out
	if s, ok := out.(stream); ok {
		inner = s.Writer
	}
	if p, ok := inner.(prose); ok {
		return Verbatim(p.out)
	}
	return out
}

// PrintFault prints a fault behind a mark. The lines of its file stay as they are: a caret stands below what it
// is about.
func PrintFault(out io.Writer, mark string, f document.Fault) {
	for i, line := range strings.Split(mark+f.Detail(), "\n") {
		to := out
		if f.Excerpt != "" && (i == 1 || i == 2) {
			to = Verbatim(out)
		}
		fmt.Fprintln(to, line)
	}
}

// Fold breaks a line of our own, which may have colours, into lines of at most width columns. A
// hint (→) begins a line and stays whole, as does a word that is longer than a line: a terminal breaks
// a command or a path so that it can be copied.
func Fold(text string, width int) []string {
	if Cells(text) <= width {
		return []string{text}
	}
	column := hangAt(text, width)
	var lines []string
	line, begun, hinted := "", false, false
	for i, word := range strings.Split(text, " ") {
		hint := !hinted && bare(word) == hintMark
		if begun && !hinted && word != "" && (hint || Cells(line)+1+Cells(word) > width) {
			lines = append(lines, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", column) + word
		} else {
			if i > 0 {
				line += " "
			}
			line += word
		}
		begun, hinted = begun || word != "", hinted || hint
	}
	return carryColours(append(lines, line))
}

// hintMark stands before what to do.
const hintMark = "→"

// hangAt is the column below which a line goes on: behind the last two spaces in its first half, which end a
// column, or where its text begins.
func hangAt(text string, width int) int {
	text = bare(text)
	at := textBegin(text)
	for i := at; i+2 < len(text); i++ {
		if text[i:i+2] == "  " && text[i+2] != ' ' && !strings.HasPrefix(text[i+2:], hintMark) {
			if column := Cells(text[:i+2]); column <= width/2 {
				at = column
			}
		}
	}
	return min(at, width/2)
}

// bare is a text without its colours.
func bare(text string) string {
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

// carryColours ends a colour with its line and begins it again on the next one: a pager shows each line
// on its own.
func carryColours(lines []string) []string {
	const end = "\x1b[0m"
	open := ""
	for i, line := range lines {
		line = open + line
		if at := strings.LastIndex(line, "\x1b["); at >= 0 {
			open = line[at : at+strings.IndexByte(line[at:], 'm')+1]
		}
		if open == end {
			open = ""
		}
		if open != "" {
			line += end
		}
		lines[i] = line
	}
	return lines
}
