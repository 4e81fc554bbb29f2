package runbook

import (
	"path"
	"strings"
)

// word is one word of a simple command.
type word struct {
	text string // without quotes; expansions as they are written
	raw  string // as it is written
	at   int    // where it begins
	open bool   // there is an expansion in it: it may come to anything
}

// program is the base name of a program.
func (w word) program() string { return strings.TrimSuffix(path.Base(w.text), ".exe") }

// expands reports whether the shell may make another word of it.
func (w word) expands() bool {
	return w.open || strings.HasPrefix(w.raw, "~") || strings.ContainsAny(w.raw, "*?[")
}

// assigns reports whether the word is an assignment, where it stands before the program.
func (w word) assigns() bool {
	name, _, found := strings.Cut(w.raw, "=")
	return found && isVariable(name)
}

// What the shell takes for the end of a word, and more than that.
const (
	blanks    = " \t\n"
	operators = ";&|<>()"
)

// simpleCommand takes a script apart, where it is one simple command: words and quotes, no
// operators, no command substitution, no comment and no second line.
func simpleCommand(script string) (words []word, ok bool) {
	l := lexer{script: script}
	for l.skip(); l.more(); l.skip() {
		if strings.IndexByte("#\n"+operators, l.next()) >= 0 {
			return nil, false
		}
		w, ok := l.word()
		if !ok {
			return nil, false
		}
		words = append(words, w)
	}
	return words, true
}

// lexer reads words as a shell does.
type lexer struct {
	script string
	at     int
	text   []byte // of the word that is being read
	open   bool   // so is it
}

func (l *lexer) more() bool   { return l.at < len(l.script) }
func (l *lexer) next() byte   { return l.script[l.at] }
func (l *lexer) rest() string { return l.script[l.at:] }

// skip leaves out what stands between words.
func (l *lexer) skip() {
	for l.more() {
		switch {
		case l.next() == ' ' || l.next() == '\t':
			l.at++
		case strings.HasPrefix(l.rest(), "\\\n"):
			l.at += 2
		default:
			return
		}
	}
}

// word reads one word; it stops at what is no part of a simple command.
func (l *lexer) word() (w word, ok bool) {
	l.text, l.open, w.at = nil, false, l.at
	for ok = true; ok && l.more() && strings.IndexByte(blanks+operators, l.next()) < 0; {
		switch l.next() {
		case '\'':
			ok = l.single()
		case '"':
			ok = l.double()
		case '\\':
			ok = l.escape("")
		default:
			ok = l.plain()
		}
	}
	w.text, w.raw, w.open = string(l.text), l.script[w.at:l.at], l.open
	return w, ok
}

func (l *lexer) single() bool {
	text, _, closed := strings.Cut(l.rest()[1:], "'")
	if !closed {
		l.at = len(l.script)
		return false
	}
	l.text, l.at = append(l.text, text...), l.at+len(text)+2
	l.open = l.open || strings.Contains(text, "${") // our templates know no quotes
	return true
}

func (l *lexer) double() bool {
	l.at++
	for ok := true; ok && l.more(); {
		switch l.next() {
		case '"':
			l.at++
			return true
		case '\\':
			ok = l.escape("$`\"\\\n")
		default:
			ok = l.plain()
		}
	}
	return false
}

// escape reads a backslash and what follows it. Between double quotes only some characters
// are escaped.
func (l *lexer) escape(escapes string) bool {
	if len(l.rest()) < 2 {
		l.at = len(l.script)
		return false
	}
	next := l.script[l.at+1]
	if escapes != "" && strings.IndexByte(escapes, next) < 0 {
		l.text = append(l.text, '\\')
	}
	if next != '\n' {
		l.text = append(l.text, next)
	}
	l.at += 2
	return true
}

// plain reads one character, or an expansion of a name.
func (l *lexer) plain() bool {
	size := 1
	switch l.next() {
	case '`':
		return false
	case '$':
		if size = expansion(l.rest()); size < 0 {
			return false
		}
		l.open = l.open || size > 1
	}
	l.text, l.at = append(l.text, l.rest()[:size]...), l.at+size
	return true
}

// expansion is how long the expansion is that a text begins with; 1 where the dollar sign
// stands for itself, and -1 where it is more than that of a name.
func expansion(text string) int {
	const special = "@*#?-$!"
	switch rest := text[1:]; {
	case rest == "":
		return 1
	case rest[0] == '(':
		return -1
	case rest[0] == '{':
		if name := templateAt(text); name != "" {
			return len("${}") + len(name)
		}
		return -1
	case strings.IndexByte(special, rest[0]) >= 0:
		return 2
	default:
		return len(text) - len(strings.TrimLeft(rest, variableLetters+"0123456789"))
	}
}
