package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What gates print, and names that come from outside, must fit a line of a
// terminal and must not steer it.

// maxClean bounds the work on one line of output: no terminal shows more of it.
const maxClean = 4 << 10

// lastDrawn is what is to be seen of a line that was drawn several times over
// itself, as progress is.
func lastDrawn(line string) string {
	line = strings.TrimRight(line, "\r\n")
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// clean makes one line of text without escape sequences and control characters.
func clean(text string) string {
	text = text[:min(len(text), maxClean)]
	var b strings.Builder
	for text != "" {
		if rest, ok := cutEscape(text); ok {
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// cutEscape drops the escape sequence that the text begins with.
func cutEscape(text string) (rest string, ok bool) {
	if len(text) == 0 || text[0] != '\x1b' {
		return text, false
	}
	if len(text) == 1 {
		return "", true
	}
	switch text[1] {
	case '[': // parameters, then one letter that ends it
		for i := 2; i < len(text); i++ {
			if text[i] >= '@' && text[i] <= '~' {
				return text[i+1:], true
			}
		}
		return "", true
	case ']', 'P', '_', '^', 'X': // a string, which BEL or ESC \ ends
		end := strings.IndexAny(text[2:], "\a\x1b")
		if end < 0 {
			return "", true
		}
		return strings.TrimPrefix(text[2+end+1:], `\`), true
	}
	return text[2:], true
}

// cells is how many columns a text takes; our own colours take none.
func cells(text string) int {
	n := 0
	for text != "" {
		if rest, ok := cutEscape(text); ok {
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		n += runeCells(r)
	}
	return n
}

// cut shortens a text without colours to at most width columns.
func cut(text string, width int) string {
	if cells(text) <= width {
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

// pad cuts or fills a text to exactly width columns.
func pad(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(0, width-cells(text)))
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
