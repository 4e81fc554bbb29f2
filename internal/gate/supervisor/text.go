package supervisor

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// ellipsis stands for what was left out of the middle of a text.
const ellipsis = "\n[…]\n"

// maxTicks is the longest run of backticks that is kept of a quoted text. A fence
// has to be longer.
const maxTicks = 32

// shorten keeps the beginning and the end of a text that has more characters or
// bytes than it may have. What a text begins and ends with says most about it.
func shorten(text string, characters, size int) string {
	if len(text) <= size && (len(text) <= characters || utf8.RuneCountInString(text) <= characters) {
		return text
	}
	characters = (characters - utf8.RuneCountInString(ellipsis)) / 2
	size = (size - len(ellipsis)) / 2
	return plain.Head(text, characters, size) + ellipsis + plain.Tail(text, characters, size)
}

// printable leaves out what is no text: control characters, and backticks beyond
// what a fence can be made for.
func printable(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	text = strings.ReplaceAll(text, "\r\n", "\n")
	ticks := 0
	for _, r := range text {
		if r != '`' {
			ticks = 0
		} else if ticks++; ticks > maxTicks {
			continue
		}
		switch {
		case r == '\r':
			b.WriteByte('\n')
		case r == '\n' || r == '\t' || !unicode.IsControl(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quotable bounds a text and makes it fit for a fence. It is shortened first: most of
// ten megabytes need not be looked at.
func quotable(text string, characters, size int) string {
	text = shorten(strings.TrimSpace(text), 2*characters, 2*size)
	return shorten(strings.TrimSpace(printable(text)), characters, size)
}

// fence puts a text between lines of backticks that it cannot close.
func fence(text string) string {
	fenced, _ := plain.Fence("text", text)
	return fenced
}
