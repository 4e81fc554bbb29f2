package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// scene is a project with a commit, and a place for workspaces.
type scene struct {
	*testing.T
	repo *gittest.Repo
	all  *Workspaces
	task engine.WorkspaceTask
	git  []string // branches and worktrees before
}

func newScene(t *testing.T) *scene {
	t.Helper()
	environtest.Need(t, "git")
	repo := gittest.New(t)
	repo.Write("a.txt", "one\n", "sub/b.txt", "two\n", ".gitignore", "*.log\n")
	repo.Commit("first")
	return sceneIn(t, repo)
}

func sceneIn(t *testing.T, repo *gittest.Repo) *scene {
	s := &scene{T: t, repo: repo, all: New(gittest.Dir(t), repo.Env)}
	s.task = engine.WorkspaceTask{
		Dir: filepath.Join(s.all.root, "project-1"), Kind: runbook.Worktree, Project: repo.Dir, Branch: "fix/17", Base: "main",
	}
	s.git = s.state()
	return s
}

// state is what git has of branches and worktrees, and what lies beside the workspaces.
func (s *scene) state() []string {
	s.Helper()
	text := s.repo.Git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/stash") + "\n" + s.repo.Git("worktree", "list", "--porcelain")
	state := strings.Split(text, "\n")
	for _, pattern := range []string{".git/worktrees/*", ".git/*.lock", ".git/refs/heads/*.lock", ".git/refs/heads/*/*.lock"} {
		found, _ := filepath.Glob(s.repo.Path(pattern))
		state = append(state, found...)
	}
	entries, _ := disk.List(s.all.root)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".stopgate-") { // Sweep takes those
			state = append(state, e.Name())
		}
	}
	return state
}

// nothingLeft checks that everything is as it was before.
func (s *scene) nothingLeft() {
	s.Helper()
	if diff := cmp.Diff(s.git, s.state()); diff != "" {
		s.Errorf("something is left (-before +now)\n%s", diff)
	}
}

func (s *scene) make() engine.WorkspaceMade {
	s.Helper()
	made, err := s.all.Make(s.Context(), "1", s.task)
	if err != nil {
		s.Fatal(err)
	}
	return made
}

func (s *scene) remove() engine.WorkspaceRemoved {
	s.Helper()
	removed, err := s.all.Remove(s.Context(), s.task)
	if err != nil {
		s.Fatal(err)
	}
	return removed
}

// refused makes a workspace that cannot be, and checks what is said. Nothing may be left of it.
func (s *scene) refused(words ...string) {
	s.Helper()
	_, err := s.all.Make(s.Context(), "1", s.task)
	var failure *errand.Failure
	if !errors.As(err, &failure) {
		s.Fatalf("%v is not for good", err)
	}
	for _, w := range words {
		if !strings.Contains(failure.Why, w) {
			s.Errorf("%q does not say %q", failure.Why, w)
		}
	}
}

// in is git in the workspace.
func (s *scene) in() *gittest.Repo {
	r := gittest.At(s.T, s.task.Dir)
	r.Env = s.repo.Env
	return r
}

func TestAWorktreeIsMadeAndRemoved(t *testing.T) {
	s := newScene(t)
	made := s.make()
	if want := (engine.WorkspaceMade{Commit: s.repo.Git("rev-parse", "main")}); made != want {
		t.Errorf("%+v", made)
	}
	work := s.in()
	if got := work.Git("symbolic-ref", "--short", "HEAD"); got != "fix/17" {
		t.Errorf("it is on %s", got)
	}
	if got := work.Git("status", "--porcelain"); got != "" {
		t.Errorf("it is not clean:\n%s", got)
	}
	if !disk.IsRegular(work.Path("sub/b.txt")) {
		t.Error("a file is missing")
	}
	if made := s.make(); !made.Found {
		t.Error("it was made twice")
	}
	if removed := s.remove(); removed != (engine.WorkspaceRemoved{}) {
		t.Errorf("%+v", removed)
	}
	s.nothingLeft()
	if removed := s.remove(); removed != (engine.WorkspaceRemoved{}) {
		t.Errorf("again: %+v", removed)
	}
}

