package paths

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// tree makes the named files and directories ("name/") below a new directory.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	for _, name := range names {
		path := filepath.Join(root, name)
		dir := path
		if name[len(name)-1] != '/' {
			dir = filepath.Dir(path)
		}
		check(t, os.MkdirAll(dir, 0o755))
		if dir != path {
			check(t, os.WriteFile(path, nil, 0o600))
		}
	}
	return root
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	check(t, os.Chmod(path, mode))
}

// The starts come in the order in which a hook call gives them: the payload's
// cwd, CLAUDE_PROJECT_DIR, the process's own directory.
func TestRulingC8ProjectRoot(t *testing.T) {
	const config = ".gauntlet/config.yml"
	tests := []struct {
		name   string
		files  []string
		starts []string
		want   string // "-" is none
	}{
		{"in the directory itself", []string{"p/" + config}, []string{"p"}, "p"},
		{"above", []string{"p/" + config, "p/a/b/"}, []string{"p/a/b"}, "p"},
		{"the nearest wins", []string{"p/" + config, "p/a/" + config, "p/a/b/"}, []string{"p/a/b"}, "p/a"},
		{"cwd before the project directory", []string{"p/" + config, "q/" + config}, []string{"p", "q"}, "p"},
		{"left by cd: the project directory", []string{"elsewhere/", "q/" + config}, []string{"elsewhere", "q", "r"}, "q"},
		{"at last the process's own", []string{"a/", "b/", "c/" + config}, []string{"a", "b", "c"}, "c"},
		{"none", []string{"a/", "b/"}, []string{"a", "b"}, "-"},
		{"not above the git root", []string{"p/" + config, "p/repo/.git/", "p/repo/a/"}, []string{"p/repo/a"}, "-"},
		{"at the git root", []string{"repo/" + config, "repo/.git/", "repo/a/"}, []string{"repo/a"}, "repo"},
		{"below the git root", []string{"repo/.git/", "repo/a/" + config, "repo/a/b/"}, []string{"repo/a/b"}, "repo/a"},
		{"a worktree's .git is a file", []string{"p/" + config, "p/tree/.git", "p/tree/a/"}, []string{"p/tree/a"}, "-"},
		{"in a worktree", []string{"p/tree/.git", "p/tree/" + config, "p/tree/a/"}, []string{"p/tree/a"}, "p/tree"},
		{"the git root ends one walk, not all", []string{"p/" + config, "p/repo/.git/", "q/" + config}, []string{"p/repo", "q"}, "q"},
		{"a directory named config.yml is none", []string{"p/" + config + "/"}, []string{"p"}, "-"},
		{".gauntlet alone is none", []string{"p/.gauntlet/checks/a.yml"}, []string{"p"}, "-"},
		{"a directory that is gone", []string{"p/" + config}, []string{"p/gone/deeper"}, "p"},
		{"spaces", []string{"a b 'c'/" + config, "a b 'c'/d/"}, []string{"a b 'c'/d"}, "a b 'c'"},
		{"unclean", []string{"p/" + config, "p/a/"}, []string{"p/a/../a/."}, "p"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, tt.files...)
			check(t, os.Chmod(root, 0o755))
			var starts []string
			for _, start := range tt.starts {
				starts = append(starts, root+"/"+start)
			}
			got, found := ProjectRoot(HasConfig, starts...)
			want := filepath.Join(root, tt.want)
			if tt.want == "-" {
				want = ""
			}
			if got != want || found != (want != "") {
				t.Errorf("got %q, %t; want %q", got, found, want)
			}
		})
	}
}

func TestRulingC8StartsThatAreNoDirectory(t *testing.T) {
	root := tree(t, ".gauntlet/config.yml")
	t.Chdir(root)
	for _, start := range []string{"", ".", "a", "..", "./.gauntlet"} {
		if got, found := ProjectRoot(HasConfig, start); found {
			t.Errorf("%q: got %q; a relative start says nothing", start, got)
		}
		if got, _ := ProjectRoot(HasConfig, start, root); got != root {
			t.Errorf("%q: got %q, want the next start's", start, got)
		}
	}
	if _, found := ProjectRoot(HasConfig); found {
		t.Error("no start: want nothing")
	}
	if _, found := ProjectRoot(HasConfig, "/"); found {
		t.Error("the root of the file system: want nothing")
	}
}

func TestWhatAProjectIsIsForTheCallerToSay(t *testing.T) {
	root := tree(t, "p/a/b/", "p/a/.gauntlet/config.yml")
	approved := func(dir string) bool { return dir == filepath.Join(root, "p") }
	for _, start := range []string{"p", "p/a", "p/a/b"} {
		if got, _ := ProjectRoot(approved, filepath.Join(root, start)); got != filepath.Join(root, "p") {
			t.Errorf("from %s: got %q", start, got)
		}
	}
}

// A stranger may leave files in directories that everybody can write to.
func TestStrangersConfigIsNotOurs(t *testing.T) {
	const config = ".gauntlet/config.yml"
	tests := []struct {
		name  string
		mode  os.FileMode
		files []string
		start string
		found bool
	}{
		{"above, outside a repository", 0o777, []string{config, "work/"}, "work", false},
		{"above, as /tmp", 0o777 | os.ModeSticky, []string{config, "work/"}, "work", false},
		{"as /tmp, and it is where the agent stands", 0o777 | os.ModeSticky, []string{config}, ".", false},
		{"as /tmp, dressed up as a repository", 0o777 | os.ModeSticky, []string{config, ".git/", "work/"}, "work", false},
		{"a repository on a file system without modes", 0o777, []string{config, ".git/", "work/"}, "work", true},
		{"a directory on a file system without modes", 0o777, []string{config}, ".", true},
		{"a directory of one's own", 0o755, []string{config, "work/"}, "work", true},
		{"one's own project within /tmp", 0o777 | os.ModeSticky, []string{"work/" + config, "work/a/"}, "work/a", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, tt.files...)
			chmod(t, root, tt.mode)
			if got, found := ProjectRoot(HasConfig, filepath.Join(root, tt.start)); found != tt.found {
				t.Errorf("got %q, %t; want %t", got, found, tt.found)
			}
		})
	}
}

func TestGitRoot(t *testing.T) {
	root := tree(t, "repo/.git/", "repo/a/", "repo/sub/.git", "repo/sub/b/")
	for start, want := range map[string]string{"repo/a": "repo", "repo": "repo", "repo/sub/b": "repo/sub"} {
		if got, ok := GitRoot(filepath.Join(root, start)); !ok || got != filepath.Join(root, want) {
			t.Errorf("%s: got %q, want %q", start, got, want)
		}
	}
	if got, ok := GitRoot(root); ok {
		t.Errorf("got %q, want none", got)
	}
}
