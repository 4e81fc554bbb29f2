package environ

import "slices"

// agentMarkers are the variables that coding agents set in the shells they give their
// models, measured with each program; ours are for agents of pipelines.
var agentMarkers = slices.Concat([]string{"CLAUDECODE"}, foreignMarkers, []string{"STOPGATE_AGENT_ID", "OJ_AGENT_ID"})

// foreignMarkers are those of other programs than Claude Code.
var foreignMarkers = []string{"CODEX_THREAD_ID", "GEMINI_CLI", "QWEN_CODE", "COPILOT_CLI", "OPENCODE", "PI_CODING_AGENT"}

// Agent is the variable by which an environment is known to be that of an agent's shell;
// empty where it is not.
func Agent(environ []string) (marker string) {
	for _, name := range agentMarkers {
		if Get(environ, name) != "" {
			return name
		}
	}
	return ""
}

// ForeignAgent reports whether an environment has the mark of another coding agent than Claude
// Code.
func ForeignAgent(environ []string) bool {
	return slices.ContainsFunc(foreignMarkers, func(name string) bool { return Get(environ, name) != "" })
}