// The branch holds what was committed; only it stays.
func TestCommittedWorkStaysOnItsBranch(t *testing.T) {
	s := newScene(t)
	s.make()
	work := s.in()
	work.Write("new.txt", "x")
	commit := work.Commit("more")
	if removed := s.remove(); removed.Kept != "" || removed.Note != "branch fix/17 has 1 commit" {
		t.Errorf("%+v", removed)
	}
	s.git = append([]string{"refs/heads/fix/17 " + commit}, s.git...)
	s.nothingLeft()

	s.task.Again = true // the pipeline is resumed
	s.make()
	if got := work.Git("rev-parse", "HEAD"); got != commit {
		t.Errorf("it goes on at %s", got)
	}
	s.remove()
	s.nothingLeft()
}

func TestWorkThatWouldBeLostKeepsAWorktree(t *testing.T) {
	for name, test := range map[string]struct {
		work func(*gittest.Repo)
		want string
	}{
		"a changed file":  {func(r *gittest.Repo) { r.Write("a.txt", "other") }, "1 uncommitted change (a.txt)"},
		"a deleted file":  {func(r *gittest.Repo) { r.Remove("a.txt") }, "1 uncommitted change (a.txt)"},
		"a staged file":   {func(r *gittest.Repo) { r.Write("c", "x"); r.Git("add", "c"); r.Remove("c") }, "1 uncommitted change (c)"},
		"an untracked":    {func(r *gittest.Repo) { r.Write("new 1", "", "new2", "", "3", "", "4", "") }, "4 untracked files (3, 4, new 1, …)"},
		"a nested one":    {func(r *gittest.Repo) { r.Git("init", "-q", "inner") }, "1 untracked file (inner/)"},
		"a detached HEAD": {func(r *gittest.Repo) { r.Git("checkout", "-q", "--detach"); r.Write("c", "x"); r.Commit("loose") }, "1 commit on no branch"},
		"a ref of its own": {func(r *gittest.Repo) {
			r.Git("checkout", "-q", "--detach")
			r.Write("c", "x")
			r.Git("update-ref", "refs/worktree/mine", r.Commit("loose"))
			r.Git("checkout", "-q", "fix/17")
		}, "1 commit on no branch"},
		"a hidden change": {func(r *gittest.Repo) {
			r.Git("update-index", "--assume-unchanged", "a.txt")
			r.Write("a.txt", "other")
		}, "1 change that git was told not to see (a.txt)"},
		"a merge": {func(r *gittest.Repo) {
			r.Git("checkout", "-q", "-b", "other")
			r.Write("a.txt", "theirs")
			r.Commit("theirs")
			r.Git("checkout", "-q", "fix/17")
			r.Write("a.txt", "ours")
			r.Commit("ours")
			_, _ = r.Try("merge", "other")
		}, "1 uncommitted change (a.txt)"},
		"a lock": {func(r *gittest.Repo) { r.Git("worktree", "lock", "--reason", "I look at it", ".") }, "it is locked: I look at it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.make()
			test.work(s.in())
			before := gittest.State(t, s.task.Dir)
			if removed := s.remove(); removed.Kept != test.want {
				t.Errorf("want %q, got %+v", test.want, removed)
			}
			if diff := cmp.Diff(before, gittest.State(t, s.task.Dir)); diff != "" {
				t.Errorf("it was touched\n%s", diff)
			}
			if made := s.make(); !made.Found {
				t.Error("who resumes does not find it")
			}
		})
	}
}

