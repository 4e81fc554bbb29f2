package change

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// history is one commit that the remote has and one that it does not.
func history(t *testing.T) (r *gittest.Repo, one, two string) {
	t.Helper()
	r = gittest.New(t)
	r.Write("a", "1\n", "sub/b", "1\n")
	one = r.Commit("one")
	r.Origin()
	r.Git("switch", "--quiet", "--create", "feature/x")
	r.Write("a", "2\n")
	return r, one, r.Commit("two")
}

func TestPosition(t *testing.T) {
	r, one, two := history(t)
	want := Position{
		Git: true, Toplevel: r.Dir, GitDir: r.Path(".git"), Head: two, Branch: "feature/x",
		Base: "origin/main", BaseCommit: one, MergeBase: one,
	}
	check := func(name, dir string, scope Scope, want Position) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			if diff := cmp.Diff(want, position(t, openAt(t, r, dir), scope)); diff != "" {
				t.Error(diff)
			}
		})
	}
	with := func(edit func(*Position)) Position {
		p := want
		edit(&p)
		return p
	}
	check("the remote's default branch", ".", Scope{}, want)
	check("below the toplevel", "sub", Scope{}, with(func(p *Position) { p.Prefix = "sub/" }))
	check("a base by name", ".", Scope{Base: "main", Explicit: true}, with(func(p *Position) { p.Base = "main" }))
	check("a base by id", ".", Scope{Base: one}, with(func(p *Position) { p.Base = one }))
	check("HEAD", ".", Scope{Base: "HEAD"}, with(func(p *Position) { p.Base, p.BaseCommit, p.MergeBase = "HEAD", two, two }))
	none := func(note string) Position {
		return with(func(p *Position) { p.Base, p.BaseCommit, p.MergeBase, p.Note = "", "", "", note })
	}
	check("a base that does not exist", ".", Scope{Base: "nope"}, none("base nope not found, so every file counts as changed (set base_branch)"))
	check("a base that nobody needs", ".", Scope{Base: "nope", Uncommitted: true}, none(""))
	check("a base that nobody needs", ".", Scope{Base: "nope", Commit: two}, none(""))
	check("CI", ".", Scope{CI: true, Base: "main", Head: two}, with(func(p *Position) { p.Base = "main" }))
	r.Git("branch", "--quiet", "--delete", "--force", "main")
	check("CI, only the remote's branch", ".", Scope{CI: true, Base: "main"}, want)
	last := with(func(p *Position) { p.Base = "HEAD^" })
	check("CI, base missing", ".", Scope{CI: true, Base: "gone"}, last)
	check("CI, head missing", ".", Scope{CI: true, Base: "main", Head: "gone"}, want)

	r.Git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
	check("origin/main", ".", Scope{}, want)
	r.Git("update-ref", "-d", "refs/remotes/origin/main")
	check("no remote", ".", Scope{}, none("base origin/main not found, so every file counts as changed (set base_branch)"))
	r.Git("checkout", "--quiet", "--detach")
	check("detached", ".", Scope{}, with(func(p *Position) {
		*p = none("base origin/main not found, so every file counts as changed (set base_branch)")
		p.Branch = "HEAD"
	}))
}

func TestOtherDefaultBranch(t *testing.T) {
	r, one, _ := history(t)
	r.Git("update-ref", "refs/remotes/origin/trunk", "HEAD")
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	if p := position(t, open(t, r), Scope{}); p.Base != "origin/trunk" || p.BaseCommit == one || p.MergeBase != p.Head {
		t.Errorf("%+v", p)
	}
}

