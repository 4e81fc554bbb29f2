package wake

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Suggest finds the commands that a message recommends, each once, in the order in
// which they first appear. It is the pattern
//
//	/\/(?:gsd:[a-z-]+(?:\s+[^\s`]+)?|clear)/g
//
// of JavaScript, except that what is part of a URL or a path is no command.
func Suggest(message string) []string {
	var found []string
	seen := make(map[string]bool)
	for at := 0; ; {
		slash := strings.IndexByte(message[at:], '/')
		if slash < 0 {
			return found
		}
		at += slash
		length := 0
		if !continuesPath(message[:at]) {
			length = commandLength(message[at:])
		}
		if length == 0 {
			at++
			continue
		}
		if command := message[at : at+length]; !seen[command] {
			seen[command] = true
			found = append(found, command)
		}
		at += length
	}
}

// continuesPath tells whether a slash after that text belongs to a URL or a path.
func continuesPath(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before != "" && (isWord(r) || strings.ContainsRune(`/.-~:%@\=+&#?$)]}`, r))
}

// isWord tells what words and names are made of. Scripts that put no spaces between words
// are left out: what stands next to a command in them is a word of its own.
func isWord(r rune) bool {
	spaceless := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	return r == '_' || unicode.IsLetter(r) && !spaceless || unicode.IsDigit(r)
}

// commandLength is the length of the command that the text begins with, 0 if none.
func commandLength(text string) int {
	const (
		clearing = "/clear"
		gsd      = "/gsd:"
	)
	switch {
	case strings.HasPrefix(text, clearing) && endsClear(text[len(clearing):]):
		return len(clearing)
	case strings.HasPrefix(text, gsd):
		if name := nameLength(text[len(gsd):]); name > 0 {
			return len(gsd) + name + argumentLength(text[len(gsd)+name:])
		}
	}
	return 0
}

// endsClear tells whether /clear ends before that text, and is not the beginning of
// /clearing, /clear/cache or /clear.sh.
func endsClear(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	switch {
	case after == "":
		return true
	case r == '.' || r == ':':
		next, _ := utf8.DecodeRuneInString(after[size:])
		return after[size:] == "" || !isWord(next)
	}
	return !isWord(r) && r != '-' && r != '/'
}

// nameLength is the length of [a-z-]* at the beginning of the text.
func nameLength(text string) int {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && c != '-' {
			return i
		}
	}
	return len(text)
}

// argumentLength is the length of (?:\s+[^\s`]+)? at the beginning of the text.
func argumentLength(text string) int {
	word := strings.TrimLeftFunc(text, isScriptSpace)
	space := len(text) - len(word)
	end := strings.IndexFunc(word, func(r rune) bool { return r == '`' || isScriptSpace(r) })
	if end < 0 {
		end = len(word)
	}
	if space == 0 || end == 0 {
		return 0
	}
	return space + end
}

// isScriptSpace is \s of JavaScript.
func isScriptSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', '\u2028', '\u2029', '\ufeff':
		return true
	}
	return unicode.Is(unicode.Zs, r)
}
