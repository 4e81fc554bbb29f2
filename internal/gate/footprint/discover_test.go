package footprint

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestE5WorktreesAreListedOnce(t *testing.T) {
	r := gittest.New(t)
	r.Write("packages/app/f", "", "packages/lib/f", "")
	r.Commit("first")
	above := gittest.Dir(t)
	add := func(name string) string {
		dir := filepath.Join(above, name)
		r.Git("worktree", "add", "-q", "-b", name, dir)
		return dir
	}
	old := add("old")
	past := time.Now().Add(-time.Hour)
	check(t, os.Chtimes(r.Path(".git/worktrees/old/gitdir"), past, past))
	known, fresh, relative := add("known"), add("fresh"), add("relative")
	gitDir := r.Path(".git/worktrees/relative")
	way, err := filepath.Rel(gitDir, filepath.Join(relative, ".git"))
	check(t, err)
	// As git writes it with worktree.useRelativePaths, since 2.48.
	check(t, os.WriteFile(filepath.Join(gitDir, "gitdir"), []byte(way+"\n"), 0o600))

	app := filepath.Join("packages", "app")
	roots := []string{r.Path("packages/app"), filepath.Join(known, app), filepath.Join(old, app), gittest.Dir(t)}
	want := []Candidate{{filepath.Join(fresh, app), "fresh", fresh}, {filepath.Join(relative, app), "relative", relative}}
	if got := Worktrees(roots, past.Add(time.Minute)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	lib := filepath.Join("packages", "lib")
	want = append(want, Candidate{filepath.Join(fresh, lib), "fresh", fresh}, Candidate{filepath.Join(known, lib), "known", known}, Candidate{filepath.Join(relative, lib), "relative", relative})
	if got := Worktrees(append(roots, r.Path("packages/lib")), past.Add(time.Minute)); !slices.Equal(got, want) {
		t.Errorf("with another project: got %v, want %v", got, want)
	}
	// One that is as old as the session may have been made by it.
	if got := Worktrees(roots[:1], past); len(got) != 4 {
		t.Errorf("from that moment on: %v", got)
	}
}

// A red tree is nowhere whose repository is a link now, and another project of its worktree is another tree.
func TestARedTreeIsNotWhatTookItsPlace(t *testing.T) {
	root, common := t.TempDir(), filepath.Join(gittest.Dir(t), "common")
	check(t, os.Mkdir(common, 0o700))
	apart := Tree{Red: true, Common: common}
	if now := apart.Now(root, nil); now != root {
		t.Errorf("at first: %q", now)
	}
	check(t, os.Rename(common, common+"2"))
	check(t, os.Symlink(common+"2", common))
	if now := apart.Now(root, nil); now != "" {
		t.Errorf("its repository is a link: %q", now)
	}

	r := gittest.New(t)
	r.Write("app/f", "", "lib/f", "")
	r.Commit("first")
	dir := filepath.Join(gittest.Dir(t), "wt")
	r.Git("worktree", "add", "-q", dir)
	app, lib := filepath.Join(dir, "app"), filepath.Join(dir, "lib")
	tree := Tree{Red: true}
	tree.Stand(app)
	check(t, os.Rename(app, app+"2"))
	if now := tree.Now(app, []string{lib}); now != "" {
		t.Errorf("another project of the worktree: %q", now)
	}
}

// A tree that is found again is still red, and counts from what the session found where it is now.
func TestAMovedTreeKeepsTheBaselineOfItsPlace(t *testing.T) {
	for found, want := range map[Tree]Tree{
		{}:                                  {Red: true, Baseline: "left", Since: "pass"},
		{Baseline: "found", Since: "start"}: {Red: true, Baseline: "found", Since: "start"},
	} {
		s := Session{Trees: map[string]Tree{"from": {Red: true, Baseline: "left", Since: "pass"}, "to": found}}
		s.FollowMoved("from", "to")
		s.FollowMoved("from", "to") // another hook has seen it, too
		if _, left := s.Trees["from"]; left || s.Trees["to"] != want {
			t.Errorf("%+v", s.Trees)
		}
	}
}

// A bare repository is no worktree, wherever it lies, and the main one is as old as the repository.
func TestE5WhereARepositoryLiesIsNoWorktree(t *testing.T) {
	r := gittest.New(t)
	r.Write("f", "")
	r.Commit("first")
	dir := filepath.Join(gittest.Dir(t), "wt")
	r.Git("worktree", "add", "-q", dir)
	if got := Worktrees([]string{dir}, time.Now().Add(-time.Hour)); len(got) > 0 {
		t.Errorf("newer than the session: %v", got)
	}
	if got := Worktrees([]string{dir}, time.Time{}); len(got) != 1 || got[0].Root != r.Dir {
		t.Errorf("of any age: %v", got)
	}
	bare := filepath.Join(gittest.Dir(t), "bare.git")
	r.Git("clone", "-q", "--bare", r.Dir, bare)
	dir = filepath.Join(gittest.Dir(t), "wt2")
	r.Git("--git-dir="+bare, "worktree", "add", "-q", dir)
	if got := Worktrees([]string{dir}, time.Time{}); len(got) > 0 {
		t.Errorf("of a bare repository: %v", got)
	}
}

// A tree in whose place there is a link is not where it was, and one whose repository is gone was not removed by git.
func TestARedTreeIsNoLink(t *testing.T) {
	root := gittest.Dir(t)
	tree := Tree{Red: true}
	tree.Stand(root)
	check(t, os.Rename(root, root+"2"))
	check(t, os.Symlink(root+"2", root))
	if now := tree.Now(root, nil); now != "" {
		t.Errorf("a link: %q", now)
	}

	r := gittest.New(t)
	r.Write("f", "")
	r.Commit("first")
	dir := filepath.Join(gittest.Dir(t), "wt")
	r.Git("worktree", "add", "-q", dir)
	tree.Stand(dir)
	check(t, os.RemoveAll(dir))
	check(t, os.Rename(r.Dir, r.Dir+"2"))
	if tree.Removed(dir) {
		t.Error("its repository was moved")
	}
	if tree.Stand(t.TempDir()); tree != (Tree{Red: true}) {
		t.Errorf("in no repository: %+v", tree)
	}
}

// A tree whose git directory is not known is nowhere, whatever lies in the process's own.
func TestMovedOfATreeWithoutAGitDir(t *testing.T) {
	t.Chdir(t.TempDir())
	check(t, os.WriteFile("gitdir", []byte("/elsewhere/.git\n"), 0o600))
	if got := (Tree{Red: true}).moved(); got != "" {
		t.Errorf("got %s", got)
	}
}

// What an older stopgate remembered of a worktree does not say when git made it.
func TestAReplacedWorktreeByItsBirth(t *testing.T) {
	r := gittest.New(t)
	r.Write("f", "")
	r.Commit("first")
	dir := filepath.Join(gittest.Dir(t), "wt")
	r.Git("worktree", "add", "-q", "-b", "wt", dir)
	tree := Tree{Red: true}
	tree.Stand(dir)
	older := tree
	older.Born = 0
	if tree.Now(dir, nil) != dir || tree.Removed(dir) {
		t.Errorf("at first: %q, %t", tree.Now(dir, nil), tree.Removed(dir))
	}
	r.Git("worktree", "remove", dir)
	elsewhere := filepath.Join(gittest.Dir(t), "wt")
	r.Git("worktree", "add", "-q", elsewhere, "wt") // git calls it wt again
	if now := tree.Now(dir, []string{elsewhere}); now != "" || !tree.Removed(dir) {
		t.Errorf("removed: %q, %t", now, tree.Removed(dir))
	}
	r.Git("worktree", "remove", elsewhere)
	r.Git("worktree", "add", "-q", dir, "wt")
	if now := tree.Now(dir, nil); now != "" || !tree.Removed(dir) {
		t.Errorf("replaced: %q, %t", now, tree.Removed(dir))
	}
	if older.Now(dir, nil) != dir || older.Removed(dir) {
		t.Errorf("of an older stopgate: %q, %t", older.Now(dir, nil), older.Removed(dir))
	}
}

func TestDropGoneForgetsWhatIsNotThere(t *testing.T) {
	here := t.TempDir()
	gone := filepath.Join(here, "gone")
	red := filepath.Join(here, "red")
	s := Session{Trees: map[string]Tree{here: {Baseline: "a"}, gone: {Baseline: "b"}, red: {Red: true}}}
	s.DropGone()
	if _, there := s.Trees[gone]; there || len(s.Trees) != 2 {
		t.Errorf("left are %v", s.Trees)
	}
	(&Session{}).DropGone()
}

// A move writes in two folders, which may be of two projects.
func TestIssue19EveryFolderThatAToolWritesIn(t *testing.T) {
	cwd := t.TempDir()
	use := hook.ToolUse{ToolName: "mcp__fs__move_file", ToolInput: []byte(`{"source":"a/x","destination":"b/x"}`)}
	if got, want := Edited(use, cwd), []string{filepath.Join(cwd, "a"), filepath.Join(cwd, "b")}; !slices.Equal(got, want) {
		t.Errorf("moved: %q, want %q", got, want)
	}
	use.ToolName = "Read"
	if got := Edited(use, cwd); got != nil {
		t.Errorf("read: %q", got)
	}
}
