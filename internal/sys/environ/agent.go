package environ

import (
	"slices"
	"strings"
)

// marker is a variable that a coding agent sets in the shells it gives its model.
type marker struct {
	name string
	part string // of the value; empty where any value marks an agent
}

// agentMarkers are all markers that are known. AI_AGENT names any agent, Claude Code among
// them. OJ_AGENT_ID and STOPGATE_AGENT_ID are for agents of pipelines.
func agentMarkers() []marker {
	return slices.Concat([]marker{
		{name: "CLAUDECODE"},
		{name: "CLAUDE_CODE_CHILD_SESSION"},
		{name: "AI_AGENT"}, // github.com/vercel/detect-agent
		{name: "STOPGATE_AGENT_ID"},
		{name: "OJ_AGENT_ID"},
	}, foreignMarkers)
}

// foreignMarkers are those of other programs than Claude Code, each with its source. Left out
// is what a person's own shell may have as well: CURSOR_TRACE_ID, KIRO_AGENT_PATH, REPL_ID and
// ZED_TERM stand in every terminal of those editors, COPILOT_MODEL and GROK_AGENT are settings,
// and AGENT is too common a name; the agents that set it have another marker here.
var foreignMarkers = []marker{
	{name: "AMP_CURRENT_THREAD_ID"},                          // Amp: microsoft/vscode#311734
	{name: "ANTIGRAVITY_AGENT"},                              // Antigravity: vercel/detect-agent
	{name: "AUGMENT_AGENT"},                                  // Augment: Auggie's reference of environment variables
	{name: "AWS_EXECUTION_ENV", part: "AmazonQ"},             // Amazon Q: aws/aws-cdk-cli, detect-agent.ts
	{name: "CLINE_ACTIVE"},                                   // Cline: cline/cline#5367
	{name: "CODEX_CI"},                                       // Codex: vercel/detect-agent
	{name: "CODEX_SANDBOX"},                                  // Codex, sandboxed on macOS: vercel/detect-agent
	{name: "CODEX_SANDBOX_NETWORK_DISABLED"},                 // Codex, sandboxed: jfrog/jfrog-cli-core
	{name: "CODEX_THREAD_ID"},                                // Codex: measured
	{name: "COPILOT_AGENT"},                                  // Copilot in VS Code: microsoft/vscode#316267
	{name: "COPILOT_CLI"},                                    // Copilot CLI: measured
	{name: "CRUSH"},                                          // Crush: charmbracelet/crush#2484
	{name: "CURSOR_AGENT"},                                   // Cursor: databricks/cli#4287
	{name: "CURSOR_EXTENSION_HOST_ROLE", part: "agent-exec"}, // Cursor: jfrog/jfrog-cli-core
	{name: "GEMINI_CLI"},                                     // Gemini CLI: measured
	{name: "GOOSE_TERMINAL"},                                 // Goose: aaif-goose/goose#4205
	{name: "IFLOW_CLI"},                                      // iFlow: jfrog/jfrog-cli-core
	{name: "OPENCODE"},                                       // opencode: measured
	{name: "OPENCODE_CLIENT"},                                // opencode: vercel/detect-agent
	{name: "PI_CODING_AGENT"},                                // pi: measured
	{name: "QWEN_CODE"},                                      // Qwen Code: measured
	{name: "ROO_ACTIVE"},                                     // Roo Code: its Terminal.getEnv
	{name: "TRAE_AI_SHELL_ID"},                               // Trae: agentsmd/agents.md#136
	{name: "WINDSURF_CASCADE_TERMINAL"},                      // Windsurf: jfrog/jfrog-cli-core
}

// marks reports whether an environment has the marker.
func (m marker) marks(environ []string) bool {
	value := Get(environ, m.name)
	return value != "" && strings.Contains(value, m.part)
}

// Agent is the variable by which an environment is known to be that of an agent's shell;
// empty where it is not.
func Agent(environ []string) (name string) {
	for _, m := range agentMarkers() {
		if m.marks(environ) {
			return m.name
		}
	}
	return ""
}

// ForeignAgent reports whether an environment has the mark of another coding agent than Claude
// Code.
func ForeignAgent(environ []string) bool {
	return slices.ContainsFunc(foreignMarkers, func(m marker) bool { return m.marks(environ) })
}
