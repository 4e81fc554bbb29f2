package settings

import (
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/commandline"
)

// ShellCommand is the command line by which a shell starts the program at path
// with these arguments. Only what needs quotes has them. On Windows Claude Code has Git Bash run
// hooks (2.1.197 fails a hook where there is none), which takes C:/a for a path like any other.
func ShellCommand(path string, args ...string) string {
	words := []string{commandline.Quote(filepath.ToSlash(path))}
	for _, arg := range args {
		words = append(words, commandline.Quote(arg))
	}
	return strings.Join(words, " ")
}

// firstWord splits a command line after its first word, which may be quoted. It
// reads back what ShellCommand writes.
func firstWord(line string) (word, rest string) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, `"`) || strings.HasPrefix(line, "'") {
		if word, rest, closed := unquoted(line); closed {
			return word, rest
		}
	}
	if end := strings.IndexAny(line, " \t\n"); end >= 0 {
		return line[:end], line[end:]
	}
	return line, ""
}

func unquoted(line string) (word, rest string, closed bool) {
	quote := line[:1]
	word, rest, closed = strings.Cut(line[1:], quote)
	for closed && quote == "'" && strings.HasPrefix(rest, `\''`) {
		var more string
		more, rest, closed = strings.Cut(rest[3:], quote)
		word += "'" + more
	}
	return word, rest, closed
}
