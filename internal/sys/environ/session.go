package environ

import "strings"

// OfClaude reports whether Claude Code sets the variable for the processes that it starts. A
// process of Claude Code that finds them takes itself for a part of that session. Everything else is the
// person's, above all what Claude Code needs to reach its model: ANTHROPIC_*,
// CLAUDE_CONFIG_DIR, CLAUDE_CODE_USE_* and the like.
func OfClaude(name string) bool {
	switch name {
	case "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT",
		"CLAUDE_CODE_SESSION_NAME", "CLAUDE_CODE_SESSION_KIND", "CLAUDE_CODE_TMUX_SESSION", "CLAUDE_CODE_EXECPATH", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE",
		"CLAUDE_PID", "AI_AGENT":
		return true
	}
	return false
}

// OfSession reports whether a variable belongs to the session that a process was started
// from: Claude Code's, the terminal's, or an agent's that we started. Where our files are, and
// where a hub listens, belongs to none.
func OfSession(name string) bool {
	switch name {
	case "STOPGATE_STATE_DIR", "OJ_STATE_DIR", "STOPGATE_HUB_LISTEN":
		return false
	case "TMUX", "TMUX_PANE", "OJ_AGENT_ID", "GAUNTLET_STOP_HOOK_ACTIVE", "CCC_SUPERVISOR_HOOK", "CCC_SUPERVISOR":
		return true
	}
	return OfClaude(name) || strings.HasPrefix(name, "STOPGATE_")
}

// WithoutSession is the environment of what is started from a session and is no part of
// it.
func WithoutSession(environ []string) []string { return Without(environ, OfSession) }
