package footprint

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/commandline"
)

// Acting is what of a command line may change something where its paths lead: all but the commands that are known to read
// there. In doubt it is the whole line, as where one gives another what it has read. A cd stays for the next command.
func Acting(line string) string {
	commands, clear := commandline.Read(line)
	if !clear || commandline.Redirects(line) {
		return line
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

// copiesHere reports whether a command copies something to below where the agent stands.
func copiesHere(words []string) bool {
	if len(words) < 3 || words[0] != "cp" && words[0] != "ln" {
		return false
	}
	args, last := words[1:], words[len(words)-1]
	aims := func(arg string) bool { return strings.HasPrefix(arg, "-t") || strings.HasPrefix(arg, "--t") }
	return !slices.ContainsFunc(args, aims) && filepath.IsLocal(last) && !strings.ContainsAny(last, onlyAShell)
}
