//go:build unix

package protect

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// newFiles is a project in which new files count, in a session that has begun.
func newFiles(t *testing.T) (*gittest.Repo, Place) {
	t.Helper()
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	p.Project.Config.Protect.New = true
	check(t, p.Begin(t.Context()))
	return r, p
}

// Of a new file nothing was taken away, whatever it skips.
func TestE20ANewFileWeakensNothing(t *testing.T) {
	r, p := newFiles(t)
	r.Write("b_test.go", "func TestB(t *testing.T) {\n\tt.Skip()\n}\n")
	want(t, p, "b_test.go added")
}

// To git a repository inside another one is one name, whether it is added or not.
func TestE20NewFilesInARepositoryInside(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, r, inner *gittest.Repo){
		"as it is":  func(t *testing.T, _, _ *gittest.Repo) {},
		"committed": func(t *testing.T, _, inner *gittest.Repo) { inner.Commit("x") },
		"added":     func(t *testing.T, r, inner *gittest.Repo) { inner.Commit("x"); r.Git("add", "in") },
		"and not within": func(t *testing.T, r, inner *gittest.Repo) {
			inner.Write("src.go", "1\n")
			inner.Git("add", "src.go")
			inner.Git("commit", "-q", "-m", "x")
			r.Git("add", "in")
		},
		"without its .git": func(t *testing.T, r, inner *gittest.Repo) {
			inner.Commit("x")
			r.Git("add", "in")
			check(t, os.RemoveAll(inner.Path(".git")))
		},
		"with a broken index": func(t *testing.T, r, inner *gittest.Repo) {
			inner.Commit("x")
			r.Git("add", "in")
			inner.Write(".git/index", "")
		},
		"that seems to be ours": func(t *testing.T, _, inner *gittest.Repo) {
			check(t, os.RemoveAll(inner.Path(".git")))
			inner.Write(".git", "gitdir: ../.git\n")
		},
		"in another one": func(t *testing.T, r, inner *gittest.Repo) {
			inner.Git("init", "-q", "deep")
			inner.Write("deep/c_test.go", "1\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, p := newFiles(t)
			r.Git("init", "-q", "in")
			inner := gittest.At(t, r.Path("in"))
			inner.Write("deep/b_test.go", "1\n")
			do(t, r, inner)
			check(t, os.Symlink("..", r.Path("in/loop")))
			lines := []string{"in/deep/b_test.go added"}
			if name == "in another one" {
				lines = append(lines, "in/deep/c_test.go added")
			}
			want(t, p, lines...)
		})
	}
}

// A linked worktree is a tree of its own, and what it has is not new.
func TestE20AWorktreeInsideTheProject(t *testing.T) {
	r, p := newFiles(t)
	r.Git("worktree", "add", "-q", r.Path("trees/one"))
	want(t, p)
}

// One that was there when the session began is what the agent found.
func TestE20ARepositoryInsideThatWasThere(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	r.Git("init", "-q", "in")
	r.Write("in/b_test.go", "1\n")
	p := at(t, r, ".", "**/*_test.go")
	p.Project.Config.Protect.New = true
	check(t, p.Begin(t.Context()))
	want(t, p)
	r.Write("in/b_test.go", "2\n")
	want(t, p, "in/b_test.go changed")
}

func TestE20NewFilesOfASubmodule(t *testing.T) {
	inner := gittest.New(t)
	inner.Write("x_test.go", "1\n")
	inner.Commit("one")
	r := gittest.New(t)
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "lib")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	p.Project.Config.Protect.New = true
	check(t, p.Begin(t.Context()))
	want(t, p)
	r.Write("lib/y_test.go", "1\n")
	want(t, p, "lib/y_test.go added")
}

func TestTooManyFilesInsideAreNotListed(t *testing.T) {
	r, p := newFiles(t)
	r.Write("in/a_test.go", "", "in/b_test.go", "", "in/sub/c_test.go", "")
	in := inside{place: p, left: 3}
	if err := in.walk(t.Context(), "in"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v with %q", err, in.names)
	}
	in = inside{place: p, left: 4}
	if err := in.walk(t.Context(), "in"); err != nil || len(in.names) != 3 {
		t.Errorf("%v with %q", err, in.names)
	}
}

// A folder that cannot be read is told, and what else there is is found.
func TestE7AFolderInsideThatCannotBeRead(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	r, p := newFiles(t)
	r.Git("init", "-q", "in")
	r.Write("in/shut/b_test.go", "1\n", "c_test.go", "1\n")
	check(t, os.Chmod(r.Path("in/shut"), 0))
	t.Cleanup(func() { check(t, os.Chmod(r.Path("in/shut"), 0o700)) })
	found, err := p.Look(t.Context())
	if err == nil || !strings.Contains(err.Error(), "permission denied") || len(found) != 1 {
		t.Errorf("%v with %v", err, found)
	}
	p.Project.Config.Protect.Patterns = append(p.Project.Config.Protect.Patterns, "none")
	if missing, err := p.Missing(t.Context()); err != nil || len(missing) != 1 || missing[0] != "none" {
		t.Errorf("%v, missing %q", err, missing)
	}
}

// Git waits for ever for a pipe in the place of its ignore rules. The files of the base are
// compared all the same, and there is time left to say so.
func TestE7APipeInThePlaceOfIgnoreRules(t *testing.T) {
	r, p := newFiles(t)
	r.Write("a_test.go", "2\n", "sub/b_test.go", "1\n")
	check(t, syscall.Mkfifo(r.Path("sub/.gitignore"), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	found, err := p.Look(ctx)
	if err == nil || err.Error() != "list new files: git timed out" || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
	var lines []string
	for _, touch := range found {
		lines = append(lines, touch.String())
	}
	if diff := cmp.Diff([]string{"a_test.go changed"}, lines); diff != "" {
		t.Error(diff)
	}
}

// A repository that was there when the session began and is gone is not none, although no base
// was kept.
func TestE7ARepositoryThatIsGoneIsNotNone(t *testing.T) {
	for _, was := range []bool{true, false} {
		r := gittest.New(t)
		r.Write("a_test.go", "1\n")
		r.Commit("one")
		p := at(t, r, ".", "**/*_test.go")
		if !was {
			p.Since.Reflog = change.Reflog{}
		}
		check(t, os.RemoveAll(r.Path(".git")))
		if _, err := p.Look(t.Context()); err == nil || errors.Is(err, errNoGit) == was {
			t.Errorf("it was there: %t; %v", was, err)
		}
	}
}