// What git ignores, and what a stash holds, which all worktrees share, is not lost.
func TestNoWorkIsLostWithAWorktree(t *testing.T) {
	for name, work := range map[string]func(*gittest.Repo){
		"ignored":   func(r *gittest.Repo) { r.Write("x.log", "x") },
		"touched":   func(r *gittest.Repo) { r.Write("a.txt", "one\n") },
		"read-only": func(r *gittest.Repo) { r.Write("cache.log/x", ""); _ = os.Chmod(r.Path("cache.log"), 0o500) },
		"a lock of git": func(r *gittest.Repo) {
			gitDir := r.Git("rev-parse", "--absolute-git-dir")
			if err := os.WriteFile(filepath.Join(gitDir, "index.lock"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		},
		"another branch": func(r *gittest.Repo) {
			r.Git("checkout", "-q", "main~0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.make()
			work(s.in())
			if removed := s.remove(); removed.Kept != "" {
				t.Errorf("%+v", removed)
			}
			s.nothingLeft()
		})
	}
	t.Run("stash", func(t *testing.T) {
		s := newScene(t)
		s.make()
		work := s.in()
		work.Write("a.txt", "other")
		work.Git("stash", "--quiet")
		if removed := s.remove(); removed.Kept != "" {
			t.Errorf("%+v", removed)
		}
		if s.repo.Git("stash", "list") == "" {
			t.Error("the stash is gone")
		}
	})
}

func TestAWorktreeThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*scene)
		words  []string
	}{
		"the branch exists": {
			func(s *scene) { s.repo.Git("branch", "fix/17") },
			[]string{"branch fix/17 already exists", "git branch -d", "fix/17-${pipeline_id}"},
		},
		"it is checked out": {
			func(s *scene) { s.repo.Git("checkout", "-q", "-b", "fix/17") },
			[]string{"branch fix/17 is checked out in ", "choose a name"},
		},
		"a branch is in the way": {
			func(s *scene) { s.repo.Git("branch", "fix") },
			[]string{`create branch "fix/17"`, "'refs/heads/fix' exists"},
		},
		"no such base":   {func(s *scene) { s.task.Base = "develop" }, []string{"the base develop does not exist", "fetch it"}},
		"an odd base":    {func(s *scene) { s.task.Base = "--output=x" }, []string{"the base --output=x does not exist"}},
		"an odd name":    {func(s *scene) { s.task.Branch = "fix/my issue: 3" }, []string{"fix/my issue: 3 is not a valid branch name"}},
		"an option":      {func(s *scene) { s.task.Branch = "--force" }, []string{"--force is not a valid branch name"}},
		"an escape":      {func(s *scene) { s.task.Branch = "a\x1b[1m" }, []string{`"a\x1b[1m" is not a valid branch name`}},
		"no directory":   {func(s *scene) { s.task.Within = "elsewhere" }, []string{`"main" has no directory "elsewhere"`}},
		"no repository":  {func(s *scene) { s.task.Project = s.TempDir() }, []string{"is not in a git repository", `folder = "copy"`}},
		"something else": {func(s *scene) { s.task.Dir = filepath.Join(s.all.root, "..", "x") }, []string{"is not a directory for workspaces"}},
		"an odd place":   {func(s *scene) { s.task.Dir = filepath.Join(s.all.root, ".x") }, []string{"is not a directory for workspaces"}},
		"the path exists": {
			func(s *scene) { _ = os.MkdirAll(s.task.Dir, 0o755) },
			[]string{"exists and was not made by stopgate: remove it"},
		},
		"a branch of ours is elsewhere": {
			func(s *scene) { s.task.Again = true; s.repo.Git("checkout", "-q", "-b", "fix/17") },
			[]string{"branch fix/17 of the workspace is checked out in ", "switch to another branch there"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			test.change(s)
			s.git = s.state()
			s.refused(test.words...)
			s.nothingLeft()
		})
	}
}

func TestARepositoryWithoutACommit(t *testing.T) {
	s := sceneIn(t, gittest.New(t))
	for _, base := range []string{"main", ""} {
		s.task.Base = base
		s.refused("no commit on main yet: commit something first")
	}
}

func TestGitIsMissing(t *testing.T) {
	s := newScene(t)
	s.all = New(filepath.Dir(s.all.root), []string{"PATH=" + t.TempDir()})
	s.refused("git was not found")
}

// Of two that want the same branch the second is told who has it.
func TestTwoWantTheSameBranch(t *testing.T) {
	s := newScene(t)
	s.make()
	before := s.state()
	first := s.task.Dir
	s.task.Dir += "2"
	s.refused("branch fix/17 is used by another pipeline or agent run (1) in "+first, "choose a name")
	if diff := cmp.Diff(before, s.state()); diff != "" {
		t.Error(diff)
	}
}

