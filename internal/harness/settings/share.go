package settings

import (
	"slices"
	"strings"
	"unicode"
)

// Share is how much of a hook is another tool's.
type Share int

const (
	// NotTheirs is a hook that has nothing to do with the tool.
	NotTheirs Share = iota
	// PartTheirs is a hook that calls the tool and something else, or calls it in a way that cannot be read.
	PartTheirs
	// AllTheirs is a hook that is of no use without the tool.
	AllTheirs
)

// ShareOf says how much of a hook is that of a tool, by the name of its program. Arguments tells a call as a
// hook from others, such as a check of the tool's own configuration.
func (e Entry) ShareOf(name string, arguments func([]string) bool) Share {
	share := e.Judge(func(words []string) bool { return toolName(words[0]) == name && arguments(words[1:]) })
	if share == NotTheirs && e.names(name, arguments) {
		return PartTheirs
	}
	return share
}

// Judge has each command of a hook judged by its words. Those that have no effect of their own, such as cd
// or true, count for neither side.
func (e Entry) Judge(theirs func(words []string) bool) Share {
	commands, clear := e.commands()
	calls, others := 0, 0
	for _, words := range commands {
		switch {
		case theirs(words):
			calls++
		case !idle(words):
			others++
		}
	}
	switch {
	case calls == 0:
		return NotTheirs
	case others > 0 || !clear:
		return PartTheirs
	}
	return AllTheirs
}

// names reports whether a command of the hook names the tool and, behind that, an argument of a hook: it may
// call it through a program that is not known here. What is only printed does not count.
func (e Entry) names(name string, arguments func([]string) bool) bool {
	commands, clear := e.commands()
	if !clear {
		return named(append([]string{e.Command}, e.Args...), name, arguments)
	}
	return slices.ContainsFunc(commands, func(words []string) bool {
		return !idle(words) && words[0] != "echo" && words[0] != "printf" && named(words, name, arguments)
	})
}

// named reports whether words name the tool and, behind that, an argument of a hook.
func named(words []string, name string, arguments func([]string) bool) bool {
	words = strings.FieldsFunc(strings.Join(words, " "), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	})
	at := slices.IndexFunc(words, func(word string) bool {
		base, _, _ := strings.Cut(word, ".")
		return base == name
	})
	return at >= 0 && slices.ContainsFunc(words[at+1:], func(word string) bool { return arguments([]string{word}) })
}

// toolName is the name of a program without its directory, a version behind it and what Windows adds.
func toolName(program string) string {
	name := baseName(program)
	if at := strings.LastIndex(name, "@"); at > 0 {
		name = name[:at]
	}
	for _, suffix := range []string{".cmd", ".ps1", ".bat"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// idleCommands change nothing that lasts longer than the hook.
var idleCommands = []string{
	"true", ":", "cd", "pushd", "popd", "exit", "return", "export", "unset", "set", "test", "[", "[[", "which", "type", "hash", "fi", "done",
}

func idle(words []string) bool {
	switch {
	case slices.Contains(idleCommands, words[0]):
		return true
	case words[0] == "command":
		return len(words) > 1 && (words[1] == "-v" || words[1] == "-V")
	}
	return words[0] == "cat" && len(words) == 1
}
