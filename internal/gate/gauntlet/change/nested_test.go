package change

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// withModule is a repository with a clean submodule that has a submodule of its own, and with a repository that it
// does not track.
func withModule(t testing.TB) *gittest.Repo {
	t.Helper()
	deep := gittest.New(t)
	deep.Write("d", "1\n")
	deep.Commit("deep")
	module := gittest.New(t)
	module.Write("m", "1\n", ".gitignore", "ignored\n")
	addModule(module, deep, "deep")
	r := small(t)
	addModule(r, module, "module")
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
	r.Origin()
	lib := gittest.At(t, r.Path("lib"))
	r.Write("lib/l", "1\n")
	lib.Git("init", "--quiet")
	lib.Commit("lib")
	return r
}

func addModule(r, module *gittest.Repo, name string) {
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module.Dir, name)
	r.Commit(name)
}

// What is in a repository within the tree is part of it, and git's word for it is not needed.
func TestTreeHasWhatIsInRepositoriesWithin(t *testing.T) {
	tests := map[string]struct {
		session func(r *gittest.Repo)
		want    []string
	}{
		"nothing":                 {session: func(*gittest.Repo) {}},
		"an edit":                 {func(r *gittest.Repo) { r.Write("module/m", "2\n") }, []string{"module/m"}},
		"an edit further down":    {func(r *gittest.Repo) { r.Write("module/deep/d", "2\n") }, []string{"module/deep/d"}},
		"an edit in an own one":   {func(r *gittest.Repo) { r.Write("lib/l", "2\n") }, []string{"lib/l"}},
		"a new file":              {func(r *gittest.Repo) { r.Write("module/x/new", "") }, []string{"module/x/new"}},
		"a file that git ignores": {session: func(r *gittest.Repo) { r.Write("module/ignored", "") }},
		"assume-unchanged": {func(r *gittest.Repo) {
			r.Git("-C", "module", "update-index", "--assume-unchanged", "m")
			r.Write("module/m", "2\n")
		}, []string{"module/m"}},
		"skip-worktree": {func(r *gittest.Repo) {
			r.Git("-C", "module", "update-index", "--skip-worktree", "m")
			r.Write("module/m", "2\n")
		}, []string{"module/m"}},
		"core.worktree": {func(r *gittest.Repo) {
			r.Git("-C", "module", "config", "core.worktree", r.Path("sub"))
			r.Write("module/new", "2\n")
		}, []string{"module/new"}},
		"without .git": {func(r *gittest.Repo) {
			r.Remove("module/.git")
			r.Write("module/m", "2\n")
		}, []string{"module/m"}},
		"only without .git": {session: func(r *gittest.Repo) { r.Remove("module/.git") }},
		"untracked files are not shown": {func(r *gittest.Repo) {
			r.Git("-C", "module", "config", "status.showUntrackedFiles", "no")
			r.Write("module/new", "")
		}, []string{"module/new"}},
		"a commit of a colleague": {session: func(r *gittest.Repo) {
			r.Write("module/m", "2\n", "module/more", "1\n")
			r.Git("-C", "module", "add", "--all")
			r.Git("-C", "module", "commit", "--quiet", "--message=theirs")
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withModule(t)
			w := open(t, r)
			exact(t, w)
			found := kept(t, w)
			test.session(r)
			if got := altered(t, w, found); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if exact(t, w) != exact(t, open(t, r)) {
				t.Error("the tree is another without an index")
			}
		})
	}
}

