package protect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
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
func (p Place) approvals() (a approvals) {
	text, err := regular.Read(p.approvalsFile(), maxKept)
	if err != nil || json.Unmarshal(text, &a) != nil || a.Version != 1 {
		return approvals{}
	}
	return a
}

// Approve approves files as they are in the touches, for all worktrees of the repository.
func (p Place) Approve(ctx context.Context, all []Touch) error {
	path := p.approvalsFile()
	release, err := lockfile.Acquire(ctx, path+".lock", 5*time.Second)
	if err != nil {
		return fmt.Errorf("lock the approvals: %w", err)
	}
	defer release()

	a := approvals{Version: 1}
	text, err := regular.Read(path, maxKept)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case json.Unmarshal(text, &a) != nil || a.Version != 1:
		a = approvals{Version: 1} // damaged from outside: what it said is approved again
	}
	for _, t := range all {
		a.All = slices.DeleteFunc(a.All, func(o Approval) bool { return o.Path == t.Path && o.Is == t.Is })
		a.All = append(a.All, Approval{t.Path, t.Is, p.Now().UTC()})
	}
	a.All = a.All[max(0, len(a.All)-maxApprovals):]
	if text, err = json.Marshal(a); err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'), 0o600)
}
