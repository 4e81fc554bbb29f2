package gauntlet

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/keeper"
)

// TreeOf is the id of a project's working tree, as a run has it; empty where it is not
// known exactly.
func TreeOf(ctx context.Context, project *keeper.Project, stateDir string, environ []string, now func() time.Time) string {
	index := ledger.Open(stateDir, project.Root).IndexFile()
	tree, err := change.Open(project.Root, project.Config.Gauntlet.LogDir, index, environ, now).Tree(ctx)
	if err != nil {
		return ""
	}
	return tree.Known()
}
