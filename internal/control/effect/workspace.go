package effect

import (
	"context"

	"github.com/stopgate/stopgate/internal/agents/errand"
)

// makeWorkspace makes a workspace. A large one takes minutes: it ends when the owner does not want it
// any more.
func (t *task) makeWorkspace() error {
	if t.opts.Workspaces == nil {
		return &errand.Failure{Why: "workspaces are not supported here"}
	}
	return t.whileWanted(func(ctx context.Context) error {
		made, err := t.opts.Workspaces.Make(ctx, t.owner.ID, *t.effect.Workspace)
		made.Key, t.became = t.effect.Key, nil
		if err == nil {
			t.became = made
		}
		return err
	})
}

// removeWorkspace removes a workspace, or finds out why it has to stay.
func (t *task) removeWorkspace() error {
	if t.opts.Workspaces == nil {
		return &errand.Failure{Why: "workspaces are not supported here"}
	}
	removed, err := t.opts.Workspaces.Remove(t.acting, *t.effect.Workspace)
	removed.Key = t.effect.Key
	if err == nil {
		t.became = removed
	}
	return err
}
