package git

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

func at(r *gittest.Repo) Repo { return At(r.Dir, r.Env) }

func TestErrorsSayWhatIsWrong(t *testing.T) {
	environtest.Need(t, "git")
	plain := At(gittest.Dir(t), gittest.Environ(t))
	if _, err := plain.Files(t.Context()); !errors.Is(err, ErrNotRepository) {
		t.Errorf("no repository: %v", err)
	}
	if _, err := plain.Locate(t.Context(), "", "HEAD"); !errors.Is(err, ErrNotRepository) {
		t.Errorf("no repository: %v", err)
	}
	nowhere := At(gittest.Dir(t), []string{"PATH=" + gittest.Dir(t)})
	if _, err := nowhere.Files(t.Context()); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("no git: %v", err)
	}
	gone := At(filepath.Join(gittest.Dir(t), "gone"), gittest.Environ(t))
	if _, err := gone.Files(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	repo := gittest.New(t)
	repo.Write(".git/index", "damaged")
	_, err := at(repo).Files(t.Context())
	want := &Error{Command: "ls-files", Code: 128, Message: err.(*Error).Message}
	if diff := cmp.Diff(want, err); diff != "" || !strings.Contains(want.Message, "index") {
		t.Errorf("a damaged index: %v", err)
	}
	if got := (&Error{Command: "status", Code: 3}).Error(); got != "git status: exit 3" {
		t.Errorf("git that says nothing: %q", got)
	}
}

// Refs come from flags, variables and files: whatever they contain, they are
// names that may not exist.
func TestRefsAreData(t *testing.T) {
	repo := gittest.New(t)
	repo.Commit("one")
	repo.Git("branch", "feature/ü;x")
	repo.Git("tag", "--annotate", "--message=t", "v1")
	made := filepath.Join(gittest.Dir(t), "made")
	for _, ref := range []string{
		"--output=" + made, "main; touch " + made, "$(touch " + made + ")", "`touch " + made + "`", "main\ntouch " + made,
		"-", "--", "--all", "-q", "--git-dir", "--end-of-options", "^main", "main^{tree}", "main..main", "main...main", ":/one", "main:", "main:a",
		"", " ", "main ", "ma*n", "[m]ain", "m?in", "main\\", "main\x00", "nope", "refs/heads/nope", "HEAD~99", "main@{99}", "main@{upstream}",
		strings.Repeat("0", 40), strings.Repeat("f", 40), strings.Repeat("x", 5000),
	} {
		if id, _, err := at(repo).Commit(t.Context(), ref); !errors.Is(err, ErrNoSuchRef) {
			t.Errorf("Commit(%q): %q, %v", ref, id, err)
		}
		if ok, err := at(repo).Reachable(t.Context(), ref, "main"); ok || !errors.Is(err, ErrNoSuchRef) {
			t.Errorf("Reachable(%q, main): %t, %v", ref, ok, err)
		}
		if ok, err := at(repo).Reachable(t.Context(), "main", ref); ok || !errors.Is(err, ErrNoSuchRef) {
			t.Errorf("Reachable(main, %q): %t, %v", ref, ok, err)
		}
		if location, err := at(repo).Locate(t.Context(), ref, "HEAD"); ref != "" && (err != nil || location.Complete || location.Head == "") {
			t.Errorf("Locate(%q): %+v, %v", ref, location, err)
		}
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("a ref was executed")
	}
	head := repo.Git("rev-parse", "HEAD")
	for _, ref := range []string{"main", "HEAD", "@", "v1", "feature/ü;x", "heads/main", head, head[:10], "v1^{commit}", "main@{0}"} {
		if id, parent, err := at(repo).Commit(t.Context(), ref); id != head || parent != "" || err != nil {
			t.Errorf("Commit(%q): %q, %q, %v", ref, id, parent, err)
		}
		if location, err := at(repo).Locate(t.Context(), ref, "HEAD"); location.Merge != head || err != nil {
			t.Errorf("Locate(%q): %+v, %v", ref, location, err)
		}
	}
}

func TestAFileNamedLikeARefIsNone(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("origin/main...HEAD", "", "nope...HEAD", "", "HEAD", "")
	if location, err := at(repo).Locate(t.Context(), "nope", "HEAD"); err != nil || location.Head != "" || location.Complete {
		t.Errorf("before the first commit: %+v, %v", location, err)
	}
	repo.Commit("one")
	if location, err := at(repo).Locate(t.Context(), "nope", "HEAD"); err != nil || location.Complete {
		t.Errorf("%+v, %v", location, err)
	}
}

func TestReachable(t *testing.T) {
	repo := gittest.New(t)
	one, two := repo.Commit("one"), repo.Commit("two")
	if ok, err := at(repo).Reachable(t.Context(), one, two); !ok || err != nil {
		t.Errorf("parent from child: %t, %v", ok, err)
	}
	if ok, err := at(repo).Reachable(t.Context(), two, one); ok || err != nil {
		t.Errorf("child from parent: %t, %v", ok, err)
	}
	if id, parent, err := at(repo).Commit(t.Context(), two); id != two || parent != one || err != nil {
		t.Errorf("got %q, %q, %v", id, parent, err)
	}
}

