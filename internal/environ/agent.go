package environ

// agentMarkers are the variables that coding agents set in the shells they give their
// models, measured with each program; ours are for agents of pipelines.
var agentMarkers = []string{
	"CLAUDECODE",
	"CODEX_THREAD_ID",
	"GEMINI_CLI",
	"QWEN_CODE",
	"COPILOT_CLI",
	"OPENCODE",
	"PI_CODING_AGENT",
	"STOPGATE_AGENT_ID",
	"OJ_AGENT_ID",
}

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
