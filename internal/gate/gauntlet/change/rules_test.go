package change

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// Wherever git reads rules from, files that a new rule hides are told.
func TestE12NewIgnoreRulesAreTold(t *testing.T) {
	put := func(t *testing.T, file, text string) {
		t.Helper()
		check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		check(t, os.WriteFile(file, []byte(text), 0o644))
	}
	for name, tt := range map[string]struct {
		before func(t *testing.T, r *gittest.Repo, home string) // long ago
		do     func(t *testing.T, r *gittest.Repo, home string)
	}{
		"the repository's own": {nil, func(t *testing.T, r *gittest.Repo, _ string) { put(t, r.Path(".git/info/exclude"), "red\n") }},
		"the file of core.excludesFile": {
			func(t *testing.T, r *gittest.Repo, home string) {
				put(t, home+"/rules", "*.swp\n")
				put(t, home+"/.gitconfig", "[user]\n\tname = a ; b\n[core]\n\tExcludesFile = \"~/rules\" # mine\n")
			},
			func(t *testing.T, _ *gittest.Repo, home string) { put(t, home+"/rules", "red\n") },
		},
		"one that does not exist yet": {
			func(t *testing.T, r *gittest.Repo, home string) {
				put(t, home+"/.gitconfig", "[core] excludesFile = ~/rules\n")
			},
			func(t *testing.T, _ *gittest.Repo, home string) { put(t, home+"/rules", "red\n") },
		},
		"one of an included file": {
			func(t *testing.T, r *gittest.Repo, home string) {
				put(t, home+"/.gitconfig", "[include]\n\tpath = more/one\n[includeIf \"gitdir:/**\"]\n\tpath = \\\nmore/one\n")
				put(t, home+"/more/one", "[core]\n\texcludesFile = "+home+"/rules\n")
				put(t, home+"/rules", "")
			},
			func(t *testing.T, _ *gittest.Repo, home string) { put(t, home+"/rules", "red\n") },
		},
		"an included file": {
			func(t *testing.T, r *gittest.Repo, home string) {
				put(t, home+"/.gitconfig", "[includeIf \"gitdir:/**\"]\n\tpath = more/one\n")
				put(t, home+"/rules", "red\n")
			},
			func(t *testing.T, _ *gittest.Repo, home string) {
				put(t, home+"/more/one", "[core]\n\texcludesFile = "+home+"/rules\n")
			},
		},
		"the user's, in another place": {nil, func(t *testing.T, _ *gittest.Repo, home string) { put(t, home+"/xdg/git/ignore", "red\n") }},
		"the user's configuration there": {
			func(t *testing.T, _ *gittest.Repo, home string) { put(t, home+"/rules", "red\n") },
			func(t *testing.T, _ *gittest.Repo, home string) {
				put(t, home+"/xdg/git/config", "[core]\n\texcludesFile = ~/rules\n")
			},
		},
		"the worktree's configuration": {
			func(t *testing.T, r *gittest.Repo, home string) {
				r.Git("config", "extensions.worktreeConfig", "true")
				put(t, home+"/rules", "red\n")
			},
			func(t *testing.T, r *gittest.Repo, home string) {
				r.Git("config", "--worktree", "core.excludesFile", home+"/rules")
			},
		},
		"a relative one": {
			func(t *testing.T, r *gittest.Repo, _ string) { r.Git("config", "core.excludesFile", ".git/rules") },
			func(t *testing.T, r *gittest.Repo, _ string) { put(t, r.Path(".git/rules"), "red\n") },
		},
		"a link to other rules": {
			func(t *testing.T, r *gittest.Repo, home string) {
				put(t, home+"/old", "red\n")
				r.Git("config", "core.excludesFile", home+"/rules")
			},
			func(t *testing.T, r *gittest.Repo, home string) { check(t, os.Symlink(home+"/old", home+"/rules")) },
		},
	} {
		for how, known := range map[string]bool{"": true, ", by the times of files": false} {
			t.Run(name+how, func(t *testing.T) {
				home, r := homely(t)
				r.Write("a", "1\n")
				r.Commit("one")
				if tt.before != nil {
					tt.before(t, r, home)
				}
				age(t, home)
				age(t, r.Dir)
				w := open(t, r)
				since := begin(t, w, known)
				p := position(t, w, Scope{})
				stamp := w.AsideStamp(p, Tree{})
				if told := aside(t, w, since); len(told) > 0 {
					t.Fatalf("told before: %q", told)
				}

				tt.do(t, r, home)
				r.Write("red", "")
				told := strings.Join(aside(t, w, since), ", ")
				if !strings.Contains(told, "red") {
					t.Errorf("told %q, watched %q", told, w.ruleFiles().files)
				}
				if w.AsideStamp(p, Tree{}) == stamp {
					t.Error("the stamp is the same")
				}
			})
		}
	}
}