// Claude Code keeps worktrees in .claude/worktrees, which many do not ignore. What happens in them is not about this tree. A copy
// of one, and a worktree of another repository, are judged nowhere else, and one in another place may have gates of this tree.
func TestE5AWorktreeWithinIsATreeOfItsOwn(t *testing.T) {
	r := withModule(t)
	r.Git("worktree", "add", "--quiet", ".claude/worktrees/wt")
	r.Git("worktree", "add", "--quiet", "packages/new")
	r.Git("-C", "module", "worktree", "add", "--quiet", ".claude/worktrees/wt")
	link, err := os.ReadFile(r.Path(".claude/worktrees/wt/.git"))
	check(t, err)
	r.Write(".claude/worktrees/copy/.git", string(link), ".claude/worktrees/copy/f", "1\n")
	w := open(t, r)
	found := exact(t, w)
	r.Write(".claude/worktrees/wt/new", "")
	if exact(t, w) != found {
		t.Error("a worktree of the repository is part of the tree")
	}
	if got := changes(t, w, Scope{}).Files; !slices.Equal(got, []string{".claude/worktrees/copy", "lib", "module", "packages/new"}) {
		t.Errorf("changed: %q", got)
	}
	if files, err := w.Files(t.Context()); err != nil || slices.Contains(files, ".claude/worktrees/wt") {
		t.Errorf("files: %q, %v", files, err)
	}
	for _, name := range []string{".claude/worktrees/copy/f", "module/.claude/worktrees/wt/m", "packages/new/new"} {
		before := exact(t, w)
		r.Write(name, "2\n")
		if exact(t, w) == before {
			t.Errorf("%s is not part of the tree", name)
		}
	}
}

// A submodule that came with a pull is its authors', and one that the session has emptied is not.
func TestAlteredSubmodules(t *testing.T) {
	module := gittest.New(t)
	module.Write("m", "1\n")
	module.Commit("one")
	r := small(t)
	r.Git("switch", "--quiet", "--create", "theirs")
	addModule(r, module, "module")
	r.Git("switch", "--quiet", "main")
	r.Remove("module")
	w := open(t, r)
	found := kept(t, w)
	r.Git("merge", "--quiet", "theirs")
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	if got := altered(t, w, found); len(got) != 0 {
		t.Errorf("pulled: %q", got)
	}
	found = kept(t, w)
	r.Git("submodule", "--quiet", "deinit", "--force", "module")
	if got := altered(t, w, found); !slices.Equal(got, []string{"module/m"}) {
		t.Errorf("deinit: %q", got)
	}
}

