package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rawNames are what Claude Code calls things in payloads, answers, settings and transcripts, as far as
// the name tells that it is meant: "message" and "cwd" are anyone's words.
var rawNames = []string{
	// payloads and the input of the status line
	"session_id", "transcript_path", "agent_transcript_path", "hook_event_name", "stop_hook_active", "last_assistant_message",
	"background_tasks", "session_crons", "permission_mode", "permission_suggestions", "notification_type", "custom_instructions",
	"tool_name", "tool_input", "tool_response", "tool_calls", "current_dir", "project_dir", "total_cost_usd",
	// the inputs of tools
	"file_path", "notebook_path", "old_string", "new_string", "multiSelect",
	// answers
	"hookSpecificOutput", "hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext", "updatedInput",
	"systemMessage", "stopReason", "suppressOutput",
	// settings
	"disableAllHooks", "allowManagedHooksOnly", "allowedHttpHookUrls", "enabledPlugins", "statusLine",
	// transcripts and the stream of a client without a terminal
	"sessionId", "parentUuid", "logicalParentUuid", "isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage", "queued_command",
	"tool_use", "tool_use_id", "tool_result", "is_error", "structured_output",
	"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation", "server_tool_use",
}

// ownNames are the places outside of the harness wing where such a name is one of ours: in a format that we
// write and read, or in what a user is told.
var ownNames = []struct {
	place string // a file, or a folder that ends in a slash
	names []string
	why   string
}{
	{"internal/record/event/", []string{"stop_hook_active", "tool_name", "notification_type", "input_tokens", "output_tokens"}, "the journal's format"},
	{"internal/session/wake/", []string{"last_assistant_message"}, "a letter's format, which gateways read"},
	{"internal/gate/gauntlet/status.go", []string{"stop_hook_active"}, "a status of the gauntlet"},
	{"internal/gate/stop/stophook.go", []string{"systemMessage", "stopReason"}, "the answer of the older tool's stop-hook, with keys that Claude Code ignores"},
	{"internal/gate/supervisor/document.go", []string{"session_id"}, "the state file of ccc"},
	{"internal/gate/supervisor/state.go", []string{"session_id"}, "the state file of ccc"},
	{"internal/gate/supervisor/supervisor.go", []string{"session_id"}, "the supervisor's log"},
	{"internal/gate/supervisor/review.go", []string{"session_id"}, "the supervisor's log"},
	{"internal/cli/launcher/supervisor.go", []string{"session_id"}, "the supervisor's log, and what --json prints"},
	{"internal/cli/entry/statusline.go", []string{"session_id", "statusLine"}, "the help text"},
}

// A second harness will stand beside Claude Code: what that calls things is known to one wing. The others
// use its types, such as hook.Payload.
func TestRawNamesStayInTheHarnessWing(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(repository, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := filepath.Rel(repository, path)
			if err != nil {
				return err
			}
			if file = filepath.ToSlash(file); strings.HasPrefix(file, "internal/harness/") {
				return nil
			}
			for _, found := range rawNamesIn(t, path, nil) {
				if !isOwnName(file, found.name, used) {
					t.Errorf("%s:%d: %q is a name of Claude Code: read or write it in internal/harness", file, found.line, found.name)
				}
			}
			return nil
		})
		check(t, err)
	}
	for _, own := range ownNames {
		for _, name := range own.names {
			if !used[own.place+" "+name] {
				t.Errorf("%s has no %q any more (%s): take it off the list", own.place, name, own.why)
			}
		}
	}
}

func TestRawNamesAreFound(t *testing.T) {
	source := "package p\n\ntype t struct {\n\tA string `json:\"session_id,omitempty\"`\n}\n\n" +
		"var a = m[\"tool_input\"]\nvar b = `{\"systemMessage\":%s}`\nvar c = \"a session_id, and tool_inputs\"\n"
	found := map[string]int{}
	for _, f := range rawNamesIn(t, "p.go", source) {
		found[f.name] = f.line
	}
	if want := map[string]int{"session_id": 4, "tool_input": 7, "systemMessage": 8}; !maps.Equal(want, found) {
		t.Errorf("found %v, not %v", found, want)
	}
}

// isOwnName reports whether a name is ours there, and marks the line of the list that says so as used.
func isOwnName(file, name string, used map[string]bool) bool {
	for _, own := range ownNames {
		here := own.place == file || strings.HasSuffix(own.place, "/") && strings.HasPrefix(file, own.place)
		if here && slices.Contains(own.names, name) {
			used[own.place+" "+name] = true
			return true
		}
	}
	return false
}

type rawName struct {
	name string
	line int
}

// rawNamesIn are the names in the string literals and struct tags of a Go file.
func rawNamesIn(t *testing.T, path string, source any) (all []rawName) {
	t.Helper()
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	check(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		check(t, err)
		for _, match := range rawNamePattern.FindAllStringSubmatch(`"`+text+`"`, -1) {
			all = append(all, rawName{match[1], files.Position(literal.Pos()).Line})
		}
		return true
	})
	return all
}

// rawNamePattern is a name as it stands in a struct tag, in JSON, or alone.
var rawNamePattern = regexp.MustCompile(`"(` + strings.Join(rawNames, "|") + `)[",]`)
