//go:build unix

package chaos

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// workspaces checks that of all workspaces those are left that have work in them, that no branch is left
// without a commit or a worktree, and that nothing was committed twice.
func (a *audit) workspaces(owners map[string]kind) {
	branches, trees, entries := []string{"main"}, []string{a.root}, []string{}
	for id, k := range owners {
		switch k.name {
		case "space":
			branches = append(branches, "space/"+id)
			if n := strings.TrimSpace(a.git(a.T, "rev-list", "--count", "main..space/"+id)); n != "1" {
				a.Errorf("space/%s has %s commits", id, n)
			}
		case "space-kept":
			dir := filepath.Join(a.state, "workspaces", "project-"+id)
			branches, trees = append(branches, "kept/"+id), append(trees, dir)
			entries = append(entries, dir, dir+".json", dir+".lock")
		}
	}
	a.same("branches", branches, strings.Fields(a.git(a.T, "for-each-ref", "--format=%(refname:short)", "refs/heads")))
	var listed []string
	for line := range strings.Lines(a.git(a.T, "worktree", "list", "--porcelain")) {
		if dir, is := strings.CutPrefix(strings.TrimSpace(line), "worktree "); is {
			listed = append(listed, dir)
		}
	}
	a.same("worktrees", trees, listed)
	found, _ := filepath.Glob(filepath.Join(a.state, "workspaces", "[^.]*")) // files that were about to be written go in an hour
	a.same("workspaces", entries, found)
	for _, pattern := range []string{"*.lock", "refs/heads/*.lock", "refs/heads/*/*.lock", "worktrees/*/*.lock"} {
		if locks, _ := filepath.Glob(filepath.Join(a.root, ".git", pattern)); len(locks) > 0 {
			a.Errorf("locks are left: %q", locks)
		}
	}
}

func (a *audit) same(what string, want, got []string) {
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		a.Errorf("%s (-want +got)\n%s", what, diff)
	}
}
