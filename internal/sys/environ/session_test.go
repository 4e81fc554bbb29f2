package environ

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithoutSession(t *testing.T) {
	kept := []string{
		"PATH=/bin", "STOPGATE_STATE_DIR=/s", "OJ_STATE_DIR=/s", "ANTHROPIC_API_KEY=k", "CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_USE_BEDROCK=1",
		"CLAUDE_CODE_OAUTH_TOKEN=t", "TMUX_TMPDIR=/t", "EMPTY=", "CLAUDECODE_OTHER=1", "NEWLINE=a\nTMUX=1", "no entry",
	}
	given := slices.Concat(kept, []string{
		"STOPGATE_INSIDE=1", "GAUNTLET_STOP_HOOK_ACTIVE=1", "CCC_SUPERVISOR_HOOK=1", "CCC_SUPERVISOR=1", "STOPGATE_AGENT_ID=a", "OJ_AGENT_ID=a",
		"STOPGATE_ERRAND=/e", "STOPGATE_COMMAND=c", "STOPGATE_PROMPT=p", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ID=s",
		"CLAUDE_CODE_SSE_PORT=1", "CLAUDE_PROJECT_DIR=/p", "CLAUDE_ENV_FILE=/f", "AI_AGENT=x", "TMUX=/t,1,0", "TMUX_PANE=%1",
	})
	before := slices.Clone(given)
	if diff := cmp.Diff(kept, WithoutSession(given)); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(before, given) {
		t.Error("the caller's environment was changed")
	}
}
