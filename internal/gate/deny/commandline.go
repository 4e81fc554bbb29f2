package deny

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Where a command line is split. A pattern may be about what is in brackets, so the line is also split
// without them.
const (
	betweenCommands = ";|&\n"
	aroundCommands  = betweenCommands + "(){}`"
)

// beforeCommands are words that a command can follow.
var beforeCommands = []string{
	"if", "elif", "then", "else", "while", "until", "do", "!",
	"time", "exec", "env", "sudo", "command", "nohup",
}

// deniedCommand compares a command line, and each command in it, with the patterns. It reads text and is
// not a shell: text in quotes may look like a command, and what a script or a variable hides is not seen.
func deniedCommand(patterns []string, line string) (pattern string, denied bool) {
	if strings.TrimSpace(line) == "" {
		return "", false
	}
	all := commands(line)
	for _, pattern := range patterns {
		if slices.ContainsFunc(all, func(command string) bool { return doublestar.MatchUnvalidated(flat(pattern), flat(command)) }) {
			return pattern, true
		}
	}
	return "", false
}

// flat makes a slash a letter like any other, so that * matches it.
func flat(text string) string { return strings.ReplaceAll(text, "/", "\x00") }

// commands are the line and each command in it, with and without what stands before it. They have single
// spaces.
func commands(line string) (all []string) {
	line = strings.ReplaceAll(line, "\\\n", " ")
	parts := []string{line}
	for _, separators := range []string{betweenCommands, aroundCommands} {
		parts = append(parts, strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(separators, r) })...)
	}

	for _, part := range parts {
		all = append(all, forms(strings.Join(strings.Fields(part), " "))...)
	}
	return all
}

// forms are a command with what stands before it, without the first word of that, and so on to the command
// alone.
func forms(command string) (all []string) {
	const most = 16 // each is compared whole: with many thousand words before the command that would outlast the hook
	for {
		rest, dropped := withoutFirst(command)
		if !dropped {
			return append(all, command)
		}
		if len(all) < most {
			all = append(all, command)
		}
		command = rest
	}
}

// withoutFirst drops the first word, and the options behind it, where it is one that a command can follow.
func withoutFirst(command string) (rest string, dropped bool) {
	word, rest := cutWord(command)
	switch {
	case slices.Contains(beforeCommands, word):
		for strings.HasPrefix(rest, "-") {
			_, rest = cutWord(rest)
		}
	case !assigns(word):
		return "", false
	}
	return rest, rest != ""
}

// cutWord is the first word and what follows it. A space in quotes does not end a word.
func cutWord(text string) (word, rest string) {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ':
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// assigns reports whether a word is NAME=value.
func assigns(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
