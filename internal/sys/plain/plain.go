// Package plain makes text of what programs print: without escape sequences and
// control characters, which would steer the terminal of whoever reads it, or mean
// nothing to a model.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine bounds what is kept of one line: nobody reads more of it.
const maxLine = 4 << 10

// LastDrawn is what is to be seen of a line that was drawn several times over
// itself, as progress is.
func LastDrawn(line string) string {
	line = strings.TrimRight(line, "\r\n")
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// Line makes one line of a text.
func Line(text string) string {
	text = text[:min(len(text), maxLine)]
	return strings.TrimSpace(strip(text, func(b *strings.Builder, _ rune) { b.WriteByte(' ') }))
}

// Text makes plain lines of what a program printed. Tabs and the white space
// before a line stay; a line that is very long ends in dots.
func Text(text string) string {
	const most = 500 // characters
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = LastDrawn(line)
		long := len(line) > maxLine
		line = strip(line[:min(len(line), maxLine)], func(b *strings.Builder, r rune) {
			if r == '\t' {
				b.WriteRune(r)
			}
		})
		if characters := []rune(line); len(characters) > most || long {
			line = string(characters[:min(len(characters), most)]) + "…"
		}
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.Join(lines, "\n")
}

// Words makes plain lines of what somebody wrote, as long as they are.
func Words(text string) string {
	return strip(text, func(b *strings.Builder, r rune) {
		if r != '\r' {
			b.WriteRune(r)
		}
	})
}

// strip leaves what can be printed, and hands white space to space.
func strip(text string, space func(*strings.Builder, rune)) string {
	var b strings.Builder
	for text != "" {
		if rest, ok := CutEscape(text); ok {
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			space(&b, r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// CutEscape drops the escape sequence that the text begins with.
func CutEscape(text string) (rest string, ok bool) {
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
