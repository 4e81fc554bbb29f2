package git

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Head is the commit that HEAD is; empty before the first one, and outside of a repository. It is mostly
// found in git's files, which spares a process.
func (r Repo) Head(ctx context.Context) string {
	if id := headFile(r.dir); id != "" {
		return id
	}
	out, err := r.output(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if id := strings.TrimSpace(out); err == nil && IsID(id) {
		return id
	}
	return ""
}

// headFile is the commit that the HEAD of the worktree around dir is, as far as files say it that hold
// nothing else: HEAD itself, or that of the branch.
func headFile(dir string) string {
	gitDir, found := paths.GitDir(dir)
	if !found {
		return ""
	}
	head := paths.FirstLine(filepath.Join(gitDir, "HEAD"))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if common, _, found := paths.Repository(dir); symbolic && found && strings.HasPrefix(ref, "refs/heads/") && filepath.IsLocal(filepath.FromSlash(ref)) {
		head = paths.FirstLine(filepath.Join(common, filepath.FromSlash(ref)))
	}
	if !IsID(head) {
		return ""
	}
	return head
}