// homely is a repository whose user has a home.
func homely(t *testing.T) (home string, r *gittest.Repo) {
	t.Helper()
	home, r = gittest.Dir(t), gittest.New(t)
	r.Env = append(environ.Without(r.Env, func(name string) bool {
		return name == "GIT_CONFIG_GLOBAL" || name == "HOME" || name == "XDG_CONFIG_HOME"
	}),
		"HOME="+home, "XDG_CONFIG_HOME="+home+"/xdg")
	return home, r
}

// begin is a session that begins a minute ago, and finds the tree as it is; known means that its rules are kept.
func begin(t *testing.T, w *Worktree, known bool) Start {
	t.Helper()
	since := Start{Time: time.Now().Add(-time.Minute), Reflog: ReflogOf(w.root)}
	if known {
		id, err := w.KeepRules(tree(t, w))
		check(t, err)
		since.Rules = id
	}
	return since
}

// aside is what a stop tells whose tree is as it was found.
func aside(t *testing.T, w *Worktree, since Start) []string {
	t.Helper()
	p := position(t, w, Scope{})
	made, err := w.Made(t.Context(), p, since)
	check(t, err)
	return w.Aside(t.Context(), Scope{Made: made}, p, tree(t, w), since)
}

// Files that an old rule hides are not told, whatever was written around it; those of a new rule are, also where the gates
// passed between the rule and the file.
func TestE12OnlyNewRulesAreTold(t *testing.T) {
	for name, tt := range map[string]struct {
		before, session func(t *testing.T, r *gittest.Repo, home string)
		want            string
	}{
		"a rule in .gitignore": {
			session: func(t *testing.T, r *gittest.Repo, _ string) { r.Write(".gitignore", "dist/\nred\n", "red", "") },
			want:    "red",
		},
		"a rule in a new .gitignore, committed": {
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write("sub/.gitignore", "red\n")
				r.Commit("rule")
				r.Write("sub/red", "", "dist/x", "")
			},
			want: "sub/red",
		},
		"a rule that was committed and pushed": {
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "dist/\nred\n")
				r.Commit("rule")
				r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
				r.Write("red", "")
			},
			want: "red",
		},
		"work that is moved behind a rule": {
			before: func(t *testing.T, r *gittest.Repo, _ string) { r.Write("work/red", ""); age(t, r.Path("work")) },
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "dist/\nwip\n")
				check(t, os.Rename(r.Path("work"), r.Path("wip")))
			},
			want: "wip/",
		},
		"an exception that is gone": {
			before: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "dist/\n*.out\n!red.out\n")
				r.Commit("exception")
			},
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "dist/\n*.out\n", "red.out", "")
			},
			want: "red.out",
		},
		"an exception that comes too early": {
			before: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "*.out\n!red.out\n")
				r.Commit("exception")
			},
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "!red.out\n*.out\n", "red.out", "")
			},
			want: "red.out",
		},
		"an exception below that is gone": {
			before: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "*.out\n", "sub/.gitignore", "!red.out\n")
				r.Commit("exception")
			},
			session: func(t *testing.T, r *gittest.Repo, _ string) { r.Remove("sub/.gitignore"); r.Write("sub/red.out", "") },
			want:    "sub/red.out",
		},
		"a name that looks like a pattern": {
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "dist/\n:\\(red\n", ":(red", "")
			},
			want: ":(red",
		},
		"a configuration that names older rules, with its old time": {
			before: func(t *testing.T, r *gittest.Repo, home string) {
				check(t, os.WriteFile(home+"/rules", []byte("red\n"), 0o600))
				age(t, home)
			},
			session: func(t *testing.T, r *gittest.Repo, home string) {
				r.Git("config", "core.excludesFile", home+"/rules")
				age(t, r.Path(".git"))
				r.Write("red", "")
			},
			want: "red",
		},
		"a build": {session: func(t *testing.T, r *gittest.Repo, _ string) { r.Write("dist/x", "") }},
		"a build after a push that writes the configuration": {
			session: func(t *testing.T, r *gittest.Repo, home string) {
				r.Git("config", "branch.main.remote", "origin")
				check(t, os.WriteFile(home+"/.gitconfig", []byte("[alias]\n\tx = y\n"), 0o600))
				r.Write("dist/x", "")
			},
		},
		"a build by the user's rules, and a new alias": {
			before: func(t *testing.T, r *gittest.Repo, home string) {
				check(t, os.WriteFile(home+"/rules", []byte(".env\n"), 0o600))
				check(t, os.WriteFile(home+"/.gitconfig", []byte("[core]\n\texcludesFile = ~/rules\n"), 0o600))
			},
			session: func(t *testing.T, r *gittest.Repo, home string) {
				check(t, os.WriteFile(home+"/.gitconfig", []byte("[core]\n\texcludesFile = ~/rules\n[alias]\n\tx = y\n"), 0o600))
				r.Write(".env", "")
			},
		},
		"a build by a rule beside a new one": {
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "*.tmp\n!keep.tmp\ndist/\n", ".git/info/exclude", "other\n", "dist/x", "")
			},
		},
		"a build by a rule of a person's that is not committed": {
			before: func(t *testing.T, r *gittest.Repo, _ string) { r.Write(".gitignore", "dist/\nout\n") },
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write(".gitignore", "dist/\nout\nother\n", "out", "")
			},
		},
		"a build by a rule that a pull brought": {
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Git("update-ref", "refs/remotes/origin/main", colleague(t, r, ".gitignore", "dist/\nout\n"))
				r.Git("merge", "--quiet", "--ff-only", "origin/main")
				r.Write("out", "")
			},
		},
		"a rule that hides its own file": {
			session: func(t *testing.T, r *gittest.Repo, _ string) { r.Write("lib/.gitignore", "*\n", "lib/red", "") },
			want:    "lib/.gitignore, lib/red",
		},
		"a rule in a new folder that hides its own file": {
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write("new/a", "", "new/.gitignore", "/.gitignore\nbuild/\n", "new/build/red", "")
			},
			want: "new/.gitignore, new/build/",
		},
		"a rule above folders that hides its own file": {
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write("lib/deep/.gitignore", "*\n", "lib/deep/red", "")
			},
			want: "lib/deep/.gitignore, lib/deep/red",
		},
		"a rule that comes to hide its own file": {
			before: func(t *testing.T, r *gittest.Repo, _ string) { r.Write("new/.gitignore", "*.tmp\n") },
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write("new/.gitignore", "*.tmp\n*\n", "new/red", "")
				r.Git("add", "-f", "new/red")
			},
			want: "new/.gitignore",
		},
		"a build by a rule that hides its own file": {
			before:  func(t *testing.T, r *gittest.Repo, _ string) { r.Write("lib/.gitignore", "*\n") },
			session: func(t *testing.T, r *gittest.Repo, _ string) { r.Write("lib/out", "") },
		},
		"caches that ignore themselves, below files": {
			session: func(t *testing.T, r *gittest.Repo, _ string) {
				r.Write("lib/.mypy_cache/.gitignore", "*\n", "lib/.mypy_cache/x", "", "lib/deep/node_modules/.cache/.gitignore", "*", "lib/deep/node_modules/.cache/y", "")
			},
		},
		"a folder that ignores itself": {
			session: func(t *testing.T, r *gittest.Repo, _ string) { r.Write(".venv/.gitignore", "*\n", ".venv/x", "") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, r := homely(t)
			r.Write("a", "1\n", ".gitignore", "dist/\n", "lib/a", "", "lib/deep/er/a", "")
			r.Commit("one")
			if tt.before != nil {
				tt.before(t, r, home)
			}
			r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
			w := open(t, r)
			since := begin(t, w, true)
			tt.session(t, r, home)

			want := "files that git ignores by a new rule (" + tt.want + ")"
			if got := strings.Join(aside(t, w, since), ", "); tt.want == "" && got != "" || tt.want != "" && got != want {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}

// A rule that ignores itself does not change the tree, so its stamp must.
func TestE12ARuleThatIgnoresItselfChangesTheStamp(t *testing.T) {
	r := gittest.New(t)
	r.Write("lib/a", "", "src/a", "", "out/a", "")
	r.Commit("one")
	w := open(t, r)
	before, stamp := tree(t, w), w.AsideStamp(Position{}, tree(t, w))

	r.Write("lib/.gitignore", "*\n", "src/.gitignore", "*\n", "out/.gitignore", "*\n")
	now := tree(t, w)
	if now.ID != before.ID || w.AsideStamp(Position{}, now) == stamp {
		t.Error("the tree has changed, or the stamp has not")
	}
	for range 10 {
		if again := w.AsideStamp(Position{}, now); again != w.AsideStamp(Position{}, now) {
			t.Fatal("the stamp changes by itself")
		}
	}
}

// A cherry-pick in progress may leave the tree as it is.
func TestE12WhatWaitsInACherryPickChangesTheStamp(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "")
	r.Commit("one")
	w := open(t, r)
	stamp := w.AsideStamp(Position{}, tree(t, w))
	r.Write(".git/sequencer/todo", "pick 1 one\npick 2 two\n")
	if w.AsideStamp(Position{}, tree(t, w)) == stamp {
		t.Error("the stamp is the same")
	}
}

// colleague is a commit that was made in another clone and fetched.
func colleague(t *testing.T, r *gittest.Repo, namesAndContents ...string) (commit string) {
	t.Helper()
	clone := gittest.At(t, gittest.Dir(t))
	clone.Git("clone", "--quiet", r.Dir, ".")
	clone.Write(namesAndContents...)
	commit = clone.Commit("theirs")
	r.Git("fetch", "--quiet", clone.Dir, "HEAD")
	return commit
}

// The rules above a project are those of its repository.
func TestE12RulesAboveTheProject(t *testing.T) {
	r := gittest.New(t)
	r.Write("app/a", "", "app/.gitignore", "dist\n", ".gitignore", "out\n")
	r.Commit("one")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	w := openAt(t, r, "app")
	since := begin(t, w, true)
	r.Write("app/dist", "", "app/out", "", ".gitignore", "out\nred\n")
	if got := aside(t, w, since); len(got) > 0 {
		t.Errorf("told %q", got)
	}
	r.Write("app/red", "")
	if got := aside(t, w, since); len(got) != 1 || !strings.Contains(got[0], "(red)") {
		t.Errorf("told %q", got)
	}
}

// age makes all files look old.
func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	}))
}

// Files that include each other come to an end.
func TestIncludedRulesComeToAnEnd(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	check(t, os.WriteFile(one, []byte("[include]\npath = two\npath=\n"), 0o600))
	check(t, os.WriteFile(two, []byte("[include \"x\n[include]path = one\n[core \"a]b\"]excludesFile = x\n[core]\n; excludesFile = y\nexcludesFile = \"a\\\"b;c\" ;d\n=\n"), 0o600))
	r := ruleSet{top: dir}
	r.config(one)
	want := []string{one, two, filepath.Join(dir, "x"), filepath.Join(dir, `a"b;c`)}
	slices.Sort(want)
	slices.Sort(r.files)
	if diff := cmp.Diff(want, r.files); diff != "" {
		t.Error(diff)
	}
}