// What a pull makes of a submodule is its authors' too: it goes, it moves, it becomes a folder, or a folder becomes one.
func TestAlteredWhereAPullMovesSubmodules(t *testing.T) {
	update := func(r *gittest.Repo) {
		r.Git("submodule", "--quiet", "update", "--init", "--recursive")
	}
	tests := map[string]struct {
		theirs, ahead, session func(r *gittest.Repo)
		want                   []string
	}{
		"it goes": {
			theirs:  func(r *gittest.Repo) { r.Git("rm", "--quiet", "module") },
			session: func(r *gittest.Repo) { r.Remove("module") },
		},
		"it goes, and its folder stays": {
			theirs: func(r *gittest.Repo) { r.Git("rm", "--quiet", "module") },
		},
		"it goes, and the session edits what stays": {
			theirs:  func(r *gittest.Repo) { r.Git("rm", "--quiet", "module") },
			session: func(r *gittest.Repo) { r.Write("module/m", "2\n") },
			want:    []string{"module/m"},
		},
		"the session removes it": {
			theirs:  func(r *gittest.Repo) { r.Write("their", "1\n") },
			session: func(r *gittest.Repo) { r.Remove("module") },
			want:    []string{"module/.gitignore", "module/.gitmodules", "module/deep/d", "module/m"},
		},
		"the session removes a clone": {
			theirs:  func(r *gittest.Repo) { r.Write("their", "1\n") },
			session: func(r *gittest.Repo) { r.Remove("lib") },
			want:    []string{"lib/l"},
		},
		"it moves": {
			theirs:  func(r *gittest.Repo) { r.Write("libs/their", "1\n"); r.Git("mv", "module", "libs/module") },
			session: func(r *gittest.Repo) { update(r); r.Remove("module") },
		},
		"it moves, and the session edits it": {
			theirs:  func(r *gittest.Repo) { r.Write("libs/their", "1\n"); r.Git("mv", "module", "libs/module") },
			session: func(r *gittest.Repo) { update(r); r.Remove("module"); r.Write("libs/module/deep/d", "2\n") },
			want:    []string{"libs/module/deep/d"},
		},
		"it becomes a folder": {
			theirs: func(r *gittest.Repo) {
				r.Git("rm", "--quiet", "module")
				r.Remove("module")
				r.Write("module/m", "2\n", "module/new", "1\n")
			},
			ahead: func(r *gittest.Repo) { r.Remove("module") }, // git would refuse to write over it
		},
		"a folder becomes one": {
			theirs: func(r *gittest.Repo) {
				r.Git("rm", "--quiet", "-r", "sub")
				r.Git("submodule", "--quiet", "add", r.Git("config", "submodule.module.url"), "sub")
			},
			session: update,
		},
		"a folder becomes one, and the session edits it": {
			theirs: func(r *gittest.Repo) {
				r.Git("rm", "--quiet", "-r", "sub")
				r.Git("submodule", "--quiet", "add", r.Git("config", "submodule.module.url"), "sub")
			},
			session: func(r *gittest.Repo) { update(r); r.Write("sub/m", "2\n") },
			want:    []string{"sub/m"},
		},
		"a new one, with a filter of the session": {
			theirs: func(r *gittest.Repo) {
				r.Git("submodule", "--quiet", "add", r.Git("config", "submodule.module.url"), "new")
			},
			session: func(r *gittest.Repo) {
				update(r)
				r.Write(".git/modules/new/info/attributes", "m text eol=crlf\n")
				r.Remove("new/m")
				r.Git("-C", "new", "checkout", "--quiet", "--", "m")
			},
			want: []string{"new/m"},
		},
		"a new one, with ends of lines of the user": {
			theirs: func(r *gittest.Repo) {
				r.Git("submodule", "--quiet", "add", r.Git("config", "submodule.module.url"), "new")
				r.Git("config", "--global", "core.autocrlf", "true")
			},
			session: update,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withModule(t)
			theirs := gittest.Dir(t) + "/theirs"
			r.Git("clone", "--quiet", "--recurse-submodules", r.Dir, theirs)
			other := *r
			other.Dir = theirs
			test.theirs(&other)
			other.Commit("theirs")
			w := open(t, r)
			found := kept(t, w)
			if test.ahead != nil {
				test.ahead(r)
			}
			r.Git("pull", "--quiet", theirs, "main")
			if test.session != nil {
				test.session(r)
			}
			if got := altered(t, w, found); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// However many repositories there are, and however deep, nothing in them is left out.
func TestManyRepositories(t *testing.T) {
	var deep, many []string
	for i := range maxDepth + 2 {
		deep = append(deep, strings.Repeat("n/", i+1))
	}
	for i := range maxNested + 2 {
		many = append(many, fmt.Sprintf("n%03d/", i))
	}
	for name, dirs := range map[string][]string{"deep": deep, "many": many} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := small(t)
			for _, dir := range dirs {
				r.Write(dir+"f", "1\n")
				r.Git("init", "--quiet", dir)
			}
			last := dirs[len(dirs)-1]
			w := open(t, r)
			before := exact(t, w)
			found := kept(t, w)
			if exact(t, w) != before {
				t.Error("nothing has changed, and the tree is another")
			}
			r.Write(last+"f", "2\n")
			if got := altered(t, w, found); !slices.Equal(got, []string{last + "f"}) {
				t.Errorf("altered: %q", got)
			}
		})
	}
}

// A folder in the place of a file holds what git lists.
func TestFolderInPlaceOfAFile(t *testing.T) {
	r := small(t)
	w := open(t, r)
	before := exact(t, w)
	r.Remove("a")
	r.Write("a/b", "1\n")
	if exact(t, w) == before || !tree(t, w).Has("a/b") {
		t.Error("the file in the folder is not seen")
	}
}

// The log directory is the project's: a folder of the same name in a repository within it is part of the tree.
func TestLogsOfARepositoryWithin(t *testing.T) {
	r := withModule(t)
	w := open(t, r)
	before := exact(t, w)
	r.Write("lib/gauntlet_logs/red", "1", "module/gauntlet_logs/red", "1")
	if exact(t, w) == before || !tree(t, w).Has("lib/gauntlet_logs/red") || !tree(t, w).Has("module/gauntlet_logs/red") {
		t.Error("what is there is not seen")
	}

	within := Open(r.Dir, "lib/logs", filepath.Join(t.TempDir(), "index"), r.Env, later)
	before = exact(t, within)
	r.Write("lib/logs/1.log", "1")
	if exact(t, within) != before {
		t.Error("a log is part of the tree")
	}
}

