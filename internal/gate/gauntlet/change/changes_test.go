package change

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// busy is a repository with every kind of change.
func busy(t *testing.T) (r *gittest.Repo, head string) {
	t.Helper()
	r = gittest.New(t)
	r.Write("kept", "1\n", "edited", "1\n", "deleted", "1\n", "moved", "moved\n1\n", "staged", "1\n", "touched", "1\n", "gone", "1\n",
		"sub/kept", "1\n", "sub/edited", "1\n", ".gitignore", "ignored\n")
	r.Commit("one")
	r.Origin()
	r.Write("committed", "2\n", "edited", "2\n")
	r.Git("mv", "moved", "sub/moved")
	r.Git("rm", "--quiet", "deleted")
	head = r.Commit("two")
	r.Write("staged", "2\n", "staged new", "2\n")
	r.Git("add", "staged", "staged new")
	r.Write("edited", "1\n", "sub/edited", "3\n", "ignored", "3\n", "new/file", "3\n", "new/other", "3\n")
	r.Write(logDir+"/console.1.log", "")
	r.Remove("gone")
	return r, head
}

func TestChanges(t *testing.T) {
	r, head := busy(t)
	committed := []string{"committed", "deleted", "edited", "moved", "sub/moved"}
	uncommitted := []string{"edited", "gone", "new/file", "new/other", "staged", "staged new", "sub/edited"}
	both := []string{"committed", "deleted", "edited", "gone", "moved", "new/file", "new/other", "staged", "staged new", "sub/edited", "sub/moved"}
	all := []string{".gitignore", "committed", "edited", "gone", "kept", "new/file", "new/other", "staged", "staged new", "sub/edited", "sub/kept", "sub/moved", "touched"}
	tests := []struct {
		name  string
		dir   string
		scope Scope
		want  Set
	}{
		{"since the base", ".", Scope{}, Set{Files: both}},
		{"not committed", ".", Scope{Uncommitted: true}, Set{Files: uncommitted}},
		{"HEAD is the base", ".", Scope{Base: "HEAD"}, Set{Files: uncommitted}},
		{"one commit", ".", Scope{Commit: "HEAD"}, Set{Files: committed}},
		{"one commit by id", ".", Scope{Commit: head, Base: "nope"}, Set{Files: committed}},
		{"the first commit", ".", Scope{Commit: "HEAD^"}, Set{Files: []string{".gitignore", "deleted", "edited", "gone", "kept", "moved", "staged", "sub/edited", "sub/kept", "touched"}}},
		{"CI", ".", Scope{CI: true, Base: "main^"}, Set{Files: committed}},
		{"CI without the base", ".", Scope{CI: true, Base: "gone"}, Set{Files: committed}},
		{"a base that does not exist", ".", Scope{Base: "nope"}, Set{All: true, Note: "base nope not found, so every file counts as changed (set base_branch)", Files: all}},
		{"below the toplevel", "sub", Scope{}, Set{Files: []string{"edited", "moved"}}},
		{"one commit, below the toplevel", "sub", Scope{Commit: "HEAD"}, Set{Files: []string{"moved"}}},
		{"all, below the toplevel", "sub", Scope{Base: "nope"}, Set{All: true, Note: "base nope not found, so every file counts as changed (set base_branch)", Files: []string{"edited", "kept", "moved"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, changes(t, openAt(t, r, tt.dir), tt.scope)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChangesOfAnUnknownCommit(t *testing.T) {
	r, _ := busy(t)
	for _, commit := range []string{"nope", "--all", "HEAD..main", "-1", ":/one"} {
		w, scope := open(t, r), Scope{Commit: commit}
		if _, err := w.Changes(t.Context(), scope, position(t, w, scope)); !errors.Is(err, git.ErrNoSuchRef) {
			t.Errorf("%q: %v", commit, err)
		}
		if _, err := w.Diff(t.Context(), scope, position(t, w, scope), everything, 1000); !errors.Is(err, git.ErrNoSuchRef) {
			t.Errorf("%q: %v", commit, err)
		}
	}
	plain := open(t, gittest.At(t, gittest.Dir(t)))
	scope := Scope{Commit: "HEAD"}
	if _, err := plain.Changes(t.Context(), scope, position(t, plain, scope)); !errors.Is(err, git.ErrNotRepository) {
		t.Errorf("no repository: %v", err)
	}
}

func TestNothingChanged(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1\n")
	r.Commit("one")
	r.Origin()
	if diff := cmp.Diff(Set{}, changes(t, open(t, r), Scope{})); diff != "" {
		t.Error(diff)
	}
}

func TestChangesWithoutARepository(t *testing.T) {
	r := gittest.At(t, gittest.Dir(t))
	r.Write("a", "", "b/c", "", "b-d", "", logDir+"/x.log", "", "sub/.git/x", "", "sub/y", "")
	want := Set{All: true, Note: "no git repository, so every file counts as changed", Files: []string{"a", "b-d", "b/c", "sub/y"}}
	if diff := cmp.Diff(want, changes(t, open(t, r), Scope{})); diff != "" {
		t.Error(diff)
	}
}

func TestChangesWithSHA256(t *testing.T) {
	r := gittest.New(t, "--object-format=sha256")
	r.Write("a", "1\n")
	r.Commit("one")
	r.Origin()
	r.Write("b", "1\n")
	r.Commit("two")
	r.Write("a", "2\n")
	w := open(t, r)
	if p := position(t, w, Scope{}); len(p.Head) != 64 || len(p.MergeBase) != 64 {
		t.Errorf("%+v", p)
	}
	for _, tt := range []struct {
		scope Scope
		want  []string
	}{{Scope{}, []string{"a", "b"}}, {Scope{Commit: "HEAD^"}, []string{"a"}}, {Scope{Uncommitted: true}, []string{"a"}}} {
		if diff := cmp.Diff(tt.want, changes(t, w, tt.scope).Files); diff != "" {
			t.Error(tt.scope, diff)
		}
	}
	r.Git("update-index", "--assume-unchanged", "a")
	if diff := cmp.Diff([]string{"a"}, changes(t, open(t, r), Scope{Uncommitted: true}).Files); diff != "" {
		t.Error(diff)
	}
}

// One command must not take a file out of reach of the gates.
func TestChangesThatGitWasToldNotToSee(t *testing.T) {
	for _, bit := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(bit, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("edited", "1\n", "kept", "1\n", "gone", "1\n", "sub/edited", "1\n")
			r.Commit("one")
			r.Origin()
			r.Git("update-index", bit, "edited", "kept", "gone", "sub/edited")
			w := open(t, r)
			if set := changes(t, w, Scope{}); len(set.Files) > 0 {
				t.Fatalf("nothing changed yet: %q", set.Files)
			}
			before := exact(t, w)
			r.Write("edited", "2\n", "sub/edited", "2\n")
			r.Remove("gone")
			if got := r.Git("status", "--porcelain"); got != "" {
				t.Fatalf("git sees it: %s", got)
			}
			for name, w := range map[string]*Worktree{"after a tree": w, "without one": open(t, r)} {
				if diff := cmp.Diff([]string{"edited", "gone", "sub/edited"}, changes(t, w, Scope{}).Files); diff != "" {
					t.Error(name, diff)
				}
			}
			if diff := cmp.Diff([]string{"edited"}, changes(t, openAt(t, r, "sub"), Scope{}).Files); diff != "" {
				t.Error(diff)
			}
			if exact(t, w) == before {
				t.Error("the tree is the same")
			}
		})
	}
}

func TestSparseCheckout(t *testing.T) {
	r := gittest.New(t)
	r.Write("in/a", "1\n", "out/b", "1\n", "top", "1\n")
	r.Commit("one")
	r.Origin()
	r.Git("sparse-checkout", "set", "--cone", "in")
	w := open(t, r)
	if set := changes(t, w, Scope{}); len(set.Files) > 0 || set.All {
		t.Errorf("%+v", set)
	}
	before := exact(t, w)
	r.Write("out/b", "2\n")
	if exact(t, w) == before {
		t.Error("a file outside the sparse checkout does not count")
	}
	if diff := cmp.Diff([]string{"out/b"}, changes(t, w, Scope{}).Files); diff != "" {
		t.Error(diff)
	}
}

func TestSubmodulesAndNestedRepositories(t *testing.T) {
	module := gittest.New(t)
	module.Write("m", "1\n")
	module.Commit("one")
	r := gittest.New(t)
	r.Write("a", "1\n")
	r.Git("submodule", "--quiet", "add", "file://"+module.Dir, "module")
	r.Commit("one")
	r.Origin()
	w := open(t, r)
	if set := changes(t, w, Scope{}); len(set.Files) > 0 {
		t.Errorf("a clean submodule: %q", set.Files)
	}
	r.Git("config", "submodule.module.ignore", "all")
	r.Write("module/m", "2\n")
	if diff := cmp.Diff([]string{"module"}, changes(t, w, Scope{}).Files); diff != "" {
		t.Error("edited inside", diff)
	}
	r.Git("-C", "module", "checkout", "--quiet", "--", ".")
	r.Write("module/new", "")
	if diff := cmp.Diff([]string{"module"}, changes(t, w, Scope{}).Files); diff != "" {
		t.Error("new inside", diff)
	}
	r.Remove("module/new")
	nested := gittest.At(t, r.Path("nested"))
	r.Write("nested/x", "")
	nested.Git("init", "--quiet")
	if diff := cmp.Diff([]string{"nested"}, changes(t, w, Scope{}).Files); diff != "" {
		t.Error("nested", diff)
	}
}

func TestUnmergedFileIsOneChange(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1\n")
	r.Commit("one")
	r.Origin()
	r.Git("switch", "--quiet", "--create", "other")
	r.Write("a", "2\n")
	r.Commit("two")
	r.Git("switch", "--quiet", "main")
	r.Write("a", "3\n")
	r.Commit("three")
	if out, err := r.Try("merge", "other"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	w := open(t, r)
	if diff := cmp.Diff([]string{"a"}, changes(t, w, Scope{}).Files); diff != "" {
		t.Error(diff)
	}
	before := exact(t, w)
	r.Git("add", "a")
	if exact(t, w) != before {
		t.Error("marking a conflict as resolved changed the tree")
	}
}
