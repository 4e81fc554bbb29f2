package deny

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

// callOf is a call of a tool in a project with these rules.
func callOf(t *testing.T, root string, rules []config.Deny, tool string, input any) *keeper.Call {
	t.Helper()
	text, err := json.Marshal(input)
	check(t, err)
	payload := &hook.PreToolUsePayload{ToolUse: hook.ToolUse{ToolName: tool, ToolInput: text}}
	payload.HookEventName, payload.CWD = string(hook.PreToolUse), filepath.Join(root, "src")
	return &keeper.Call{Payload: payload, Project: &keeper.Project{Root: root, Config: &config.Project{Deny: rules}}}
}

func TestIssue19RulesDenyToolCalls(t *testing.T) {
	root := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(root, "src"), 0o700))
	check(t, os.WriteFile(filepath.Join(root, "go.sum"), nil, 0o600))
	check(t, os.WriteFile(filepath.Join(root, "README.md"), nil, 0o600))
	locks := config.Deny{Paths: []string{"**/*.lock", "go.sum", "db"}}
	top := config.Deny{Tools: "Write", Paths: []string{"*"}, New: true}
	push := config.Deny{Commands: []string{"git push --force*", "rm -rf /*"}}
	web := config.Deny{Tools: "Web*"}
	everything := []config.Deny{locks, top, push, web}

	file := func(path string) map[string]string { return map[string]string{"file_path": path} }
	command := func(line string) map[string]string { return map[string]string{"command": line} }
	for _, test := range []struct {
		tool   string
		input  map[string]string
		denied string // by which part of a rule; empty: it is not
	}{
		{"Write", file(filepath.Join(root, "a/b/x.lock")), "paths: **/*.lock"},
		{"Edit", file(filepath.Join(root, "x.lock")), "paths: **/*.lock"},
		{"Edit", file("../go.sum"), "paths: go.sum"},
		{"Edit", file(filepath.Join(root, "src/../go.sum")), "paths: go.sum"},
		{"MultiEdit", file(filepath.Join(root, "db/1.sql")), "paths: db"},
		{"NotebookEdit", map[string]string{"notebook_path": filepath.Join(root, "db/n.ipynb")}, "paths: db"},
		{"mcp__files__write_file", map[string]string{"path": filepath.Join(root, "go.sum")}, "paths: go.sum"},
		{"Read", file(filepath.Join(root, "go.sum")), ""},
		{"Edit", file(filepath.Join(root, "src/main.go")), ""},
		{"Edit", file("/etc/x.lock"), ""},
		{"Edit", map[string]string{}, ""},

		{"Write", file(filepath.Join(root, "notes.md")), "paths: *"},
		{"Write", file(filepath.Join(root, "README.md")), ""},
		{"Write", file(filepath.Join(root, "src/notes.md")), ""},
		{"Edit", file(filepath.Join(root, "notes.md")), ""},
		{"Edit", map[string]string{"file_path": filepath.Join(root, "notes.md"), "old_string": ""}, "paths: *"},
		{"Edit", map[string]string{"file_path": filepath.Join(root, "README.md"), "old_string": ""}, ""},

		{"Bash", command("git push --force origin main"), "commands: git push --force*"},
		{"Bash", command("cd /tmp/x && git   push --force"), "commands: git push --force*"},
		{"Bash", command("true; rm -rf /usr/lib"), "commands: rm -rf /*"},
		{"Bash", command("git push origin main"), ""},
		{"Bash", command("  "), ""},
		{"BashOutput", command("git push --force"), ""},

		{"WebFetch", map[string]string{}, "tools: Web*"},
	} {
		call := callOf(t, root, everything, test.tool, test.input)
		if !(Keeper{}).Applies(call) {
			t.Fatal("does not apply")
		}
		v := Keeper{}.Judge(t.Context(), call)
		if got := v.Blocks(); got != (test.denied != "") || !strings.HasSuffix(v.Reason, test.denied) {
			t.Errorf("%s %v: blocks %t, reason %q; want %q", test.tool, test.input, got, v.Reason, test.denied)
		}
	}
}

