package paths

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// rooted is an absolute path on this system.
func rooted(path string) string {
	if runtime.GOOS == "windows" {
		return "C:" + filepath.FromSlash(path)
	}
	return path
}

// setenv sets the variables and empties the others that paths are made of.
func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	for _, name := range []string{"STOPGATE_STATE_DIR", "OJ_STATE_DIR", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"} {
		t.Setenv(name, env[name])
	}
	environtest.SetHome(t, env["HOME"])
}

func TestStateDir(t *testing.T) {
	cwd := t.TempDir()
	t.Chdir(cwd)
	tests := []struct {
		name string
		env  map[string]string
		want string // empty: an error
	}{
		{"ours first", map[string]string{"STOPGATE_STATE_DIR": rooted("/s"), "OJ_STATE_DIR": rooted("/o"), "XDG_STATE_HOME": rooted("/x"), "HOME": rooted("/h")}, rooted("/s")},
		{"then oj's", map[string]string{"OJ_STATE_DIR": rooted("/o"), "XDG_STATE_HOME": rooted("/x"), "HOME": rooted("/h")}, rooted("/o")},
		{"then XDG", map[string]string{"XDG_STATE_HOME": rooted("/x"), "HOME": rooted("/h")}, rooted("/x/stopgate")},
		{"then home", map[string]string{"HOME": rooted("/h")}, rooted("/h/.local/state/stopgate")},
		{"XDG must be absolute", map[string]string{"XDG_STATE_HOME": "x", "HOME": rooted("/h")}, rooted("/h/.local/state/stopgate")},
		{"ours may be relative", map[string]string{"STOPGATE_STATE_DIR": "s"}, filepath.Join(cwd, "s")},
		{"spaces and newlines", map[string]string{"STOPGATE_STATE_DIR": rooted("/a b\nc")}, rooted("/a b\nc")},
		{"nothing", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			setenv(t, tt.env)
			got, err := StateDir()
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestConfigPaths(t *testing.T) {
	setenv(t, map[string]string{"HOME": rooted("/h")})
	if got, err := GlobalConfig(); got != rooted("/h/.config/agent-gauntlet/config.yml") || err != nil {
		t.Errorf("global config: %q, %v", got, err)
	}
	if got, err := ClaudeConfigDir(); got != rooted("/h/.claude") || err != nil {
		t.Errorf("client: %q, %v", got, err)
	}
	t.Setenv("CLAUDE_CONFIG_DIR", rooted("/c"))
	if got, err := ClaudeConfigDir(); got != rooted("/c") || err != nil {
		t.Errorf("client: %q, %v", got, err)
	}
	setenv(t, nil)
	if got, err := GlobalConfig(); err == nil {
		t.Errorf("without HOME: %q, want an error", got)
	}
	if got, err := ClaudeConfigDir(); err == nil {
		t.Errorf("without HOME: %q, want an error", got)
	}
}

func TestClientDir(t *testing.T) {
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	root := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{root}, names...)...) }
	for name, test := range map[string]struct {
		env      map[string]string
		launched bool
		want     string
	}{
		"at home":                   {map[string]string{home: at("h")}, false, at("h", ".claude")},
		"nobody knows":              {nil, true, ""},
		"its own":                   {map[string]string{home: at("h"), "CLAUDE_CONFIG_DIR": at("c"), "CCC_CONFIG_DIR": at("l")}, false, at("c")},
		"the launcher's":            {map[string]string{home: at("h"), "CLAUDE_CONFIG_DIR": at("c"), "CCC_CONFIG_DIR": at("l")}, true, at("l")},
		"the launcher's has no own": {map[string]string{home: at("h"), "CLAUDE_CONFIG_DIR": at("c")}, true, at("c")},
		"as seen from the cwd":      {map[string]string{"CLAUDE_CONFIG_DIR": "c"}, false, at("cwd", "c")},
	} {
		if got := ClaudeDir(func(name string) string { return test.env[name] }, at("cwd"), test.launched); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
