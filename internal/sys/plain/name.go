package plain

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsName reports whether a name that somebody else chose can be part of a path: it has only
// letters, digits, underscores and hyphens, and at most so many of them.
func IsName(name string, most int) bool { return IsWord(name, "", most) }

// IsWord is IsName for a word that may have some other ASCII characters besides.
func IsWord(word, besides string, most int) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return word != "" && len(word) <= most && strings.Trim(word, letters+besides) == ""
}

// Name is a file's name, a command or another word as a person may see it: unchanged where
// all of it can be seen, else in quotes, with escapes for what cannot. No two words look alike.
func Name(word string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if word != "" && utf8.ValidString(word) && !strings.ContainsFunc(word, hidden) && strings.TrimSpace(word) == word && !strings.HasPrefix(word, `"`) {
		return word
	}
	return strconv.Quote(word)
}

// InLine is a name as one line of at most that many bytes: quoted where it would not be one, or not be seen.
func InLine(name string, size int) string {
	line := Head(name, size, size)
	whole := len(line) == len(name)
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if line == "" || !utf8.ValidString(line) || strings.ContainsFunc(line, odd) || strings.TrimSpace(line) != line {
		line = strconv.Quote(line)
	}
	if whole && len(line) <= size {
		return line
	}
	return Head(line, size, size-len("…")) + "…"
}
