package claude

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/environ"
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

// session names what a client sets for the processes that it starts. A client
// that finds them takes itself for a part of that session. Everything else
// stays, above all what a client needs to reach its model: ANTHROPIC_*,
// CLAUDE_CONFIG_DIR, CLAUDE_CODE_USE_* and the like.
var session = []string{
	"CLAUDECODE",
	"CLAUDE_CODE_SESSION_ID",
	"CLAUDE_CODE_CHILD_SESSION",
	"CLAUDE_CODE_ENTRYPOINT",
	"CLAUDE_CODE_SSE_PORT",
	"CLAUDE_PROJECT_DIR",
	"CLAUDE_PLUGIN_ROOT",
	"CLAUDE_PLUGIN_DATA",
	"CLAUDE_EFFORT",
	"CLAUDE_ENV_FILE",
	"AI_AGENT",
}

// Environ is the environment of a client that we start: the caller's without
// its session, plus the marks that keep hooks in it from running.
func Environ(variables []string) []string {
	marks := []string{InsideVariable, ActiveVariable, SupervisorVariable}
	env := make([]string, 0, len(variables)+len(marks))
	for _, entry := range variables {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(marks, name) && !slices.Contains(session, name) {
			env = append(env, entry)
		}
	}
	for _, mark := range marks {
		env = append(env, mark+"=1")
	}
	return env
}
