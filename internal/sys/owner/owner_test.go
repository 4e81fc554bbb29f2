//go:build unix

package owner

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// project is a repository with a .gauntlet below its top.
func project(t *testing.T) (top, root string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	root = filepath.Join(top, "sub")
	for _, dir := range []string{filepath.Join(top, ".git"), filepath.Join(root, ".gauntlet")} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	return top, root
}

func TestE18SomebodyElsesIsNotEntered(t *testing.T) {
	top, root := project(t)
	env := append(os.Environ(), "HOME="+t.TempDir())
	if err := Check(root, env); err != nil {
		t.Errorf("our own: %v", err)
	}
	for _, place := range []string{top, filepath.Join(top, ".git"), root, filepath.Join(root, ".gauntlet")} {
		err := check(root, env, func(p string) (string, bool) { return "mallory", p == place })
		var foreign *Error
		if !errors.As(err, &foreign) || foreign.Place != place || !strings.Contains(err.Error(), place+" belongs to mallory") ||
			foreign.Hint() != "git config --global --add safe.directory '"+top+"'" {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// The repository of a worktree is where its .git leads.
func TestE18SomebodyElsesRepositoryIsNotEntered(t *testing.T) {
	top, root := project(t)
	env := append(os.Environ(), "HOME="+t.TempDir())
	theirs := filepath.Join(filepath.Dir(top), filepath.Base(top)+"-theirs", ".git")
	gitDir := filepath.Join(theirs, "worktrees", "wt")
	must(t, os.MkdirAll(gitDir, 0o755))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(theirs)) })
	must(t, os.Remove(filepath.Join(top, ".git")))
	for name, text := range map[string]string{
		filepath.Join(top, ".git"): "gitdir: " + gitDir + "\n", filepath.Join(gitDir, "commondir"): "../..\n",
		filepath.Join(gitDir, "gitdir"): filepath.Join(top, ".git") + "\n", filepath.Join(gitDir, "HEAD"): "ref: refs/heads/wt\n", filepath.Join(theirs, "HEAD"): "ref: refs/heads/main\n",
	} {
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for _, place := range []string{gitDir, theirs} {
		err := check(root, env, func(p string) (string, bool) { return "mallory", p == place })
		if err == nil || !strings.Contains(err.Error(), "mallory") {
			t.Errorf("%s: %v", place, err)
		}
	}
	must(t, os.Remove(filepath.Join(gitDir, "gitdir"))) // then an agent could have made the file .git
	if err := check(root, env, func(p string) (string, bool) { return "mallory", strings.HasPrefix(p, theirs) }); err != nil {
		t.Error(err)
	}
}

// What the kernel says, where this may be tried.
func TestE18Owners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away; TestE18SomebodyElsesIsNotEntered has the rule")
	}
	_, root := project(t)
	env := append(os.Environ(), "HOME="+t.TempDir())
	const other = 54321
	must(t, os.Lchown(filepath.Join(root, ".gauntlet"), other, other))
	if err := Check(root, env); err == nil || !strings.Contains(err.Error(), "user 54321") {
		t.Errorf("another user's: %v", err)
	}
	if err := Check(root, append(env, "SUDO_UID=54321")); err != nil {
		t.Errorf("through sudo: %v", err)
	}
	must(t, os.Remove(filepath.Join(root, ".gauntlet")))
	elsewhere := t.TempDir()
	must(t, errors.Join(os.Lchown(elsewhere, other, other), os.Symlink(elsewhere, filepath.Join(root, ".gauntlet"))))
	if err := Check(root, env); err != nil {
		t.Errorf("a link of our own: %v", err)
	}
}

// The person's own git configuration says what is safe, in git's words; the repository's does not.
func TestE18SafeDirectory(t *testing.T) {
	top, root := project(t)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(top, link))
	for _, tt := range []struct {
		entries []string
		safe    bool
	}{
		{nil, false},
		{[]string{top}, true},
		{[]string{top + "/"}, true},
		{[]string{link}, true},
		{[]string{"*"}, true},
		{[]string{filepath.Dir(top) + "/*"}, true},
		{[]string{"/*"}, true},
		{[]string{top + "/*"}, false},
		{[]string{filepath.Dir(top)}, false},
		{[]string{root}, false},
		{[]string{top + "x", "/elsewhere"}, false},
		{[]string{".", "sub"}, false},
		{[]string{"*", ""}, false},
		{[]string{"*", "", top}, true},
	} {
		home := t.TempDir()
		env := append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"))
		for _, entry := range tt.entries {
			cmd := exec.Command("git", "config", "--file", filepath.Join(home, "gitconfig"), "--add", "safe.directory", entry)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatal(err, string(out))
			}
		}
		err := check(root, env, func(string) (string, bool) { return "mallory", true })
		if (err == nil) != tt.safe {
			t.Errorf("%q: %v", tt.entries, err)
		}
	}
	own := exec.Command("git", "config", "--file", filepath.Join(top, ".git", "config"), "safe.directory", "*")
	if out, err := own.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if check(root, append(os.Environ(), "HOME="+t.TempDir()), func(string) (string, bool) { return "mallory", true }) == nil {
		t.Error("the repository declared itself safe")
	}
}
