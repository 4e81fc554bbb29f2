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
		t.Run(name, func(t *testing.T) {
			home := gittest.Dir(t)
			r := gittest.New(t)
			r.Env = append(environ.Without(r.Env, func(name string) bool {
				return name == "GIT_CONFIG_GLOBAL" || name == "HOME" || name == "XDG_CONFIG_HOME"
			}),
				"HOME="+home, "XDG_CONFIG_HOME="+home+"/xdg")
			r.Write("a", "1\n")
			r.Commit("one")
			if tt.before != nil {
				tt.before(t, r, home)
			}
			age(t, home)
			age(t, r.Dir)
			since := Start{Time: time.Now().Add(-time.Minute)}
			w := open(t, r)
			p := position(t, w, Scope{})
			stamp := w.AsideStamp(p)
			if told := w.Aside(t.Context(), Scope{}, p, since, nil); len(told) > 0 {
				t.Fatalf("told before: %q", told)
			}

			tt.do(t, r, home)
			r.Write("red", "")
			told := strings.Join(w.Aside(t.Context(), Scope{}, p, since, nil), ", ")
			if !strings.Contains(told, "red") {
				t.Errorf("told %q, watched %q", told, w.ruleFiles(p))
			}
			if w.AsideStamp(p) == stamp {
				t.Error("the stamp is the same")
			}
		})
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
