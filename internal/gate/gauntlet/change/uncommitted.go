package change

import (
	"context"
	"slices"
)

// Uncommitted lists what differs from HEAD in the whole repository: changed, staged and new files, and
// those whose changes git was told not to see. Names are relative to the work tree's root.
func (w *Worktree) Uncommitted(ctx context.Context, p Position) ([]string, error) {
	logs := ""
	if w.logDir != "" {
		logs = w.abs(w.logDir)
	}
	top := Open(p.Toplevel, logs, "", w.environ, w.now)
	now, err := top.uncommitted(ctx, Position{})
	return top.project(slices.Concat(now.changed, now.untracked, now.concealed)), err
}
