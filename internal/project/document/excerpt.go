package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
	for _, r := range text[at:max(at, min(at+width, to))] {
		carets.WriteString(strings.Repeat("^", cells(r)))
	}
	if at >= to {
		carets.WriteByte('^')
	}
	return source.String() + "\n" + carets.String()
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
	return strings.Repeat(" ", cells(r))
}

// cells is the number of columns that a terminal gives to r. It knows the large
// blocks only: a caret that is off by one below a rare sign is no harm, and the
// full tables would cost every hook call.
func cells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, // Hangul
		r >= 0x2e80 && r <= 0xa4cf, // CJK
		r >= 0xac00 && r <= 0xd7a3, // Hangul
		r >= 0xf900 && r <= 0xfaff, // CJK
		r >= 0xfe30 && r <= 0xfe6f, // CJK
		r >= 0xff00 && r <= 0xff60, // full width
		r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, // pictures
		r >= 0x20000 && r <= 0x3fffd: // CJK
		return 2
	}
	return 1
}
