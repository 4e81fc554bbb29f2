package term

import (
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Cells is how many columns a text takes; our own colours take none.
func Cells(text string) int {
	n := 0
	for text != "" {
		if rest, ok := plain.CutEscape(text); ok {
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		n += plain.Cells(r)
	}
	return n
}

// Cut shortens a text without colours to at most width columns.
func Cut(text string, width int) string {
	if Cells(text) <= width {
		return text
	}
	n := 0
	for i, r := range text {
		if n += plain.Cells(r); n > width-1 { // the last one is for the dots
			return text[:i] + strings.Repeat("…", min(1, max(0, width)))
		}
	}
	return text
}

// Pad cuts or fills a text to exactly width columns.
func Pad(text string, width int) string {
	text = Cut(text, width)
	return text + strings.Repeat(" ", max(0, width-Cells(text)))
}
