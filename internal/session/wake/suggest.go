package wake

import (
	"regexp"
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
	command := regexp.MustCompile(commandPattern)
	for at := 0; ; {
		slash := strings.IndexByte(message[at:], '/')
		if slash < 0 {
			return found
		}
		at += slash
		length := 0
		if !continuesPath(message[:at]) {
			length = commandLength(command, message[at:])
		}
		if length == 0 {
			at++
			continue
		}
		if text := message[at : at+length]; !seen[text] {
			seen[text] = true
			found = append(found, text)
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

const (
	// commandPattern is a command at the beginning of a text.
	commandPattern = "^/(?:gsd:[a-z-]+(?:[" + scriptSpace + "]+[^`" + scriptSpace + "]+)?|clear)"
	// scriptSpace is \s of JavaScript.
	scriptSpace = `\t\n\v\f\r\x{2028}\x{2029}\x{FEFF}\p{Zs}`
)

// commandLength is the length of the command that the text begins with, 0 if none.
func commandLength(command *regexp.Regexp, text string) int {
	found := command.FindString(text)
	if found == "/clear" && !endsClear(text[len(found):]) {
		return 0
	}
	return len(found)
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
