//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever is done to an installation: doctor calls it live if, and only if, the
// real client is blocked by it.
func TestDoctorAgreesWithTheClient(t *testing.T) {
	t.Parallel()
	replace := func(from, to string) func(*testing.T, *bench) {
		return func(t *testing.T, b *bench) {
			path := filepath.Join(b.Project, ".claude/settings.local.json")
			text, err := os.ReadFile(path)
			check(t, err)
			changed := strings.Replace(string(text), from, to, 1)
			if changed == string(text) {
				t.Fatalf("%q is not in the settings", from)
			}
			b.Write(path, changed)
		}
	}
	for name, tt := range map[string]struct {
		harm func(*testing.T, *bench)
		live bool // of the pinned client
	}{
		"as installed":      {func(*testing.T, *bench) {}, true},
		"another key":       {replace(`{`, `{"model":"claude-opus-4-8",`), true},
		"a matcher":         {replace(`"hooks": [`, `"matcher": "*", "hooks": [`), true},
		"all hooks off":     {replace(`{`, `{"disableAllHooks":true,`), false},
		"in the background": {replace(`"timeout": 1200`, `"timeout": 1200, "async": true`), false},
		"under a condition": {replace(`"timeout": 1200`, `"timeout": 1200, "if": "Bash(*)"`), false},
		"a wrong type":      {replace(`"timeout": 1200`, `"timeout": "1200"`), false},
		"broken JSON":       {replace(`{`, `{{`), false},
		"the program has moved": {func(t *testing.T, b *bench) {
			path := filepath.Join(b.Project, ".claude/settings.local.json")
			text, err := os.ReadFile(path)
			check(t, err)
			b.Write(path, strings.ReplaceAll(string(text), "/stopgate ", "/gone/stopgate "))
		}, false},
		"marked as ours": {replace(`{`, `{"env":{"STOPGATE_INSIDE":"1"},`), true},
		"another state":  {replace(`{`, `{"env":{"STOPGATE_STATE_DIR":"`+filepath.Join(t.TempDir(), "elsewhere")+`"},`), true},
		"uninstalled":    {func(t *testing.T, b *bench) { b.Stopgate("hooks", "uninstall", "--yes").mustPass(t) }, false},
		"not approved":   {func(t *testing.T, b *bench) { b.Stopgate("trust", "--revoke", "--yes").mustPass(t) }, false},
		"switched off":   {func(t *testing.T, b *bench) { b.Stopgate("off", "--for", "1h", "--yes").mustPass(t) }, false},
		"started in a folder": {func(t *testing.T, b *bench) {
			b.Project = filepath.Join(b.Project, "sub")
			check(t, os.Mkdir(b.Project, 0o700))
		}, false},
		"started in a worktree": {func(_ *testing.T, b *bench) { b.goToWorktree("../beside") }, false},
		"in a worktree below":   {func(_ *testing.T, b *bench) { b.goToWorktree(".claude/worktrees/below") }, false},
		"in a new worktree that has its own": {func(t *testing.T, b *bench) {
			b.goToWorktree("../beside")
			b.Stopgate("hooks", "install").mustPass(t)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Guard(untilFixed)
			tt.harm(t, b)
			doctor := b.Stopgate("doctor")
			b.Run("do it")
			blocked := false
			for _, r := range b.API.Requests() {
				blocked = blocked || strings.HasPrefix(r.LastUserText(), "Stop hook feedback:\nfix it first")
			}
			if blocked != tt.live && os.Getenv("CLAUDE_BIN") == "" {
				t.Errorf("the client was blocked: %t", blocked)
			}
			if live := doctor.Code == 0; live != blocked {
				t.Errorf("the client was blocked: %t; doctor says live: %t\n%s%s", blocked, live, doctor.Stdout, doctor.Stderr)
			}
		})
	}
}

// goToWorktree starts the client in a worktree of the first commit, which has neither the hooks nor
// the configuration.
func (b *bench) goToWorktree(path string) {
	b.t.Helper()
	b.Exec("git", "worktree", "add", "-q", path).mustPass(b.t)
	b.Project = filepath.Join(b.Project, path)
}
