package deny

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
func callOf(t *testing.T, root string, rules []config.Deny, tool string, input map[string]string) *keeper.Call {
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
	rules := []config.Deny{{Paths: []string{"go.sum", "src/new.go"}, Message: "Ask first."}}
	for _, path := range []string{"src/harmless", "go.sum"} {
		v := Keeper{}.Judge(t.Context(), callOf(t, root, rules, "Edit", map[string]string{"file_path": filepath.Join(other, path)}))
		if !v.Blocks() || !strings.HasPrefix(v.Reason, "Ask first.\n\n") {
			t.Errorf("%s: %+v", path, v)
		}
	}
	v := Keeper{}.Judge(t.Context(), callOf(t, root, rules, "Write", map[string]string{"file_path": filepath.Join(other, "src/new.go")}))
	if !v.Blocks() {
		t.Error("a new file in a folder that a link leads to is not denied")
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
