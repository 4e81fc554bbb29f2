package need

import (
	"encoding/json"
	"slices"
	"strings"
)

// Script is the command of a script that a package.json has.
func Script(manifest []byte, name string) (command string, found bool) {
	var m struct{ Scripts map[string]json.RawMessage }
	if json.Unmarshal(manifest, &m) != nil {
		return "", false
	}
	text, found := m.Scripts[name]
	_ = json.Unmarshal(text, &command) // one that is not text is a script without a command
	return command, found
}

// HasTarget reports whether a makefile names a target. It is open where the makefile may have targets
// that only make can tell.
func HasTarget(makefile, name string) (named, open bool) {
	for line := range strings.Lines(strings.ReplaceAll(makefile, "\\\n", " ")) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		targets, rest, rule := strings.Cut(line, ":")
		rule = rule && !strings.HasPrefix(strings.TrimLeft(rest, ":"), "=") // which sets a variable
		words := strings.Fields(targets)
		switch {
		case len(words) > 0 && slices.Contains([]string{"include", "-include", "sinclude"}, words[0]), strings.Contains(line, "$(eval"):
			open = true
		case rule && slices.Contains(words, name):
			named = true
		case rule && (strings.ContainsAny(targets, "%$") || slices.Contains(words, ".DEFAULT")):
			open = true
		}
	}
	return named, open
}

// HasRecipe reports whether a justfile has a recipe that can be called without arguments.
func HasRecipe(justfile, name string) bool {
	for line := range strings.Lines(justfile) {
		head, rest, rule := strings.Cut(strings.TrimPrefix(line, "@"), ":")
		if rule && !strings.HasPrefix(rest, "=") && strings.TrimRight(head, " ") == name {
			return true
		}
	}
	return false
}

// HasTask reports whether a Taskfile has a task: a key one level below tasks.
func HasTask(taskfile, name string) bool {
	inside, indent := false, 0
	for line := range strings.Lines(taskfile) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		depth := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case depth == 0:
			inside, indent = strings.HasPrefix(text, "tasks:"), 0
		case inside && indent == 0:
			indent = depth
		}
		key, _, isKey := strings.Cut(text, ":")
		if inside && isKey && depth == indent && depth > 0 && strings.Trim(key, `"'`) == name {
			return true
		}
	}
	return false
}