// Many at once, in one repository: git fails where it meets a worktree that is not whole.
func TestManyAtOnce(t *testing.T) {
	s := newScene(t)
	var all sync.WaitGroup
	for n := range 12 {
		all.Go(func() {
			task := s.task
			task.Dir, task.Branch = fmt.Sprint(s.task.Dir, "-", n), fmt.Sprint("many/", n)
			for range 3 {
				if _, err := s.all.Make(t.Context(), "1", task); err != nil {
					t.Error(err)
				}
				if removed, err := s.all.Remove(t.Context(), task); err != nil || removed.Kept != "" {
					t.Errorf("%+v, %v", removed, err)
				}
			}
		})
	}
	all.Wait()
	s.nothingLeft()
}

func TestBases(t *testing.T) {
	s := newScene(t)
	first := s.repo.Git("rev-parse", "HEAD")
	s.repo.Write("a.txt", "second\n")
	second := s.repo.Commit("second")
	s.repo.Git("update-ref", "refs/remotes/origin/next", first)
	s.repo.Git("tag", "main", first) // a branch comes before a tag
	s.repo.Git("checkout", "-q", "--detach")
	for base, want := range map[string]string{"main": second, first: first, "next": first, "": second, first[:8]: first} {
		s.task.Base = base
		s.make()
		if got := s.in().Git("rev-parse", "HEAD"); got != want {
			t.Errorf("base %q: %s", base, got)
		}
		s.remove()
	}
}

func TestWhatTheWorktreeHasNot(t *testing.T) {
	s := newScene(t)
	s.repo.Write("a.txt", "changed", "new", "x")
	if made := s.make(); made.Note != "2 uncommitted changes in "+s.repo.Dir+" not in it" {
		t.Errorf("%+v", made)
	}
	if got := s.in().Git("status", "--porcelain"); got != "" {
		t.Error(got)
	}
}

func TestShallowAndSparseClones(t *testing.T) {
	s := newScene(t)
	s.repo.Write("a.txt", "2")
	s.repo.Commit("second")

	t.Run("shallow", func(t *testing.T) {
		clone := gittest.At(t, filepath.Join(gittest.Dir(t), "clone"))
		s.repo.Git("clone", "-q", "--depth=1", "file://"+s.repo.Dir, clone.Dir)
		s := sceneIn(t, clone)
		s.make()
		s.remove()
		s.nothingLeft()
	})
	t.Run("sparse", func(t *testing.T) {
		clone := gittest.At(t, filepath.Join(gittest.Dir(t), "clone"))
		s.repo.Git("clone", "-q", "--sparse", s.repo.Dir, clone.Dir)
		s := sceneIn(t, clone)
		s.make()
		if disk.Exists(filepath.Join(s.task.Dir, "sub", "b.txt")) {
			t.Error("it has what the project leaves out")
		}
		if removed := s.remove(); removed.Kept != "" {
			t.Errorf("%+v", removed)
		}
		s.nothingLeft()
	})
}

func TestSubmodules(t *testing.T) {
	inner, s := newScene(t).repo, newScene(t)
	s.repo.Git("submodule", "--quiet", "add", inner.Dir, "lib")
	s.repo.Commit("with a submodule")
	s.git = s.state()
	if made := s.make(); !strings.Contains(made.Note, "git submodule update --init") {
		t.Errorf("%+v", made)
	}
	s.remove()
	s.nothingLeft()

	s.make()
	s.in().Git("submodule", "--quiet", "update", "--init")
	if removed := s.remove(); removed.Kept != "" {
		t.Errorf("nothing was done in it: %+v", removed)
	}
	s.nothingLeft()

	s.make()
	work := s.in()
	work.Git("submodule", "--quiet", "update", "--init")
	lib := gittest.At(t, work.Path("lib"))
	lib.Env = s.repo.Env
	lib.Write("more", "x")
	lib.Commit("more")
	work.Commit("the submodule moves on")
	if removed := s.remove(); removed.Kept != "submodule lib has 1 commit that no remote has" {
		t.Errorf("%+v", removed)
	}
}

// A project below the top of its repository is at the same place in the worktree.
func TestAProjectBelowTheTop(t *testing.T) {
	s := newScene(t)
	s.task.Project, s.task.Within = s.repo.Path("sub"), "sub"
	s.make()
	if !disk.IsRegular(filepath.Join(s.task.Dir, "sub", "b.txt")) {
		t.Error("it is not there")
	}
	s.remove()
	s.nothingLeft()
}

