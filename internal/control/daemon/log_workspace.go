package daemon

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// workspaceHappened is what a fact tells of a workspace.
func workspaceHappened(was *engine.Owner, fact engine.Fact) string {
	switch f := fact.(type) {
	case engine.WorkspaceWanted:
		return fmt.Sprintf("making the workspace %s%s", f.Dir, onBranch(f.Workspace))
	case engine.WorkspaceMade:
		if f.Found {
			return "the workspace is there already"
		}
		return "the workspace is ready" + because(f.Note)
	case engine.WorkspaceFailed:
		return "the workspace cannot be made" + because(f.Why)
	case engine.WorkspaceLeft:
		if f.Kept != "" {
			w := was.Workspaces[f.Name]
			return fmt.Sprintf("the workspace %s%s is kept%s", w.Dir, onBranch(w), because(f.Kept))
		}
	case engine.WorkspaceRemoved:
		w := was.Workspaces[f.Name]
		if f.Kept != "" {
			return fmt.Sprintf("the workspace %s%s is kept%s", w.Dir, onBranch(w), because(f.Kept))
		}
		return "the workspace was removed" + because(f.Note)
	}
	return ""
}

func onBranch(w engine.Workspace) string {
	if w.Branch == "" {
		return ""
	}
	return " on branch " + w.Branch
}
