package document

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// excerptWidth is how much of a long line is shown; more would wrap and tear
// the carets away from what they point at.
const excerptWidth = 100

// excerpt is the part of the line around the column and a second line with
// width carets below that column.
func excerpt(line string, column, width int) string {
	text := []rune(line)
	at := min(column-1, len(text))
	from := max(0, at-excerptWidth/2)
	to := min(len(text), from+excerptWidth)

	var source, carets strings.Builder
	if from > 0 {
		source.WriteRune('…')
		carets.WriteByte(' ')
	}
	for i, r := range text[from:to] {
		r = Visible(r)
		source.WriteRune(r)
		if from+i < at {
			carets.WriteString(blank(r))
		}
	}
	if to < len(text) {
		source.WriteRune('…')
	}
	below := ""
	for _, r := range text[at:max(at, min(at+width, to))] {
		below += strings.Repeat("^", plain.Cells(Visible(r)))
	}
	return source.String() + "\n" + carets.String() + cmp.Or(below, "^")
}

// Visible keeps escape sequences and the like in a file from reaching the
// terminal of the person who looks at it.
func Visible(r rune) rune {
	if r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return utf8.RuneError
}

// blank takes the same room as r on a terminal.
func blank(r rune) string {
	if r == '\t' {
		return "\t"
	}
	return strings.Repeat(" ", plain.Cells(r))
}
