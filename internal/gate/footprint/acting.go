package footprint

import (
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/commandline"
)

// Acting is what of a command line may change something where its paths lead: all but the commands that are known to read
// there. In doubt it is the whole line, as where one gives another what it has read. A cd stays for the next command, but
// Claude Code says so if the line goes there only to look.
func Acting(line string) string {
	commands, clear := commandline.Read(line)
	switch {
	case !clear, commandline.Redirects(line):
		return line
	case len(commands) > 1 && commandline.Looks(line, "cd"):
		return ""
	}

	var acting []string
	for _, c := range commands {
		if !c.Reads() && !copiesHere(c.Words) {
			acting = append(acting, strings.Join(c.Words, " "))
		}
	}
	if len(acting) > 0 && strings.Contains(line, "|") {
		return line
	}
	return strings.Join(acting, "\n")
}

// copiesHere reports whether a command copies files into the agent's directory or below it: its last word says so if its
// options come first, and none of them (-t) names the target.
func copiesHere(words []string) bool {
	if words[0] != "cp" && words[0] != "ln" {
		return false
	}

	files := 0
	for _, word := range words[1:] {
		switch {
		case !strings.HasPrefix(word, "-"):
			files++
		case files > 0 || strings.Contains(word, "t"):
			return false
		}
	}
	last := words[len(words)-1]
	return files > 1 && filepath.IsLocal(last) && !strings.ContainsAny(last, onlyAShell)
}
