package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func small(t testing.TB) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Write("a", "1\n", "b", "1\n", "sub/c", "1\n", "text", "1\n2\n", ".gitignore", "ignored\n*.o\n")
	r.Commit("one")
	r.Origin()
	return r
}

// What is staged or committed is not part of a tree, only what the files hold.
func TestTreeIsTheContent(t *testing.T) {
	r := small(t)
	w := open(t, r)
	clean := exact(t, w)
	r.Write("a", "2\n", "new", "2\n")
	edited := exact(t, w)
	if edited == clean {
		t.Fatal("an edit is not seen")
	}
	same := func(what, want string) {
		t.Helper()
		if got := exact(t, w); got != want {
			t.Errorf("%s: the tree is another", what)
		}
		if got := exact(t, open(t, r)); got != want {
			t.Errorf("%s, without an index: the tree is another", what)
		}
	}
	r.Git("add", "a")
	same("staged one", edited)
	r.Git("add", "--all")
	same("staged all", edited)
	r.Git("commit", "--quiet", "--message=two")
	same("committed", edited)
	r.Git("reset", "--quiet", "--soft", "HEAD^")
	r.Git("rm", "--quiet", "--cached", "sub/c")
	same("no longer tracked", edited)
	r.Git("reset", "--quiet")
	r.Git("switch", "--quiet", "--create", "other")
	same("another branch", edited)
	r.Git("stash", "--quiet", "--include-untracked")
	same("stashed", clean)
	r.Git("stash", "pop", "--quiet")
	same("restored", edited)
	now := time.Now().Add(-time.Hour)
	check(t, os.Chtimes(r.Path("a"), now, now))
	same("touched", edited)
	r.Write("ignored", "x", "sub/x.o", "x", logDir+"/console.1.log", "x")
	same("ignored files and logs", edited)
	r.Write(".gauntlet/config.yml", "x")
	if exact(t, w) == edited {
		t.Error("a new file in a new folder is not seen")
	}
}

func TestTreeSeesEveryKindOfChange(t *testing.T) {
	tests := map[string]func(*gittest.Repo){
		"content":         func(r *gittest.Repo) { r.Write("a", "2\n") },
		"longer":          func(r *gittest.Repo) { r.Write("a", "11\n") },
		"line ends":       func(r *gittest.Repo) { r.Write("text", "1\r\n2\r\n") },
		"emptied":         func(r *gittest.Repo) { r.Write("a", "") },
		"deleted":         func(r *gittest.Repo) { r.Remove("a") },
		"folder deleted":  func(r *gittest.Repo) { r.Remove("sub") },
		"new":             func(r *gittest.Repo) { r.Write("new", "") },
		"new and staged":  func(r *gittest.Repo) { r.Write("new", ""); r.Git("add", "new") },
		"moved":           func(r *gittest.Repo) { r.Git("mv", "a", "z") },
		"swapped":         func(r *gittest.Repo) { r.Git("mv", "sub/c", "c") },
		"gitignore":       func(r *gittest.Repo) { r.Write(".gitignore", "ignored\n") },
		"file for folder": func(r *gittest.Repo) { r.Remove("sub"); r.Write("sub", "1\n") },
		"tracked though ignored": func(r *gittest.Repo) {
			r.Write("x.o", "1")
			r.Git("add", "--force", "x.o")
		},
		"odd name": func(r *gittest.Repo) { r.Write("new line", "") },
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			r := small(t)
			r.Git("config", "core.autocrlf", "true")
			r.Write(".gitattributes", "* text=auto\n")
			r.Commit("attributes")
			w := open(t, r)
			before := exact(t, w)
			edit(r)
			warm, cold := exact(t, w), exact(t, open(t, r))
			if warm == before {
				t.Error("not seen")
			}
			if warm != cold {
				t.Error("the tree depends on the index")
			}
		})
	}
}

// Two files must not be able to pass for one with a longer name, and so on.
func TestTreesThatReadAlike(t *testing.T) {
	seen := map[string]string{}
	for name, files := range map[string][]string{
		"one": {"ab", "c"}, "other name": {"a", "bc"}, "none": {}, "two": {"ab", "c", "d", ""}, "swapped": {"ab", "", "d", "c"}, "below": {"a/b", "c"},
	} {
		r := gittest.At(t, gittest.Dir(t))
		r.Write(files...)
		id := exact(t, open(t, r))
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s are the same", name, other)
		}
		seen[id] = name
	}
}

func TestTreeOfAProjectBelowTheToplevel(t *testing.T) {
	r := small(t)
	r.Write("sub/"+logDir+"/x.log", "1")
	w := openAt(t, r, "sub")
	before := exact(t, w)
	r.Write("sub/"+logDir+"/x.log", "2")
	if exact(t, w) != before {
		t.Error("logs count")
	}
	r.Write("a", "2\n")
	got := tree(t, w)
	if got.ID == before {
		t.Error("a gate may read what lies above the project")
	}
	var names []string
	for _, f := range got.files {
		names = append(names, f.path)
	}
	if want := "../.gitignore ../a ../b ../text c"; strings.Join(names, " ") != want {
		t.Errorf("got %q, want %s", names, want)
	}
}

