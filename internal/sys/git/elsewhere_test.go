package git

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// The work tree is where .git is, wherever the repository's configuration says that it is.
func TestTheWorkTreeIsWhereGitIs(t *testing.T) {
	empty := gittest.Dir(t)
	tests := map[string]func(r *gittest.Repo) (dir string){
		"as it is": func(r *gittest.Repo) string { return r.Dir },
		"core.worktree": func(r *gittest.Repo) string {
			r.Git("config", "core.worktree", empty)
			return r.Dir
		},
		"core.bare": func(r *gittest.Repo) string {
			r.Git("config", "core.bare", "true")
			return r.Dir
		},
		"core.worktree of a linked worktree": func(r *gittest.Repo) string {
			linked := filepath.Join(gittest.Dir(t), "linked")
			r.Git("worktree", "add", "--quiet", linked)
			r.Git("config", "extensions.worktreeConfig", "true")
			r.Git("-C", linked, "config", "--worktree", "core.worktree", empty)
			return linked
		},
		"a worktree of a bare repository": func(r *gittest.Repo) string {
			dir := gittest.Dir(t)
			r.Git("clone", "--quiet", "--bare", r.Dir, filepath.Join(dir, "bare.git"))
			r.Git("-C", filepath.Join(dir, "bare.git"), "worktree", "add", "--quiet", filepath.Join(dir, "linked"))
			return filepath.Join(dir, "linked")
		},
		"a submodule": func(r *gittest.Repo) string {
			super := gittest.New(t)
			super.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.Dir, "sub")
			super.Git("-C", "sub", "config", "core.worktree", empty)
			return super.Path("sub")
		},
		"a separate git directory": func(r *gittest.Repo) string {
			r.Git("init", "--quiet", "--separate-git-dir", filepath.Join(gittest.Dir(t), "git"))
			r.Git("config", "core.worktree", empty)
			return r.Dir
		},
	}
	for name, dirOf := range tests {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("a", "1", "b/c", "1")
			r.Commit("one")
			dir := dirOf(r)
			here := gittest.At(t, dir)
			here.Write("a", "2", "b/new", "1")
			repo := At(dir, r.Env)

			list, err := repo.Files(t.Context())
			if err != nil || !slices.Contains(list.Untracked, "b/new") || !slices.Contains(list.Tracked, "a") {
				t.Errorf("got %+v, %v", list, err)
			}
			status, err := repo.Status(t.Context())
			if err != nil || !slices.Equal(status.Changed, []string{"a"}) || !slices.Contains(status.Untracked, "b/new") {
				t.Errorf("got %+v, %v", status, err)
			}
			below, err := At(filepath.Join(dir, "b"), r.Env).Locate(t.Context(), "", "HEAD")
			if err != nil || !below.Inside || below.Up != "../" {
				t.Errorf("got %+v, %v", below, err)
			}
		})
	}
}

// A folder that is called .git and is no repository is nothing to git.
func TestAFolderThatIsNoRepository(t *testing.T) {
	r := gittest.New(t)
	r.Write("sub/a", "1", "sub/.git/x", "1")
	r.Commit("one")
	list, err := At(r.Path("sub"), r.Env).Files(t.Context())
	if err != nil || !slices.Equal(list.Tracked, []string{"a"}) {
		t.Errorf("got %+v, %v", list, err)
	}
}
