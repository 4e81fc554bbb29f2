package daemon

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// The colour of a workspace is that of its own pipeline.
func TestWorkspacesHaveTheirOwnColours(t *testing.T) {
	paint := term.Paint(true)
	lines := workspaceRows([]daemonapi.KeptWorkspace{{Status: "failed"}, {Status: "done"}}, 80, paint)
	for i, want := range []string{paint.Red("failed"), paint.Green("done  ")} {
		if !strings.Contains(lines[i+1], want) {
			t.Errorf("%q has no %q", lines[i+1], want)
		}
	}
}
