package paths

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestRepository(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	main, linked, sub := filepath.Join(base, "main"), filepath.Join(base, "linked"), filepath.Join(base, "main", "lib")
	other := filepath.Join(base, "other")
	for _, dir := range []string{main, other} {
		check(t, os.MkdirAll(filepath.Join(dir, "pkg", "api"), 0o755))
		gittest.At(t, dir).Git("init", "-q")
		gittest.At(t, dir).Git("commit", "-q", "--allow-empty", "-m", "first")
	}
	gittest.At(t, main).Git("worktree", "add", "-q", "../linked")
	gittest.At(t, main).Git("submodule", "--quiet", "add", other, "lib")
	environtest.Symlink(t, main, filepath.Join(base, "link"))

	shared := filepath.Join(main, ".git")
	for _, tt := range []struct{ dir, common, within string }{
		{main, shared, "."},
		{filepath.Join(main, "pkg", "api"), shared, "pkg/api"},
		{filepath.Join(base, "link", "pkg"), shared, "pkg"},
		{linked, shared, "."},
		{other, filepath.Join(other, ".git"), "."},
		{sub, filepath.Join(shared, "modules", "lib"), "."},
	} {
		common, within, found := Repository(tt.dir)
		if !found || common != tt.common || within != tt.within {
			t.Errorf("%s: %q, %q, %t; want %q, %q", tt.dir, common, within, found, tt.common, tt.within)
		}
	}
	if common, _, found := Repository(base); found {
		t.Errorf("outside: %s", common)
	}
}

func TestMainWorktree(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	for _, dir := range []string{"main/pkg", "other/pkg"} {
		check(t, os.MkdirAll(at(dir), 0o755))
		gittest.At(t, filepath.Dir(at(dir))).Git("init", "-q")
		gittest.At(t, filepath.Dir(at(dir))).Git("commit", "-q", "--allow-empty", "-m", "first")
	}
	gittest.At(t, at("main")).Git("submodule", "--quiet", "add", at("other"), "lib")
	gittest.At(t, at("main")).Git("worktree", "add", "-q", "../linked")
	gittest.At(t, base).Git("clone", "-q", "--bare", at("other"), at("bare.git"))
	gittest.At(t, at("bare.git")).Git("worktree", "add", "-q", "-b", "new", "../ofbare")
	gittest.At(t, base).Git("init", "-q", "--separate-git-dir", at("apart.git"), at("apart"))
	gittest.At(t, at("apart")).Git("commit", "-q", "--allow-empty", "-m", "first")
	gittest.At(t, at("apart")).Git("worktree", "add", "-q", "../ofapart")
	for dir, want := range map[string]string{
		"main": "main", "main/pkg": "main", "main/lib": "main/lib", "linked": "main", "apart": "apart",
		"ofbare": "", "ofapart": "", ".": "",
	} {
		top, found := MainWorktree(at(dir))
		if found != (want != "") || found && top != at(want) {
			t.Errorf("%s: %q, %t; want %q", dir, top, found, want)
		}
	}
}

func TestBesideWorktrees(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	check(t, os.MkdirAll(at("normal/pkg"), 0o755))
	gittest.At(t, at("normal")).Git("init", "-q", "-b", "main")
	if BesideWorktrees(at("normal")) {
		t.Error("a repository without any commit")
	}
	check(t, os.WriteFile(at("normal/file"), nil, 0o644))
	gittest.At(t, at("normal")).Git("add", ".")
	gittest.At(t, at("normal")).Git("commit", "-q", "-m", "first")
	for _, name := range []string{"git", "dot", "worktreeConfig"} {
		check(t, os.MkdirAll(at(name+"/docs"), 0o755))
		bare := at(name + "/.git")
		if name == "dot" {
			bare = at("dot/.bare")
			check(t, os.WriteFile(at("dot/.git"), []byte("gitdir: ./.bare\n"), 0o644))
		}
		gittest.At(t, base).Git("clone", "-q", "--bare", at("normal"), bare)
		gittest.At(t, bare).Git("worktree", "add", "-q", at(name+"/main"), "main")
	}
	gittest.At(t, at("worktreeConfig/main")).Git("sparse-checkout", "set", "pkg") // it moves core.bare
	gittest.At(t, at("normal")).Git("config", "core.bare", "true")

	for dir, want := range map[string]bool{
		"git": true, "git/docs": true, "git/main": false, "dot": true, "dot/main": false, "worktreeConfig": true, "worktreeConfig/main": false,
		"normal": false, "normal/pkg": false, ".": false,
	} {
		if got := BesideWorktrees(at(dir)); got != want {
			t.Errorf("%s: %t, want %t", dir, got, want)
		}
	}
	for common, want := range map[string][]string{
		"git/.git": {"git/main"}, "dot/.bare": {"dot/main"}, "normal/.git": {"normal"},
	} {
		if got := Worktrees(at(common)); len(got) != 1 || got[0] != at(want[0]) {
			t.Errorf("%s: worktrees %q, want %q", common, got, want)
		}
	}

	// A repository with a project is not bare because its index is gone, too.
	check(t, os.Remove(at("normal/.git/index")))
	if !BesideWorktrees(at("normal")) || !BesideWorktrees(at("normal/pkg")) {
		t.Error("it does not look like a bare one")
	}
	check(t, os.MkdirAll(at("normal/.gauntlet"), 0o755))
	check(t, os.MkdirAll(at("git/docs/.gauntlet"), 0o755))
	for dir, want := range map[string]bool{"normal": false, "normal/pkg": false, "git": true, "git/docs": false} {
		if got := BesideWorktrees(at(dir)); got != want {
			t.Errorf("with a .gauntlet: %s: %t, want %t", dir, got, want)
		}
	}
	if got := Worktrees(at("normal/.git")); !slices.Equal(got, []string{at("normal")}) {
		t.Errorf("worktrees with a .gauntlet: %q", got)
	}
}

func TestRepositoryThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "nonsense": "hello\n", "nowhere": "gitdir: " + filepath.Join(t.TempDir(), "gone") + "\n"} {
		dir := t.TempDir()
		check(t, os.WriteFile(filepath.Join(dir, ".git"), []byte(text), 0o644))
		if common, _, found := Repository(dir); found {
			t.Errorf("%s: %s", name, common)
		}
	}
}

func TestWorktreeOf(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		filepath.Join(dir, "abs", ".git") + "\n": filepath.Join(dir, "abs"),
		"../../../../tree/.git\n":                filepath.Join(dir, "tree"), // since git 2.48
		"../../../../tree/.git\r\n":              filepath.Join(dir, "tree"),
		"":                                       "",
	} {
		gitDir := filepath.Join(dir, "main", ".git", "worktrees", "tree")
		check(t, os.MkdirAll(gitDir, 0o755))
		check(t, os.WriteFile(filepath.Join(gitDir, "gitdir"), []byte(text), 0o644))
		if got := WorktreeOf(gitDir); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, gitDir := range []string{"", filepath.Join(dir, "none")} {
		if got := WorktreeOf(gitDir); got != "" {
			t.Errorf("%q: %s", gitDir, got)
		}
	}
}
