package environ

import "testing"

func TestE22WhoIsAnAgent(t *testing.T) {
	// The names are written out here once more: a list that the test takes from the
	// program would be right whatever it holds.
	for marker, foreign := range map[string]bool{
		"AI_AGENT=claude-code_2.1.325_agent":            false,
		"CLAUDECODE=1":                                  false,
		"CLAUDE_CODE_CHILD_SESSION=1":                   false,
		"OJ_AGENT_ID=a1":                                false,
		"STOPGATE_AGENT_ID=a1":                          false,
		"AMP_CURRENT_THREAD_ID=T-1":                     true,
		"ANTIGRAVITY_AGENT=1":                           true,
		"AUGMENT_AGENT=1":                               true,
		"AWS_EXECUTION_ENV=AmazonQ-For-CLI Version/1.2": true,
		"CLINE_ACTIVE=true":                             true,
		"CODEX_CI=1":                                    true,
		"CODEX_SANDBOX=seatbelt":                        true,
		"CODEX_SANDBOX_NETWORK_DISABLED=1":              true,
		"CODEX_THREAD_ID=0198":                          true,
		"COPILOT_AGENT=1":                               true,
		"COPILOT_CLI=1":                                 true,
		"CRUSH=1":                                       true,
		"CURSOR_AGENT=1":                                true,
		"CURSOR_EXTENSION_HOST_ROLE=agent-exec":         true,
		"GEMINI_CLI=1":                                  true,
		"GOOSE_TERMINAL=1":                              true,
		"IFLOW_CLI=1":                                   true,
		"OPENCODE=1":                                    true,
		"OPENCODE_CLIENT=cli":                           true,
		"PI_CODING_AGENT=true":                          true,
		"QWEN_CODE=1":                                   true,
		"ROO_ACTIVE=true":                               true,
		"TRAE_AI_SHELL_ID=1":                            true,
		"WINDSURF_CASCADE_TERMINAL=1":                   true,
	} {
		environ := []string{"PATH=/bin", marker}
		if Agent(environ) == "" {
			t.Errorf("%s is not known", marker)
		}
		if ForeignAgent(environ) != foreign {
			t.Errorf("%s: foreign is %t", marker, !foreign)
		}
	}
	for _, person := range []string{
		"CLAUDECODE=", "CLAUDE_CODE_USE_BEDROCK=1", "GEMINI_API_KEY=k", "TERM=xterm",
		// What a person's own terminal has in an editor that also runs agents.
		"AWS_EXECUTION_ENV=CloudShell", "COPILOT_MODEL=m", "CURSOR_EXTENSION_HOST_ROLE=user", "CURSOR_TRACE_ID=0198",
		"REPL_ID=1", "TERM_PROGRAM=vscode", "ZED_TERM=true",
	} {
		if marker := Agent([]string{"PATH=/bin", person}); marker != "" {
			t.Errorf("%s is taken for an agent's (%s)", person, marker)
		}
	}
}
