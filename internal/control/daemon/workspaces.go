package daemon

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/workspace"
)

// Workspaces implements api.Plane.
func (p *plane) Workspaces(_ context.Context, q *api.Query) (page api.Page[daemonapi.KeptWorkspace], err error) {
	there, ok := p.opts.Workspaces.(*workspace.Workspaces)
	if !ok {
		return page, nil
	}
	all, err := there.List(q.After.ID)
	if err != nil {
		return page, asFailure(err)
	}

	for k := range all {
		if !api.Is(q.Project, k.Project) {
			continue
		}
		if n := len(page.Items); n == q.Limit {
			page.Next = api.Place{ID: page.Items[n-1].Name}
			break
		}
		page.Items = append(page.Items, p.keptWorkspace(k))
	}
	return page, nil
}

func (p *plane) keptWorkspace(k workspace.Kept) daemonapi.KeptWorkspace {
	view := daemonapi.KeptWorkspace{
		Name: filepath.Base(k.Dir), Path: k.Dir, Kind: string(k.Kind), Branch: k.Branch, Project: k.Project, Owner: k.Owner,
		Kept: "its pipeline is no longer known",
	}
	if o := p.core.known(k.Owner); o != nil {
		w, _ := workspaceAt(o, k.Dir)
		view.Status, view.Kept = p.ownerView(o, false).Status, w.Kept
	}
	return view
}

// workspaceAt is the workspace of an owner in a directory.
func workspaceAt(o *engine.Owner, dir string) (w engine.Workspace, found bool) {
	for _, w := range o.Workspaces {
		if w.Dir == dir {
			return w, true
		}
	}
	return engine.Workspace{}, false
}

// RemoveWorkspace implements api.Plane. It answers when the workspace is gone, or has to stay.
func (p *plane) RemoveWorkspace(ctx context.Context, r daemonapi.RemoveWorkspace) (daemonapi.KeptWorkspace, error) {
	there, ok := p.opts.Workspaces.(*workspace.Workspaces)
	if !ok {
		return daemonapi.KeptWorkspace{}, api.Refusal("not_found", "there is no such workspace", "")
	}
	all, err := there.List("")
	if err != nil {
		return daemonapi.KeptWorkspace{}, asFailure(err)
	}

	for k := range all {
		if filepath.Base(k.Dir) == r.Name {
			view := p.keptWorkspace(k)
			view.Kept, err = p.discard(ctx, there, k, r.ID)
			if err == nil && view.Kept != "" {
				err = api.Refusal("conflict", "the workspace "+k.Dir+" stays: "+view.Kept, "")
			}
			return view, err
		}
	}
	return daemonapi.KeptWorkspace{}, api.Refusal("not_found", "there is no such workspace", "see: stopgate workspace list")
}

// discard removes a workspace, or says why it stays. Of one whose owner is known that is the owner's to
// record; any other is removed here.
func (p *plane) discard(ctx context.Context, there *workspace.Workspaces, k workspace.Kept, request string) (kept string, err error) {
	o := p.core.known(k.Owner)
	if o == nil {
		removed, err := there.Remove(context.WithoutCancel(ctx), engine.WorkspaceTask{Dir: k.Dir, Kind: k.Kind, Project: k.Project, Branch: k.Branch})
		var failed *errand.Failure
		if errors.As(err, &failed) {
			return failed.Why, nil
		}
		return removed.Kept, asFailure(err)
	}

	if _, err := p.request(ctx, o.ID, request, engine.Discard{Dir: k.Dir}); err != nil {
		return "", err
	}

	for {
		news := p.core.news.Rung()
		now := p.core.owner(o.ID)
		if now == nil {
			return "", nil
		}
		if w, _ := workspaceAt(now, k.Dir); w.State != engine.WorkspaceRemoving {
			return w.Kept, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
