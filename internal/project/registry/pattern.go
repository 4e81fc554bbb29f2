package registry

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A session's name may be a pattern of the shell's kind.

// IsPattern reports whether the name of a session is a pattern for several.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// globMatches knows no separator: the name of a tmux session may hold a slash. A
// pattern that is none matches nothing.
func globMatches(pattern, session string) bool {
	ok, err := path.Match(withoutSlash(pattern), withoutSlash(session))
	return err == nil && ok
}

func validGlob(pattern string) bool {
	_, err := path.Match(withoutSlash(pattern), "")
	return err == nil
}

// withoutSlash puts a character in place of the slash that no name holds.
func withoutSlash(name string) string { return strings.ReplaceAll(name, "/", "\x1f") }

// Commands and questions have a simpler kind: * is any text, ? is one character, all
// else is itself. Brackets are too common in both to mean anything.

// matches reports whether the whole text is as the pattern says, where same compares
// two characters.
func matches(pattern, text string, same func(a, b string) bool) bool {
	p, t := 0, 0
	star, resume := -1, 0 // the last * and where the text goes on after it
	for t < len(text) {
		n := width(text[t:])
		if p < len(pattern) {
			if pattern[p] == '*' {
				star, resume = p, t
				p++
				continue
			}
			m := width(pattern[p:])
			if pattern[p] == '?' || same(pattern[p:p+m], text[t:t+n]) {
				p, t = p+m, t+n
				continue
			}
		}
		if star < 0 {
			return false
		}
		resume += width(text[resume:]) // the * takes one character more
		p, t = star+1, resume
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// width is the number of bytes of the first character.
func width(text string) int {
	_, n := utf8.DecodeRuneInString(text)
	return n
}

func sameBytes(a, b string) bool { return a == b }

// sameLetter does not mind upper and lower case.
func sameLetter(a, b string) bool {
	x, _ := utf8.DecodeRuneInString(a)
	y, _ := utf8.DecodeRuneInString(b)
	return unicode.ToLower(unicode.ToUpper(x)) == unicode.ToLower(unicode.ToUpper(y))
}