func TestIssue19AFileIsDeniedByAllItsNames(t *testing.T) {
	root := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(root, "src"), 0o700))
	check(t, os.WriteFile(filepath.Join(root, "go.sum"), nil, 0o600))
	if err := os.Symlink("../go.sum", filepath.Join(root, "src", "harmless")); err != nil {
		environtest.Missing(t, "symbolic links", err)
	}
	other := filepath.Join(t.TempDir(), "other")
	check(t, os.Symlink(root, other))
	rules := []config.Deny{{Paths: []string{"go.sum", "src/new.go", "db"}, Message: "Ask first."}}
	for _, path := range []string{"src/harmless", "go.sum"} {
		v := Keeper{}.Judge(t.Context(), callOf(t, root, rules, "Edit", map[string]string{"file_path": filepath.Join(other, path)}))
		if !v.Blocks() || !strings.HasPrefix(v.Reason, "stopgate: Edit is denied in this project: paths: ") || !strings.HasSuffix(v.Reason, "\nAsk first.") {
			t.Errorf("%s: %+v", path, v)
		}
	}
	for _, path := range []string{"src/new.go", "db/new/1.sql"} {
		v := Keeper{}.Judge(t.Context(), callOf(t, root, rules, "Write", map[string]string{"file_path": filepath.Join(other, path)}))
		if !v.Blocks() {
			t.Errorf("%s, which is new and behind a link, is not denied", path)
		}
	}

	// By none of its names is a file new that there is.
	news := []config.Deny{{Tools: "Write", Paths: []string{"*"}, New: true}}
	for path, denied := range map[string]bool{"go.sum": false, "new.sum": true} {
		v := Keeper{}.Judge(t.Context(), callOf(t, other, news, "Write", map[string]string{"file_path": filepath.Join(other, path)}))
		if v.Blocks() != denied {
			t.Errorf("%s: denied is %t", path, v.Blocks())
		}
	}
}

// A rule that is not about new files is about its own tools alone.
func TestIssue19AnEditIsAWriteOnlyForNewFiles(t *testing.T) {
	root := t.TempDir()
	input := map[string]string{"file_path": filepath.Join(root, "notes.md"), "old_string": ""}
	for _, isNew := range []bool{false, true} {
		rules := []config.Deny{{Tools: "Write", Paths: []string{"*"}, New: isNew}}
		if v := (Keeper{}).Judge(t.Context(), callOf(t, root, rules, "Edit", input)); v.Blocks() != isNew {
			t.Errorf("new: %t: denied is %t", isNew, v.Blocks())
		}
	}
}

// Whichever field names the file, and whatever stands beside it.
func TestIssue19EveryFileOfACallCounts(t *testing.T) {
	root := t.TempDir()
	rules := []config.Deny{{Paths: []string{"src/go.sum"}}}
	for _, test := range []struct {
		tool  string
		input map[string]any
	}{
		{"Write", map[string]any{"file_path": "go.sum", "path": []int{1}}},
		{"Write", map[string]any{"file_path": "main.go", "path": "go.sum"}},
		{"mcp__fs__move_file", map[string]any{"source": "go.sum", "destination": "x"}},
		{"mcp__fs__move_file", map[string]any{"source": "x", "destination": "go.sum"}},
		{"mcp__fs__rename", map[string]any{"old_path": "go.sum", "new_path": "x"}},
		{"mcp__fs__rename", map[string]any{"old_path": "x", "new_path": "go.sum"}},
		{"mcp__fs__remove", map[string]any{"path": []string{"x", "go.sum"}}},
		{"mcp__fs__remove", map[string]any{"paths": []string{"x", "go.sum"}}},
		{"mcp__ide__apply_edit", map[string]any{"uri": "file://" + filepath.ToSlash(root) + "/src/go.sum"}},
		{"mcp__fs__write_files", map[string]any{"files": []any{map[string]string{"path": "x"}, map[string]string{"path": "go.sum", "content": "y"}}}},
	} {
		if v := (Keeper{}).Judge(t.Context(), callOf(t, root, rules, test.tool, test.input)); !v.Blocks() {
			t.Errorf("%s %v is not denied", test.tool, test.input)
		}
	}
}

