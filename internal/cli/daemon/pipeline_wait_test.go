package daemon

import (
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// Who waits for a pipeline may use its branch then: its workspace is gone, or kept.
func TestWaitIsOverWhenTheWorkspaceIsGone(t *testing.T) {
	for state, over := range map[string]bool{"removing": false, "removed": true, "kept": true} {
		s := ownersShow{{owner: daemonapi.Owner{Status: ownerDone, Workspaces: []daemonapi.Workspace{{State: state}}}}}
		if s.Over() != over {
			t.Errorf("%s: over is %v", state, s.Over())
		}
	}
}
