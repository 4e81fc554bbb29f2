package daemon

import (
	"context"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/workspace"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// placesOf are the directories that a decision may be about, the likeliest first: the workspace of its
// step, where its agent was last, where that was started.
func placesOf(o *engine.Owner, d engine.Decision, last agentdir.Last) []string {
	var dirs []string
	if w, has := o.WorkspaceOf(d.Step); has {
		dirs = append(dirs, o.WorkspacePath(w))
	}
	dirs = append(dirs, last.Cwd)
	if o.Agent != nil && o.Agent.ID == d.AgentID {
		dirs = append(dirs, o.AgentStart().Cwd)
	}
	return append(dirs, o.Cwd, o.Project)
}

// maxCommits is how many commits a person is shown.
const maxCommits = 20

// sinceBase adds what was done in the workspace since its base, where it is a worktree.
func (p *plane) sinceBase(ctx context.Context, o *engine.Owner, d engine.Decision, details *daemonapi.Details) {
	w, has := o.WorkspaceOf(d.Step)
	if !has || w.Kind != runbook.Worktree || !disk.IsDir(w.Dir) {
		return
	}
	details.Workspace = workspaceView(o, "", w)
	repo := git.At(w.Dir, p.opts.Environ)
	commits := within(ctx, func(ctx context.Context) (lines []string) {
		for _, c := range subjects(ctx, repo, w) {
			lines = append(lines, plain.Line(c))
		}
		return lines
	})
	if details.Commits = <-commits; len(details.Commits) == 0 {
		return // what is uncommitted is all there is
	}
	all := within(ctx, func(ctx context.Context) []string { return changesSince(ctx, repo, startOf(ctx, repo, w)) })
	details.Diff = <-all
}

func subjects(ctx context.Context, repo git.Repo, w engine.Workspace) []string {
	lines, err := repo.Subjects(ctx, startOf(ctx, repo, w), maxCommits)
	if err != nil {
		return nil
	}
	return lines
}

// startOf is the commit from which the work in a workspace comes: the merge base with its base as that is
// now, else where it began.
func startOf(ctx context.Context, repo git.Repo, w engine.Workspace) string {
	if base, err := workspace.Base(ctx, repo, w.Base); err == nil {
		if at, err := repo.Locate(ctx, base, "HEAD"); err == nil && at.Merge != "" {
			return at.Merge
		}
	}
	return w.Commit
}