// Nothing that comes with a repository runs when a worktree is made.
func TestNoHookRuns(t *testing.T) {
	s := newScene(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		s.repo.Write(".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >>"+ran+"\n")
		if err := os.Chmod(s.repo.Path(".git/hooks/"+hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.make()
	s.remove()
	if said, err := os.ReadFile(ran); err == nil {
		t.Errorf("%s", said)
	}
}

// What a killed process left of making one is made anew; of removing one, removed.
func TestWhatAKilledProcessLeaves(t *testing.T) {
	for name, leave := range map[string]func(*scene, record){
		"a record alone": func(s *scene, r record) {},
		"a branch":       func(s *scene, r record) { s.repo.Git("branch", r.Branch, r.Commit) },
		"an empty worktree": func(s *scene, r record) {
			s.repo.Git("worktree", "add", "-q", "--no-checkout", "-b", r.Branch, r.Dir)
		},
		"half a worktree": func(s *scene, r record) {
			s.repo.Git("worktree", "add", "-q", "-b", r.Branch, r.Dir)
			s.repo.Git("worktree", "lock", "--reason", "initializing", r.Dir)
			_ = os.Remove(filepath.Join(r.Dir, "a.txt"))
			_ = os.WriteFile(s.repo.Path(".git/worktrees/project-1/index.lock"), nil, 0o644)
		},
		"a worktree that git does not list": func(s *scene, r record) {
			s.repo.Git("worktree", "add", "-q", "-b", r.Branch, r.Dir)
			_ = os.Remove(s.repo.Path(".git/worktrees/project-1/gitdir"))
		},
		"a directory": func(s *scene, r record) { _ = os.MkdirAll(filepath.Join(r.Dir, "sub"), 0o755) },
		"no directory": func(s *scene, r record) {
			s.repo.Git("worktree", "add", "-q", "-b", r.Branch, r.Dir)
			_ = os.RemoveAll(r.Dir)
		},
	} {
		for _, how := range []state{making, removing} {
			t.Run(name+", "+string(how), func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				r := record{
					Owner: "1", Dir: s.task.Dir, Kind: runbook.Worktree, Project: s.repo.Dir, State: how,
					Repo: s.repo.Dir, Branch: s.task.Branch, Branched: true, Commit: s.repo.Git("rev-parse", "main"),
				}
				if err := s.all.write(r); err != nil {
					t.Fatal(err)
				}
				leave(s, r)
				if how == making {
					if made := s.make(); made.Found {
						t.Error("it takes what is half made")
					}
					if got := s.in().Git("status", "--porcelain"); got != "" {
						t.Errorf("it is not clean:\n%s", got)
					}
				}
				if removed := s.remove(); removed.Kept != "" {
					t.Errorf("%+v", removed)
				}
				s.nothingLeft()
			})
		}
	}
}

// A removal that was cut off in the middle goes on: what is missing then is not an uncommitted change.
func TestARemovalThatIsCutOff(t *testing.T) {
	s := newScene(t)
	s.make()
	s.all.erase = func(dir string) error {
		return errors.Join(os.Remove(filepath.Join(dir, "a.txt")), errors.New("permission denied"))
	}
	_, err := s.all.Remove(t.Context(), s.task)
	if want := "permission denied; remove it with: rm -r " + s.task.Dir; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	s.all.erase = removeAll
	if removed := s.remove(); removed.Kept != "" {
		t.Errorf("%+v", removed)
	}
	s.nothingLeft()
}

// wrapGit has the workspaces call a git that runs some lines before it lists worktrees. %[1]s in them is the directory that
// it lies in.
func (s *scene) wrapGit(lines string) (dir string) {
	s.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		s.Fatal(err)
	}
	dir = s.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *worktree*list*)\n"+lines+"\n;; esac\nexec %[2]s \"$@\"\n", dir, git)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		s.Fatal(err)
	}
	s.all.environ = append(s.all.environ, "PATH="+dir+":"+os.Getenv("PATH"))
	return dir
}

