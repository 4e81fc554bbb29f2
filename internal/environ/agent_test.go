package environ

import "testing"

func TestE22WhoIsAnAgent(t *testing.T) {
	// The names are written out here once more: a list that the test takes from the
	// program would be right whatever it holds.
	for _, marker := range []string{
		"CLAUDECODE=1", "CODEX_THREAD_ID=0198", "GEMINI_CLI=1", "QWEN_CODE=1", "COPILOT_CLI=1", "OPENCODE=1",
		"PI_CODING_AGENT=true", "STOPGATE_AGENT_ID=a1", "OJ_AGENT_ID=a1",
	} {
		if Agent([]string{"PATH=/bin", marker}) == "" {
			t.Errorf("%s is not known", marker)
		}
	}
	for _, person := range []string{"CLAUDECODE=", "CLAUDE_CODE_USE_BEDROCK=1", "GEMINI_API_KEY=k", "TERM=xterm"} {
		if marker := Agent([]string{"PATH=/bin", person}); marker != "" {
			t.Errorf("%s is taken for an agent's (%s)", person, marker)
		}
	}
}