// CI is never told that nothing has changed by a commit that it just got.
func TestIssue19APushToTheBaseIsWhatItBrought(t *testing.T) {
	r := gittest.New(t)
	var commits []string
	for _, name := range []string{"a", "b", "c"} {
		r.Write(name, "1\n")
		commits = append(commits, r.Commit(name))
	}
	r.Origin()
	zeros := strings.Repeat("0", 40)
	everything := "origin/main already has this commit, and what it had before is not known here, so every file counts as changed"
	for _, test := range []struct {
		name  string
		scope Scope
		files []string
		note  string
	}{
		{"one commit", Scope{CI: true, Before: commits[1]}, []string{"c"}, "origin/main already has this commit, so changes are counted from " + commits[1]},
		{"two commits", Scope{CI: true, Before: commits[0]}, []string{"b", "c"}, "origin/main already has this commit, so changes are counted from " + commits[0]},
		{"CI does not say", Scope{CI: true, Before: "HEAD^"}, []string{"c"}, "origin/main already has this commit, so changes are counted from HEAD^"},
		{"a base that a person names", Scope{CI: true, Base: "HEAD", Explicit: true, Before: "HEAD^"}, []string{"c"}, "HEAD already has this commit, so changes are counted from HEAD^"},
		{"another default branch", Scope{CI: true, Base: "gone", Before: commits[0]}, []string{"b", "c"}, ""},
		{"a new branch", Scope{CI: true, Before: zeros}, []string{"a", "b", "c"}, everything},
		{"not in the checkout", Scope{CI: true, Before: strings.Repeat("1", 40)}, []string{"a", "b", "c"}, everything},
		{"back to an older commit", Scope{CI: true, Head: commits[1], Before: commits[2]}, []string{"a", "b", "c"}, everything},
		{"the first commit", Scope{CI: true, Head: commits[0], Before: commits[0] + "^"}, []string{"a", "b", "c"}, everything},
		{"not CI", Scope{Before: commits[0]}, nil, ""},
	} {
		set := changes(t, open(t, r), test.scope)
		if !cmp.Equal(set.Files, test.files) || set.Note != test.note || set.All != (test.note == everything) {
			t.Errorf("%s: %+v", test.name, set)
		}
	}
}

func TestExplicitBaseMustExist(t *testing.T) {
	r, _, _ := history(t)
	empty := gittest.New(t)
	plain := gittest.At(t, gittest.Dir(t))
	made := filepath.Join(gittest.Dir(t), "made")
	r.Git("update-ref", "refs/remotes/origin/remote", "HEAD") // it is not called "remote"
	for _, base := range []string{"nope", "remote", "--output=" + made, "main; touch " + made, "-b", "main\x00"} {
		for name, repo := range map[string]*gittest.Repo{"repository": r, "no commit": empty, "no repository": plain} {
			for _, ci := range []bool{false, true} {
				_, err := open(t, repo).Position(t.Context(), Scope{Base: base, Explicit: true, CI: ci})
				fault := (*BaseError)(nil)
				if !errors.As(err, &fault) || fault.Base != base || fault.Hint == "" || err.Error() != "no such ref: "+base {
					t.Errorf("%s, %q: %v", name, base, err)
				}
			}
		}
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("a base was executed")
	}
}

func TestPositionBeforeTheFirstCommit(t *testing.T) {
	r := gittest.New(t)
	r.Git("symbolic-ref", "HEAD", "refs/heads/topic/y")
	r.Write("a", "1\n")
	want := Position{Git: true, Note: "no commits yet, so every file counts as changed", Toplevel: r.Dir, GitDir: r.Path(".git"), Branch: "topic/y"}
	if diff := cmp.Diff(want, position(t, open(t, r), Scope{})); diff != "" {
		t.Error(diff)
	}
	if got := changes(t, open(t, r), Scope{}); !got.All || !cmp.Equal(got.Files, []string{"a"}) {
		t.Errorf("%+v", got)
	}
}

func TestPositionInALinkedWorktree(t *testing.T) {
	r, one, two := history(t)
	other := filepath.Join(gittest.Dir(t), "other")
	r.Git("worktree", "add", "--quiet", "-b", "side", other, one)
	w := gittest.At(t, other)
	want := Position{Git: true, Toplevel: other, GitDir: r.Path(".git/worktrees/other"), Head: one, Branch: "side", Base: "feature/x", BaseCommit: two, MergeBase: one}
	if diff := cmp.Diff(want, position(t, open(t, w), Scope{Base: "feature/x"})); diff != "" {
		t.Error(diff)
	}
	w.Write("new", "")
	if got := changes(t, open(t, w), Scope{}); !cmp.Equal(got, Set{Files: []string{"new"}}) {
		t.Errorf("%+v", got)
	}
}

