package settings

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/commandline"
)

// commands are the commands that a hook runs, each as its words, without what only starts them (env, npx,
// sh -c). Clear means that all of the line could be read. It is not a shell: what a substitution, a loop or
// a here-document does is not clear.
func (e Entry) commands() (all [][]string, clear bool) {
	if len(e.Args) > 0 {
		return unwrapped(append([]string{e.Command}, e.Args...), maxDepth)
	}
	return lineCommands(e.Command, maxDepth)
}

// maxDepth is how many shells may be in each other: people use one.
const maxDepth = 4

// maxLine is far more than a person writes into a hook. To read more than that takes seconds.
const maxLine = 64 << 10

func lineCommands(line string, depth int) (all [][]string, clear bool) {
	if len(line) > maxLine {
		return nil, false
	}
	commands, clear := commandline.Read(line)
	for _, c := range commands {
		inner, ok := unwrapped(c.Words, depth)
		all, clear = append(all, inner...), clear && ok
	}
	return all, clear
}

// unclearWords are commands of a shell that make a line unclear.
var unclearWords = []string{"for", "case", "select", "function", "eval", "source", ".", "trap", "alias"}

// managerCommands are the commands of a manager of packages or versions that start a program.
func managerCommands(manager string) []string {
	switch manager {
	case "npm", "mise":
		return []string{"exec", "x"}
	case "pnpm", "yarn":
		return []string{"dlx", "exec", "run"}
	case "bun":
		return []string{"x", "run"}
	case "asdf", "direnv":
		return []string{"exec"}
	case "volta", "nix":
		return []string{"run"}
	}
	return nil
}

// unwrapped are the commands behind what only starts them.
func unwrapped(words []string, depth int) (all [][]string, clear bool) {
	for len(words) > 0 {
		name := toolName(words[0])
		starter, starts := commandline.StarterOf(name)
		switch {
		case commandline.Assigns(words[0]):
			words = words[1:]
		case slices.Contains(unclearWords, name):
			return [][]string{words}, false
		case name == "command" && len(words) > 1 && strings.EqualFold(words[1], "-v"):
			return [][]string{words}, true
		case starts:
			started := starter.Behind(words[1:])
			if len(started) == 0 && len(words) > 1 { // an option may name the command: npx -c
				return [][]string{words}, true
			}
			words = started
		case commandline.IsShell(name):
			return inShell(words, depth)
		case managerCommands(name) != nil:
			started, starts := managed(words)
			if !starts || len(started) == 0 {
				return [][]string{words}, true
			}
			words = started
		default:
			return [][]string{words}, true
		}
	}
	return nil, true
}

// inShell are the commands of a line that a shell is given, or the script that it runs.
func inShell(words []string, depth int) (all [][]string, clear bool) {
	for i, word := range words[1:] {
		if !strings.HasPrefix(word, "-") {
			return [][]string{words[i+1:]}, true
		}
		if strings.HasSuffix(word, "c") && !strings.HasPrefix(word, "--") && i+2 < len(words) {
			if depth == 0 {
				return [][]string{words}, false
			}
			return lineCommands(words[i+2], depth-1)
		}
	}
	return [][]string{words}, false // it reads its commands from elsewhere
}

// managed is the command that a manager of packages or versions starts: behind one of its commands, or
// behind --.
func managed(words []string) (started []string, starts bool) {
	name := toolName(words[0])
	rest := commandline.Starter{}.Behind(words[1:])
	if len(rest) == 0 {
		return nil, false
	}
	if !slices.Contains(managerCommands(name), rest[0]) {
		return rest, name == "pnpm" || name == "yarn" // they take the name of a program for a command
	}

	npx, _ := commandline.StarterOf("npx")
	rest = npx.Behind(rest[1:])
	end := slices.Index(rest, "--")
	switch {
	case name == "nix" && len(rest) > 0:
		program, output, named := strings.Cut(rest[0], "#")
		if program, _, _ = strings.Cut(program, "?"); named {
			program = output
		}
		return append([]string{program}, rest[end+1:]...), end >= 0
	case name == "mise" && end >= 0:
		return rest[end+1:], true
	case name == "direnv" && len(rest) > 0: // its directory
		return rest[1:], true
	}
	return rest, true
}
