package paths

import (
	"bytes"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

// entry gives the user an entry with that home directory.
func entry(t *testing.T, home string) {
	t.Helper()
	was := currentUser
	t.Cleanup(func() { currentUser = was })
	currentUser = func() (*user.User, error) { return &user.User{HomeDir: home}, nil }
}

// Claude Code takes the home of the user's entry where HOME says nothing; a hook that does not would find no approval.
func TestE18WithoutHOMETheUsersEntryCounts(t *testing.T) {
	entry(t, rooted("/entry"))
	setenv(t, nil)
	for what, ask := range map[string]func() (string, error){
		"/entry/.local/state/stopgate":             StateDir,
		"/entry/.config/agent-gauntlet/config.yml": GlobalConfig,
		"/entry/.claude":                           ClaudeConfigDir,
		"/entry/.claude/ccc":                       func() (string, error) { return SupervisorDir(os.Getenv) },
	} {
		if got, err := ask(); got != filepath.FromSlash(rooted(what)) || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, rooted(what))
		}
	}
	if got := ClaudeDir(os.Getenv, "", false); got != filepath.FromSlash(rooted("/entry/.claude")) {
		t.Errorf("client: %q", got)
	}

	t.Run("HOME counts first", func(t *testing.T) {
		setenv(t, map[string]string{"HOME": rooted("/h")})
		if got := Home(os.Getenv); got != rooted("/h") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a variable for the state counts first", func(t *testing.T) {
		setenv(t, map[string]string{"XDG_STATE_HOME": rooted("/x")})
		if got, _ := StateDir(); got != rooted("/x/stopgate") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("an entry without a path is none", func(t *testing.T) {
		entry(t, "here")
		if got, err := StateDir(); err == nil {
			t.Errorf("got %q", got)
		}
	})
}

// os.UserHomeDir knows of no entry.
func TestHomeIsFoundInOnePlace(t *testing.T) {
	for _, dir := range []string{"../../../internal", "../../../cmd"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte("os.UserHomeDir(")) {
				t.Errorf("%s calls os.UserHomeDir: take paths.Home", path)
			}
			return err
		})
		check(t, err)
	}
}
