package claude

import (
	"slices"
	"strings"
)

const (
	// InsideVariable marks the clients that stopgate itself started. In them every
	// hook allows at once.
	InsideVariable = "STOPGATE_INSIDE"
	// ActiveVariable is the same mark for agent-gauntlet, which may be installed
	// beside us.
	ActiveVariable = "GAUNTLET_STOP_HOOK_ACTIVE"
)

// session names what a client sets for the processes that it starts. A client
// that finds them takes itself for a part of that session. Everything else
// stays, above all what a client needs to reach its model: ANTHROPIC_*,
// CLAUDE_CONFIG_DIR, CLAUDE_CODE_USE_* and the like.
var session = []string{
	"CLAUDECODE",
	"CLAUDE_CODE_SESSION_ID",
	"CLAUDE_CODE_CHILD_SESSION",
	"CLAUDE_CODE_ENTRYPOINT",
	"CLAUDE_PROJECT_DIR",
	"CLAUDE_PLUGIN_ROOT",
	"CLAUDE_PLUGIN_DATA",
	"CLAUDE_EFFORT",
	"CLAUDE_ENV_FILE",
	"AI_AGENT",
}

// Environ is the environment of a client that we start: the caller's without
// its session, plus the marks that keep hooks in it from running.
func Environ(environ []string) []string {
	env := make([]string, 0, len(environ)+2)
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if name != InsideVariable && name != ActiveVariable && !slices.Contains(session, name) {
			env = append(env, entry)
		}
	}
	return append(env, InsideVariable+"=1", ActiveVariable+"=1")
}