func TestTreeWithoutARepository(t *testing.T) {
	for _, env := range [][]string{gittest.Environ(t), {"PATH=" + gittest.Dir(t)}} {
		r := gittest.At(t, gittest.Dir(t))
		r.Env = env
		r.Write("a", "1", "b/c", "1", "b-d", "1")
		w := open(t, r)
		before := exact(t, w)
		r.Write(logDir+"/x", "1", ".git-not/x", "")
		r.Remove(".git-not")
		if exact(t, w) != before {
			t.Error("logs count")
		}
		r.Write("b/c", "2")
		if exact(t, w) == before {
			t.Error("an edit is not seen")
		}
	}
}

func TestTreesThatCannotBeKnownExactly(t *testing.T) {
	module := gittest.New(t)
	module.Write("m", "1\n")
	module.Commit("one")
	submodule := func(r *gittest.Repo) {
		r.Git("submodule", "--quiet", "add", "file://"+module.Dir, "module")
		r.Commit("module")
	}
	tests := []struct {
		name string
		make func(*gittest.Repo)
		why  string
	}{
		{"nested repository", func(r *gittest.Repo) {
			r.Write("nested/x", "")
			gittest.At(t, r.Path("nested")).Git("init", "--quiet")
		}, ""},
		{"submodule", submodule, ""},
		{"submodule without .git", func(r *gittest.Repo) {
			submodule(r)
			r.Remove("module/.git")
		}, ""},
		{"submodule that is not there", func(r *gittest.Repo) {
			submodule(r)
			r.Git("submodule", "--quiet", "deinit", "--force", "module")
		}, ""},
		{"damaged index", func(r *gittest.Repo) { r.Write(".git/index", "nonsense") }, "git ls-files: "},
		{"damaged repository", func(r *gittest.Repo) { r.Write(".git/HEAD", "nonsense") }, "git ls-files: not a git repository"},
		{"no git", func(r *gittest.Repo) { r.Env = []string{"PATH=" + gittest.Dir(t)} }, "git is not installed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := small(t)
			tt.make(r)
			if got := tree(t, open(t, r)); !strings.HasPrefix(got.Why, tt.why) || got.Exact != (tt.why == "") {
				t.Errorf("exact: %t, why: %q", got.Exact, got.Why)
			}
		})
	}
}

func TestTreeOfABareRepository(t *testing.T) {
	r := gittest.New(t, "--bare")
	if got := tree(t, open(t, r)); got.Exact || !strings.Contains(got.Why, "work tree") {
		t.Errorf("%+v", got)
	}
}

func TestTreeHonoursTheContext(t *testing.T) {
	r, plain := small(t), gittest.At(t, gittest.Dir(t))
	plain.Write("a", "1")
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	for _, w := range []*Worktree{open(t, r), open(t, plain)} {
		if _, err := w.Tree(ctx); !errors.Is(err, over) {
			t.Errorf("got %v", err)
		}
		if _, err := w.Inputs(ctx, []string{"**"}, ""); !errors.Is(err, over) {
			t.Errorf("got %v", err)
		}
	}
	gone := Open(filepath.Join(plain.Dir, "gone"), logDir, "", r.Env, later)
	if _, err := gone.Tree(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A tree that is larger than what is hashed at once has an id of all its files.
func TestTreeIDIsOfEveryFile(t *testing.T) {
	files := make([]entry, 3000)
	for i := range files {
		files[i] = entry{path: fmt.Sprintf("folder/file-%05d", i), stat: stat{mode: typeRegular | 0o644}}
	}
	whole := identity(files)
	for i := 0; i < len(files); i += 7 {
		for what, change := range map[string]func(e *entry){
			"content": func(e *entry) { e.sum[len(e.sum)-1]++ },
			"name":    func(e *entry) { e.path += "x" },
			"kind":    func(e *entry) { e.stat.mode |= 0o100 },
		} {
			old := files[i]
			change(&files[i])
			if identity(files) == whole {
				t.Fatalf("another %s of file %d gives the same id", what, i)
			}
			files[i] = old
		}
	}
	if identity(files[1:]) == whole || identity(files[:len(files)-1]) == whole || identity(files) != whole {
		t.Error("the id is not that of the list")
	}
}

func TestTreeOfManyFilesSeesAnEarlyChange(t *testing.T) {
	r := small(t)
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("many/%04d-%s", i, strings.Repeat("n", 60)), "1\n")
	}
	r.Write(many...)
	w := open(t, r)
	was := exact(t, w)
	for _, i := range []int{0, 300, 999} {
		r.Write(many[2*i], "2\n")
		now := exact(t, w)
		if now == was {
			t.Errorf("a change of file %d is not seen", i)
		}
		was = now
	}
}

// As many files as before, each of which is as it was, need not be the same files.
func TestTreeSeesOtherNames(t *testing.T) {
	r := small(t)
	r.Write("n1", "1\n", "n3", "3\n")
	w := open(t, r)
	was := exact(t, w)
	if again := tree(t, w); again.ID != was || !again.Has("n1") {
		t.Fatalf("without a change: %+v", again)
	}
	// n1 stays where it is, and does not count any more; n2 does.
	r.Write(".git/info/exclude", "n1\n", "n2", "1\n")
	now := tree(t, w)
	if now.ID == was || now.Has("n1") || !now.Has("n2") || !now.Has("n3") {
		t.Errorf("the tree is taken for the old one: n1 %t, n2 %t", now.Has("n1"), now.Has("n2"))
	}
}
