package term

import (
	"strings"
	"unicode"
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
		n += runeCells(r)
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
		if n += runeCells(r); n > width-1 { // the last one is for the dots
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

// wide are the blocks whose characters take two columns: East Asian scripts and
// pictures. Terminals differ on the rest, which is rare in what gates print.
var wide = [...]struct{ first, last rune }{
	{0x1100, 0x115f},
	{0x2e80, 0x303e},
	{0x3041, 0xa4cf},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
}

func runeCells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0 // drawn over the character before
	}
	for _, block := range wide {
		if r >= block.first && r <= block.last {
			return 2
		}
	}
	return 1
}
