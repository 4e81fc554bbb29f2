package gauntlet

import (
	"context"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
)

// changedContext is why the logs of the last run belong to other work: the branch
// is another, or what was recorded has been merged. Empty when they do not.
func (e *execution) changedContext(ctx context.Context, v *view) string {
	last, found := e.logs.ReadState()
	if !found || !v.position.Git {
		return ""
	}
	switch {
	case !last.OnBranch(v.position.Branch):
		return "branch changed"
	case e.merged(ctx, last, v):
		return "commit merged"
	}
	return ""
}

// merged reports whether the recorded commit came into the base since it was
// recorded. One that was there already, as on a fresh branch with nothing but
// uncommitted work, has not been merged.
func (e *execution) merged(ctx context.Context, last logdir.State, v *view) bool {
	p := v.position
	if last.CommitInBase != nil && *last.CommitInBase || p.BaseCommit == "" {
		return false
	}
	v.outside = last.Commit + " " + p.BaseCommit
	if look := v.state.Look; look != nil && look.Outside == v.outside {
		return false
	}
	in, err := e.inBase(ctx, last.Commit, p)
	if in || err != nil {
		v.outside = ""
	}
	return err == nil && in
}

// inBase reports whether a commit is reachable from the base.
func (e *execution) inBase(ctx context.Context, commit string, p change.Position) (bool, error) {
	switch {
	case p.BaseCommit == "" || commit == "":
		return false, nil
	case commit == p.BaseCommit || commit == p.MergeBase:
		return true, nil
	case commit == p.Head && p.MergeBase != "":
		return false, nil // else it would be the merge base
	}
	return e.tree.Reachable(ctx, commit, p.BaseCommit)
}

// autoClean archives the logs of other work. Open failures stay open, and so does the
// series of retries while there are any: a new branch for each attempt must not start anew.
func (e *execution) autoClean(ctx context.Context, why string) error {
	if _, err := e.logs.Clean(); err != nil {
		return err
	}
	e.notes = append(e.notes, "Auto-cleaning logs ("+why+")")
	e.debug("CLEAN type=auto reason=%q", why)
	return logsMoved(ctx, e.ledger, false)
}
