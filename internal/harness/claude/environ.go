package claude

import (
	"slices"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

const (
	// InsideVariable marks the clients that stopgate itself started. In them every
	// hook allows at once.
	InsideVariable = "STOPGATE_INSIDE"
	// ActiveVariable is the same mark for agent-gauntlet, which may be installed
	// beside us.
	ActiveVariable = "GAUNTLET_STOP_HOOK_ACTIVE"
	// SupervisorVariable is the same mark for ccc.
	SupervisorVariable = "CCC_SUPERVISOR_HOOK"
)

// Inside reports whether a hook with that environment was called by a reviewer.
func Inside(variables []string) bool {
	return environ.Get(variables, InsideVariable) != "" || environ.Get(variables, SupervisorVariable) == "1"
}

// PluginRoot is the folder of the plugin that a hook with that environment belongs to; empty for those of
// settings files, which do not get the variable.
func PluginRoot(variables []string) string { return environ.Get(variables, "CLAUDE_PLUGIN_ROOT") }

// marks keep the hooks of a client that we started from running.
var marks = []string{InsideVariable, ActiveVariable, SupervisorVariable}

// IsMark reports whether a variable marks a client that we started.
func IsMark(name string) bool { return slices.Contains(marks, name) }

// Muted lists the marks by which our hooks answer nothing in a client with this environment.
func Muted(variables []string) []string {
	return slices.DeleteFunc(slices.Clone(marks), func(name string) bool {
		value := environ.Get(variables, name)
		return value == "" || name == SupervisorVariable && value != "1"
	})
}

// Environ is the environment of a client that we start: the caller's without
// its session, plus the marks.
func Environ(variables []string) []string {
	env := environ.Without(variables, func(name string) bool { return IsMark(name) || environ.OfClaude(name) })
	for _, mark := range marks {
		env = append(env, mark+"=1")
	}
	return env
}
