package protect

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Approval is a content of a file that a person approved; the zero State is that it is
// deleted.
type Approval struct {
	Path string       `json:"path"`
	Is   change.State `json:"is,omitzero"`
	Time time.Time    `json:"time"`
}

// approvals are those of a project, in all worktrees of its repository.
type approvals struct {
	Version int        `json:"v"`
	All     []Approval `json:"approvals"`
}

// maxApprovals bounds the file; the newest are kept.
const maxApprovals = 10_000

func (a approvals) has(path string, is change.State) bool {
	return slices.ContainsFunc(a.All, func(o Approval) bool { return o.Path == path && o.Is == is })
}

func (p Place) approvalsFile() string {
	return filepath.Join(p.StateDir, "protect", "approvals", trust.RepositoryKey(p.Project.Root)+".json")
}

// approvals are none where they cannot be read.
func (p Place) approvals() approvals {
	if a, err := statefile.Read[approvals](p.approvalsFile(), maxKept); err == nil && a.Version == 1 {
		return a
	}
	return approvals{}
}

// Approve approves files as they are in the touches, for all worktrees of the repository.
func (p Place) Approve(ctx context.Context, all []Touch) error {
	path := p.approvalsFile()
	read := func() (approvals, error) {
		a, err := statefile.Read[approvals](path, maxKept)
		switch {
		case err == nil && a.Version == 1:
			return a, nil
		case err == nil, statefile.IsDamaged(err), errors.Is(err, fs.ErrNotExist):
			return approvals{Version: 1}, nil // what a damaged file said is approved again
		}
		return a, err
	}
	lock := statefile.Lock{Path: path + lockfile.Suffix, Patience: 5 * time.Second, What: "the approvals"}
	return statefile.Update(ctx, path, lock, read, func(a *approvals) error {
		for _, t := range all {
			a.All = slices.DeleteFunc(a.All, func(o Approval) bool { return o.Path == t.Path && o.Is == t.Is })
			a.All = append(a.All, Approval{t.Path, t.Is, p.Now().UTC()})
		}
		a.All = a.All[max(0, len(a.All)-maxApprovals):]
		return nil
	})
}
