package trust

import (
	"context"
	"path"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// What is said of a configuration that is Absent, and what helps.
const (
	NotInBranch = "is not in this branch"
	GetHere     = "merge the branch that has it, or copy it here with `stopgate trust --restore`"
)

// Absent reports whether the configuration is gone and the branch does not have it either, as in a
// worktree that was made from a commit before it. The approved one runs all the same. It asks git,
// which hooks do only where something is gone.
func (s Standing) Absent(environ []string) bool {
	if !s.Gone {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, committed, err := git.At(s.Root, environ).BlobAt(ctx, "HEAD", path.Join(paths.GauntletDir, paths.ConfigFile))
	return err == nil && !committed
}
