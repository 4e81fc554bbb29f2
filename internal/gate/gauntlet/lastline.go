package gauntlet

import (
	"slices"
	"strings"
)

// onlyLastCounts reports whether the shell ignores a failure in some line of a command. It judges only commands in which every line
// is a plain command of its own: an author who writes if or && has thought about failures.
func onlyLastCounts(command string) bool {
	var lines []string
	for line := range strings.Lines(command) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return len(lines) > 1 && !slices.ContainsFunc(lines, isInvolved) && slices.ContainsFunc(lines[:len(lines)-1], canFail)
}

// keywords begin lines that are part of something larger, or that say what becomes of a failure.
var keywords = strings.Fields("if then elif else fi for while until do done case esac select function ! set trap exec exit return . source")

// isInvolved reports whether a line is more than one plain command.
func isInvolved(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	odd := func(quote string) bool { return strings.Count(line, quote)%2 == 1 }
	return slices.Contains(keywords, first) || strings.ContainsAny(line, `;&(){}\`) || strings.Contains(line, "||") ||
		strings.Contains(line, "<<") || strings.HasPrefix(line, "|") || strings.HasSuffix(line, "|") || odd("'") || odd(`"`) || odd("`")
}

// canFail reports whether a plain command may fail: an assignment and a few others do not.
func canFail(line string) bool {
	words := strings.Fields(line)
	assignment := len(words) == 1 && strings.Contains(words[0], "=")
	return !assignment && !slices.Contains([]string{":", "echo", "export", "printf", "true", "umask", "unset"}, words[0])
}