// worktreeOf makes what git makes for a linked worktree.
func worktreeOf(t *testing.T, repository, top string) {
	t.Helper()
	own := filepath.Join(repository, ".git", "worktrees", filepath.Base(top))
	check(t, os.MkdirAll(own, 0o700))
	check(t, os.MkdirAll(top, 0o700))
	check(t, os.WriteFile(filepath.Join(own, "commondir"), []byte("../..\n"), 0o600))
	check(t, os.WriteFile(filepath.Join(own, "gitdir"), []byte(filepath.Join(top, ".git")+"\n"), 0o600))
	check(t, os.WriteFile(filepath.Join(top, ".git"), []byte("gitdir: "+own+"\n"), 0o600))
}

func TestIssue19RulesHoldInEveryWorktree(t *testing.T) {
	dir := t.TempDir()
	main, linked, inside := filepath.Join(dir, "main"), filepath.Join(dir, "wt"), filepath.Join(dir, "main", ".claude", "worktrees", "x")
	worktreeOf(t, main, linked)
	worktreeOf(t, main, inside)
	check(t, os.MkdirAll(filepath.Join(main, "app", "src"), 0o700))
	check(t, os.MkdirAll(filepath.Join(linked, "app", "src"), 0o700))
	check(t, os.WriteFile(filepath.Join(linked, "README.md"), nil, 0o600))
	check(t, os.MkdirAll(filepath.Join(dir, "other", ".git"), 0o700))
	rules := []config.Deny{{Paths: []string{"go.sum", "db"}}, {Tools: "Write", Paths: []string{"*.md"}, New: true}}

	for _, test := range []struct {
		root, tool, path string
		denied           bool
	}{
		{main, "Edit", "../../wt/go.sum", true},
		{main, "Edit", filepath.Join(linked, "db", "new", "1.sql"), true},
		{main, "Edit", filepath.Join(inside, "go.sum"), true},
		{linked, "Edit", filepath.Join(main, "go.sum"), true},
		{linked, "Edit", filepath.Join(inside, "go.sum"), true},
		{main, "Write", filepath.Join(linked, "NEW.md"), true},
		{main, "Write", filepath.Join(linked, "README.md"), false},
		{filepath.Join(main, "app"), "Edit", filepath.Join(linked, "app", "go.sum"), true},
		{filepath.Join(main, "app"), "Edit", filepath.Join(linked, "go.sum"), false},
		{main, "Edit", filepath.Join(linked, "app", "go.sum"), false},
		{main, "Edit", filepath.Join(dir, "other", "go.sum"), false},
		{main, "Edit", filepath.Join(dir, "go.sum"), false},
	} {
		v := Keeper{}.Judge(t.Context(), callOf(t, test.root, rules, test.tool, map[string]string{"file_path": test.path}))
		if v.Blocks() != test.denied {
			t.Errorf("project %s, %s %s: denied is %t, want %t", test.root, test.tool, test.path, v.Blocks(), test.denied)
		}
	}
}

func TestIssue19OtherCallsAreNotOurs(t *testing.T) {
	call := callOf(t, t.TempDir(), nil, "Write", nil)
	if (Keeper{}).Applies(call) {
		t.Error("applies without a rule")
	}
	call.Project = nil
	if (Keeper{}).Applies(call) {
		t.Error("applies without a project")
	}
}

// However long the project's patterns and words are, the agent is told in 600 characters.
func TestTheReasonIsShort(t *testing.T) {
	for _, length := range []int{1, 100, 1000} {
		long := strings.Repeat("é", length)
		text := reason(long, "paths: "+long, long)
		if n := utf8.RuneCountInString(text); n > keeper.MaxFrame || !strings.HasPrefix(text, "stopgate: é") || !strings.Contains(text, "é\né") {
			t.Errorf("%d characters: %s", n, text)
		}
	}
}
