package footprint

import (
	"path/filepath"
	"slices"
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

// copiesHere reports whether a command copies something to below where the agent stands, and says so with its last word.
func copiesHere(words []string) bool {
	if len(words) < 3 || words[0] != "cp" && words[0] != "ln" {
		return false
	}
	isOption := func(word string) bool { return strings.HasPrefix(word, "-") }
	options := words[1 : 1+slices.IndexFunc(append(words[1:], ""), func(word string) bool { return !isOption(word) })]
	if slices.ContainsFunc(words[1+len(options):], isOption) || slices.ContainsFunc(options, func(o string) bool { return strings.Contains(o, "t") }) {
		return false
	}
	last := words[len(words)-1]
	return filepath.IsLocal(last) && !strings.ContainsAny(last, onlyAShell)
}
