package send

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/claude"
	"github.com/stopgate/stopgate/internal/launch"
	"github.com/stopgate/stopgate/internal/wake"
)

// environ is the environment of a program that delivers a letter. The sender's own is
// that of a hook: a client which that program starts is no part of that session, and
// not in its pane.
func (s Sender) environ(l wake.Letter) []string {
	env := slices.DeleteFunc(slices.Clone(s.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return ofSession(name)
	})
	// A NUL would keep the program from starting.
	return append(env, "STOPGATE_MESSAGE_KEY="+strings.ReplaceAll(l.Key, "\x00", ""))
}

// ofSession reports whether a variable belongs to the session whose hook started us.
func ofSession(name string) bool {
	switch name {
	case "STOPGATE_STATE_DIR":
		return false // where the queues are
	case "CLAUDECODE", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_PID", "AI_AGENT",
		"TMUX", "TMUX_PANE", claude.ActiveVariable, claude.SupervisorVariable, launch.SupervisorVariable:
		return true
	}
	return strings.HasPrefix(name, "CLAUDE_CODE_") || strings.HasPrefix(name, "STOPGATE_")
}
