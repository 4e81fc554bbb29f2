package claude

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForkCommand(t *testing.T) {
	args, stdin := Fork{Session: "abc123", Schema: `{"type":"object"}`, Prompt: "Look."}.Command()
	want := []string{
		"-p", "--fork-session", "--resume", "abc123", "--verbose", "--output-format", "stream-json",
		"--disallowedTools", "Edit,NotebookEdit,Write", "--setting-sources", "user",
		"--settings", `{"disableAllHooks":true,"autoMemoryEnabled":false,"includeGitInstructions":false}`, "--strict-mcp-config",
		"--no-session-persistence", "--json-schema", `{"type":"object"}`, "Look.",
	}
	if diff := cmp.Diff(want, args); diff != "" {
		t.Error(diff)
	}
	if stdin != nil {
		t.Errorf("stdin %q", stdin)
	}
	if slices.Contains(args, "--system-prompt") {
		t.Error("the client's own prompt is replaced")
	}
}

// What looks like a flag, or cannot be an argument, must reach the client as
// it is.
func TestForkCommandCannotBeMistaken(t *testing.T) {
	for _, prompt := range []string{"--model x", "- a list\n", "\xff\xfeL\x00o\x00", strings.Repeat("x", 200<<10)} {
		args, stdin := Fork{Session: "s", Prompt: prompt}.Command()
		if string(stdin) != prompt || slices.Contains(args, prompt) {
			t.Errorf("%.20q is an argument", prompt)
		}
	}
	args, _ := Fork{Session: "-x"}.Command()
	if !slices.Contains(args, "--resume=-x") {
		t.Errorf("got %q", args)
	}
}

func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no executable bits")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"claude": 0o755, "own": 0o755, "text": 0o644} {
		check(t, os.WriteFile(filepath.Join(dir, name), nil, mode))
	}
	path := "PATH=" + dir
	for _, tt := range []struct {
		env  []string
		want string // base name, or part of the error
		ok   bool
	}{
		{[]string{path}, "claude", true},
		{[]string{path, "CCC_CLAUDE=", "CLAUDE_BIN="}, "claude", true},
		{[]string{path, "CLAUDE_BIN=" + filepath.Join(dir, "own")}, "own", true},
		{[]string{path, "CLAUDE_BIN=own"}, "own", true},
		{[]string{path, "CCC_CLAUDE=" + filepath.Join(dir, "own"), "CLAUDE_BIN=/nowhere"}, "own", true},
		{[]string{path, "CCC_CLAUDE=" + filepath.Join(dir, "text")}, "CCC_CLAUDE: ", false},
		{[]string{path, "CLAUDE_BIN=" + filepath.Join(dir, "missing")}, "CLAUDE_BIN: ", false},
		{[]string{path, "CLAUDE_BIN=missing"}, `CLAUDE_BIN is "missing"`, false},
		{[]string{"PATH=/nowhere"}, "claude is not on the PATH", false},
	} {
		got, err := Find(tt.env)
		switch {
		case tt.ok && (err != nil || got != filepath.Join(dir, tt.want)):
			t.Errorf("%q: %q, %v", tt.env, got, err)
		case !tt.ok && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%q: %q, %v", tt.env, got, err)
		}
	}
}

func TestInside(t *testing.T) {
	for entry, want := range map[string]bool{
		"STOPGATE_INSIDE=1": true, "CCC_SUPERVISOR_HOOK=1": true, "CCC_SUPERVISOR_HOOK=0": false, "CCC_SUPERVISOR_HOOK=": false, "CCC_SUPERVISOR=1": false,
	} {
		if got := Inside([]string{entry}); got != want {
			t.Errorf("%s: %t", entry, got)
		}
	}
}