// What is put aside in a repository within the tree is told, as it is of the tree's own.
func TestAsideWithin(t *testing.T) {
	tests := map[string]struct {
		session func(r *gittest.Repo)
		want    []string
	}{
		"nothing": {session: func(*gittest.Repo) {}},
		"a build": {session: func(r *gittest.Repo) { r.Write("module/ignored", "") }},
		"a stash": {func(r *gittest.Repo) { r.Write("module/m", "2"); r.Git("-C", "module", "stash", "--quiet") }, []string{"a stash in module (git stash list)"}},
		"an autostash": {func(r *gittest.Repo) {
			module := gittest.At(t, r.Path("module"))
			module.Write("m", "2")
			stopsARebase(module)
		}, []string{"an autostash of a rebase or merge in progress in module (git status)"}},
		"info/exclude": {func(r *gittest.Repo) { r.Write(".git/modules/module/info/exclude", "red\n", "module/red", "") }, []string{"files that git ignores by a new rule (module/red)"}},
		"the user's":   {func(r *gittest.Repo) { userIgnores(t, r, "red\n"); r.Write("module/deep/red", "") }, []string{"files that git ignores by a new rule (module/deep/red)"}},
		"an own clone": {func(r *gittest.Repo) { r.Write("lib/.git/info/exclude", "red\n", "lib/red", "") }, []string{"files that git ignores by a new rule (lib/red)"}},
		".gitignore":   {func(r *gittest.Repo) { r.Write("module/.gitignore", "ignored\nred\n", "module/red", "") }, []string{"files that git ignores by a new rule (module/red)"}},
		".gitignore, committed": {func(r *gittest.Repo) {
			r.Write("module/.gitignore", "ignored\nred\n")
			r.Git("-C", "module", "add", ".gitignore")
			module := gittest.At(t, r.Path("module"))
			module.Env = append(module.Env, "GIT_COMMITTER_DATE="+time.Now().Format(time.RFC3339))
			module.Git("commit", "--quiet", "--message=rule")
			r.Write("module/red", "")
		}, []string{"files that git ignores by a new rule (module/red)"}},
		"a rule that a checkout brought": {session: func(r *gittest.Repo) {
			module := gittest.At(t, r.Path("module"))
			module.Git("checkout", "--quiet", colleague(t, module, ".gitignore", "ignored\nout\n"))
			r.Write("module/out", "")
		}},
		"a configuration": {session: func(r *gittest.Repo) { r.Git("-C", "module", "config", "a.b", "c"); r.Write("module/ignored", "") }},
		"a clone that is built": {session: func(r *gittest.Repo) {
			r.Git("clone", "--quiet", "module", "vendor")
			r.Write("vendor/ignored", "")
		}},
		"outer exclude": {session: func(r *gittest.Repo) { r.Write(".git/info/exclude", "red\n", "module/ignored", "") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withModule(t)
			long := time.Now().Add(-time.Hour)
			check(t, filepath.WalkDir(r.Dir, func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Chtimes(path, long, long))
			}))
			w := open(t, r)
			since := Start{Time: time.Now().Add(-time.Minute)}
			var err error
			since.Rules, err = w.KeepRules(tree(t, w))
			check(t, err)
			before := w.AsideStamp(Position{}, tree(t, w))
			test.session(r)
			now := tree(t, w)
			got := w.Aside(t.Context(), Scope{}, position(t, w, Scope{}), now, since)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if own := name != "the user's" && !strings.HasPrefix(name, ".gitignore"); own && len(got) > 0 && w.AsideStamp(Position{}, now) == before {
				t.Error("the stamp is the same")
			}
		})
	}
}

// stopsARebase leaves a repository in a rebase that has put aside what was uncommitted.
func stopsARebase(r *gittest.Repo) {
	r.Git("commit", "--quiet", "--allow-empty", "--message=one more")
	r.Env = append(r.Env, "GIT_SEQUENCE_EDITOR=echo break >")
	r.Git("rebase", "--quiet", "--interactive", "--autostash", "HEAD~1")
}

func userIgnores(t testing.TB, r *gittest.Repo, rules string) {
	t.Helper()
	home := r.Env[slices.IndexFunc(r.Env, func(e string) bool { return strings.HasPrefix(e, "HOME=") })]
	gittest.At(t, strings.TrimPrefix(home, "HOME=")).Write(".config/git/ignore", rules)
}
