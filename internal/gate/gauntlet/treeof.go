package gauntlet

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/keeper"
)

// TreeOf is what tells a project's working tree from others, as a run has it; empty where it is not known.
func TreeOf(ctx context.Context, project *keeper.Project, stateDir string, environ []string, now func() time.Time) string {
	_, tree := openTree(ctx, project, stateDir, environ, now)
	return tree.Mark()
}

// Found is a tree that an agent finds.
type Found struct {
	Tree  string // as in TreeOf
	Rules string // as in change.Start
}

// KeepTree is TreeOf for a tree that an agent finds: what it holds is kept, and by which rules git ignores files, so that a
// stop can tell what the agent has changed in it. before is what its session found there or left before.
func KeepTree(ctx context.Context, project *keeper.Project, stateDir string, environ []string, now func() time.Time, before change.Baseline) Found {
	w, tree := openTree(ctx, project, stateDir, environ, now)
	if tree.Mark() == "" {
		return Found{}
	}
	_ = w.Keep(ctx, tree, before) // without it everything counts as changed once the tree is another
	rules, _ := w.KeepRules(tree) // without them the times of files have to do
	return Found{tree.Mark(), rules}
}

func openTree(ctx context.Context, project *keeper.Project, stateDir string, environ []string, now func() time.Time) (*change.Worktree, change.Tree) {
	index := ledger.Open(stateDir, project.Root).IndexFile()
	w := change.Open(project.Root, project.Config.Gauntlet.LogDir, index, environ, now)
	tree, err := w.Tree(ctx)
	if err != nil {
		return w, change.Tree{}
	}
	return w, tree
}