func TestEnvironment(t *testing.T) {
	repo := gittest.New(t)
	dropped := strings.Fields(repo.Git("rev-parse", "--local-env-vars"))
	dropped = append(
		dropped, "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
		"GIT_TRACE", "GIT_TRACE2_EVENT", "GIT_NAMESPACE", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_REDIRECT_STDOUT",
	)
	environ := []string{"PATH=/p", "HOME=/h", "LC_ALL=de_DE.UTF-8", "GIT_OPTIONAL_LOCKS=1", "GIT_PAGER=less", "GIT_CONFIG_GLOBAL=/g", "NOGIT_X=1"}
	for _, name := range dropped {
		environ = append(environ, name+"=x")
	}
	want := []string{
		"PATH=/p", "HOME=/h", "LC_ALL=de_DE.UTF-8", "GIT_CONFIG_GLOBAL=/g", "NOGIT_X=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "LC_ALL=C", // the last value holds
	}
	if diff := cmp.Diff(want, clean(environ)); diff != "" {
		t.Error(diff)
	}
}

// What git gets of the environment decides what we see, so no project may set it.
func TestKeptVariablesAreNoProjects(t *testing.T) {
	for _, name := range kept {
		if !environ.Own(name) {
			t.Errorf("a project's settings may set %s", name)
		}
	}
}

// Within a git hook these variables point to the repository whose hook it is.
func TestAnotherRepositoryInTheEnvironment(t *testing.T) {
	other, repo := gittest.New(t), gittest.New(t)
	other.Write("theirs", "")
	other.Commit("theirs")
	repo.Write("ours", "")
	env := append(repo.Env, "GIT_DIR="+other.Path(".git"), "GIT_WORK_TREE="+other.Dir, "GIT_INDEX_FILE="+other.Path(".git/index"))
	list, err := At(repo.Dir, env).Files(t.Context())
	if diff := cmp.Diff(Listing{Tracked: []string{}, Untracked: []string{"ours"}}, list); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestRelativePathEntriesAreNotSearched(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("bin/git", "#!/bin/sh\ntouch "+repo.Path("ran")+"\n")
	check(t, os.Chmod(repo.Path("bin/git"), 0o755))
	t.Chdir(repo.Dir)
	real := "PATH=" + os.Getenv("PATH")
	for _, path := range []string{"bin", "", "./bin"} {
		list := string(filepath.ListSeparator)
		if _, err := At(repo.Dir, []string{"PATH=" + path + list}).Files(t.Context()); !errors.Is(err, ErrNotInstalled) {
			t.Errorf("PATH=%q: %v", path, err)
		}
		if _, err := At(repo.Dir, []string{real, "PATH=" + path + list + os.Getenv("PATH"), "HOME=" + repo.Dir}).Files(t.Context()); err != nil {
			t.Errorf("PATH=%q:…: %v", path, err)
		}
	}
	if _, err := os.Stat(repo.Path("ran")); err == nil {
		t.Error("the project's own git ran")
	}
}

// everyCall makes every call that there is.
func everyCall(t *testing.T, r Repo) {
	t.Helper()
	location, err := r.Locate(t.Context(), "main", "HEAD")
	try := func(what string, err error) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	try("locate", err)
	_, err = r.Files(t.Context())
	try("files", err)
	_, err = r.Status(t.Context())
	try("status", err)
	_, err = r.Blobs(t.Context())
	try("blobs", err)
	_, err = r.Sparse(t.Context())
	try("sparse", err)
	_, err = r.Changed(t.Context(), EmptyTree(location.Head), location.Head)
	try("changed", err)
	_, _, err = r.Commit(t.Context(), "main")
	try("commit", err)
	_, err = r.Reachable(t.Context(), "main", "HEAD")
	try("reachable", err)
	_, err = r.UnbornBranch(t.Context())
	try("branch", err)
	listed, err := r.Listed(t.Context(), location.Head)
	try("listed", err)
	for name, blob := range listed {
		_, err = r.Listed(t.Context(), location.Head, name)
		try("listed by name", err)
		try("content", r.Contents(t.Context(), []Stored{{blob, name}}, 1<<20, func(int, []byte) {}))
	}
	_, err = r.Outside(t.Context(), []string{location.Head}, location.Head)
	try("outside", err)
	made, err := r.Parents(t.Context(), []string{location.Head})
	try("parents", err)
	_, err = r.Touched(t.Context(), []string{location.Head})
	try("touched", err)
	try("diff of each", r.DiffEach(t.Context(), io.Discard, made))
	_, err = r.Hash(t.Context(), nil)
	try("hash", err)
	_, err = r.HashRaw(t.Context(), nil)
	try("hash as it is", err)
	_, err = r.Conversion(t.Context(), true)
	try("conversion", err)
	_, err = r.Conversion(t.Context(), false)
	try("conversion of the user", err)
	aside, err := r.Aside(t.TempDir(), Conversion{}, location.Head)
	try("aside", err)
	if err == nil {
		defer aside.Close()
		for name, blob := range listed {
			try("content aside", aside.Contents(t.Context(), location.Head, []Stored{{blob, name}}, 1<<20, func(int, []byte) {}))
		}
	}
	_, err = r.Beyond(t.Context(), location.Head, []string{location.Head}, true, 10)
	try("beyond", err)
	_, err = r.Authored(t.Context(), []string{location.Head})
	try("authored", err)
	_, err = r.Differs(t.Context(), location.Head)
	try("differs", err)
	try("diff to the work tree", r.Diff(t.Context(), io.Discard, location.Head, ""))
	try("diff of two trees", r.Diff(t.Context(), io.Discard, EmptyTree(location.Head), location.Head))
}