// Without a list of the worktrees it is unknown whether a person has locked one: it stays.
func TestAWorktreeThatIsNotListedStays(t *testing.T) {
	s := newScene(t)
	s.make()
	s.wrapGit("echo 'fatal: it is broken' >&2; exit 128 # %[1]s")
	if removed := s.remove(); !strings.Contains(removed.Kept, "it is unknown whether work would be lost") || !strings.Contains(removed.Kept, "it is broken") {
		t.Errorf("%+v", removed)
	}
}

// Git lists no worktree while another process removes one. That says nothing of this one: whether a person has locked
// it is asked again.
func TestAnotherProcessRemovesAWorktree(t *testing.T) {
	for _, missing := range []string{".git/worktrees", ".git/worktrees/other"} {
		s := newScene(t)
		s.make()
		dir := s.wrapGit(`if ! test -e %[1]s/once; then
	: > %[1]s/once
	echo "fatal: Invalid path '` + s.repo.Path(missing) + `': No such file or directory" >&2
	exit 128
fi`)
		s.repo.Git("worktree", "lock", "--reason", "mine", s.task.Dir)
		if removed := s.remove(); removed.Kept != "it is locked: mine" {
			t.Errorf("%s: %+v", missing, removed)
		}
		s.repo.Git("worktree", "unlock", s.task.Dir)
		if err := os.Remove(filepath.Join(dir, "once")); err != nil {
			t.Fatal(err)
		}
		if removed := s.remove(); removed.Kept != "" {
			t.Errorf("%s: %+v", missing, removed)
		}
		s.nothingLeft()
	}
}

// What ends while it is made leaves no more than Remove finds.
func TestMakingIsCancelled(t *testing.T) {
	s := newScene(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := s.all.Make(ctx, "1", s.task); err == nil || err.Error() != "enough" {
		t.Errorf("%v", err)
	}
	s.remove()
	s.nothingLeft()
}

// A person removes what was kept, as git has it done: nothing else is left.
func TestAPersonRemovesAWorktree(t *testing.T) {
	s := newScene(t)
	s.make()
	s.repo.Git("worktree", "remove", s.task.Dir)
	half := filepath.Join(s.all.root, ".stopgate-1")
	if err := errors.Join(os.WriteFile(half, nil, 0o600), os.Chtimes(half, time.Time{}, time.Now().Add(-2*time.Hour))); err != nil {
		t.Fatal(err)
	}
	if err := s.all.Sweep(t.Context(), time.Now(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(s.git, s.state()) {
		t.Fatal("an owner that runs needs it")
	}
	if err := s.all.Sweep(t.Context(), time.Now(), func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	s.nothingLeft()
	if disk.Exists(half) {
		t.Error("what a killed daemon was about to write is still there")
	}
}

// A checkout that fails, as it does when the disk is full, leaves nothing behind.
func TestACheckoutThatFails(t *testing.T) {
	s := newScene(t)
	s.repo.Write(".gitattributes", "a.txt filter=broken\n")
	s.repo.Commit("filtered")
	s.repo.Git("config", "filter.broken.smudge", "echo No space left on device >&2; false")
	s.repo.Git("config", "filter.broken.required", "true")
	s.git = s.state()
	s.refused(`check out "fix/17"`, "No space left on device")
	s.nothingLeft()
}

// What does not come to an end in time fails, and leaves nothing behind; what cannot be looked at stays.
func TestWhatTakesTooLong(t *testing.T) {
	s := newScene(t)
	s.repo.Write(".gitattributes", "a.txt filter=slow\n")
	s.repo.Commit("filtered")
	s.repo.Git("config", "filter.slow.smudge", "sleep 1000")
	s.git = s.state()
	s.all.limit = 3 * time.Second
	s.refused("it took longer than 3s")
	s.nothingLeft()

	s.repo.Git("config", "filter.slow.smudge", "cat")
	s.all.limit = longest
	s.make()
	s.all.limit = time.Nanosecond
	if removed := s.remove(); removed.Kept != "it is unknown whether work would be lost: it took longer than 1ns" {
		t.Errorf("%+v", removed)
	}
}

// A repository that is gone takes its worktrees with it.
func TestTheRepositoryIsGone(t *testing.T) {
	s := newScene(t)
	s.make()
	s.repo.Remove(".git")
	if removed := s.remove(); !strings.Contains(removed.Kept, "no longer a git worktree") {
		t.Errorf("%+v", removed)
	}
}
