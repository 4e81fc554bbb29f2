package supervisor

import (
	"strconv"
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
	return head(text, characters, size) + ellipsis + tail(text, characters, size)
}

// head is the longest beginning within both bounds.
func head(text string, characters, size int) string {
	end := 0
	for ; characters > 0 && end < len(text); characters-- {
		_, width := utf8.DecodeRuneInString(text[end:])
		if end+width > size {
			break
		}
		end += width
	}
	return text[:end]
}

// tail is the longest end within both bounds.
func tail(text string, characters, size int) string {
	start := len(text)
	for ; characters > 0 && start > 0; characters-- {
		_, width := utf8.DecodeLastRuneInString(text[:start])
		if len(text)-start+width > size {
			break
		}
		start -= width
	}
	return text[start:]
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

// inLine is a name as one line: quoted where it would not be one, or not be seen.
func inLine(name string, size int) string {
	line := head(name, size, size)
	whole := len(line) == len(name)
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if line == "" || !utf8.ValidString(line) || strings.ContainsFunc(line, odd) || strings.TrimSpace(line) != line {
		line = strconv.Quote(line)
	}
	if whole && len(line) <= size {
		return line
	}
	return head(line, size, size-len("…")) + "…"
}

// fence puts a text between lines of backticks that it cannot close.
func fence(text string) string {
	fenced, _ := plain.Fence("text", text)
	return fenced
}