func TestNoCommonCommit(t *testing.T) {
	r, _, _ := history(t)
	r.Git("checkout", "--quiet", "--orphan", "island")
	r.Commit("alone")
	set := changes(t, open(t, r), Scope{})
	want := Set{All: true, Note: "HEAD and origin/main have no commit in common (is the clone shallow?), so every file counts as changed", Files: []string{"a", "sub/b"}}
	if diff := cmp.Diff(want, set); diff != "" {
		t.Error(diff)
	}
}

func TestShallowCloneWithoutTheBase(t *testing.T) {
	r, _, _ := history(t)
	r.Git("switch", "--quiet", "main")
	r.Write("c", "")
	r.Commit("three")
	r.Git("switch", "--quiet", "feature/x")
	clone := gittest.At(t, filepath.Join(gittest.Dir(t), "clone"))
	r.Git("clone", "--quiet", "--depth=1", "--no-single-branch", "file://"+r.Dir, clone.Dir)
	set := changes(t, open(t, clone), Scope{Base: "origin/main"})
	if !set.All || set.Note == "" || !cmp.Equal(set.Files, []string{"a", "sub/b"}) {
		t.Errorf("%+v", set)
	}
	ci := changes(t, open(t, clone), Scope{Base: "gone", CI: true})
	if !ci.All || ci.Note != "base gone not found, so every file counts as changed (set base_branch)" {
		t.Errorf("%+v", ci)
	}
}

// A repository that git does not take for one is something else than none.
func TestPositionWithoutGitsHelp(t *testing.T) {
	plain := gittest.At(t, gittest.Dir(t))
	if diff := cmp.Diff(Position{Note: "no git repository, so every file counts as changed"}, position(t, open(t, plain), Scope{})); diff != "" {
		t.Error(diff)
	}
	plain.Env = []string{"PATH=" + gittest.Dir(t)}
	if diff := cmp.Diff(Position{Note: "no git repository, so every file counts as changed"}, position(t, open(t, plain), Scope{})); diff != "" {
		t.Error(diff)
	}
	broken, _, _ := history(t)
	broken.Write(".git/HEAD", "nonsense")
	if p := position(t, open(t, broken), Scope{}); p.Git || p.Note != "git failed: git rev-parse: not a git repository" {
		t.Errorf("%+v", p)
	}
	r, _, _ := history(t)
	inside := openAt(t, r, ".git")
	if p := position(t, inside, Scope{}); p.Git || p.Note != "git failed: git rev-parse: not a working tree" {
		t.Errorf("%+v", p)
	}
	r.Env = []string{"PATH=" + gittest.Dir(t)}
	if _, err := open(t, r).Position(t.Context(), Scope{}); !errors.Is(err, git.ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
	gone := Open(filepath.Join(r.Dir, "gone"), logDir, "", r.Env, later)
	if _, err := gone.Position(t.Context(), Scope{}); err == nil {
		t.Error("want an error")
	}
}

func TestReachable(t *testing.T) {
	r, one, two := history(t)
	w := open(t, r)
	for _, tt := range []struct {
		commit, tip string
		want        bool
	}{{one, "origin/main", true}, {two, "origin/main", false}, {one, two, true}} {
		if got, err := w.Reachable(t.Context(), tt.commit, tt.tip); got != tt.want || err != nil {
			t.Errorf("%s in %s: %t, %v", tt.commit, tt.tip, got, err)
		}
	}
	if _, err := w.Reachable(t.Context(), "abc123", "main"); !errors.Is(err, git.ErrNoSuchRef) {
		t.Errorf("got %v", err)
	}
}
