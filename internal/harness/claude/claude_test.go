package claude

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

func TestArgs(t *testing.T) {
	got := Call{
		Model: "opus", Tools: []string{"Read", "Grep"}, MaxTurns: 7,
		Schema: "{\n \"$schema\": \"x\", \"type\": \"object\"\n}",
	}.Args()
	want := []string{
		"-p", "--setting-sources", "user",
		"--settings", `{"disableAllHooks":true,"autoMemoryEnabled":false,"includeGitInstructions":false}`, "--strict-mcp-config",
		"--tools", "Read,Grep", "--allowedTools", "Read,Grep", "--no-session-persistence", "--max-turns", "7", "--output-format", "json",
		"--json-schema", `{"type":"object"}`, "--model=opus",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The client's lists of tools take every argument up to the next flag, and a
// model that looks like a flag must not become one.
func TestArgsCannotBeMistaken(t *testing.T) {
	for _, c := range []Call{{}, {Tools: []string{"Read"}}, {Model: "--dangerously-skip-permissions"}, {Schema: "no JSON"}} {
		args := c.Args()
		for _, list := range []string{"--tools", "--allowedTools"} {
			if i := slices.Index(args, list); i >= 0 && !strings.HasPrefix(args[i+2], "--") {
				t.Errorf("%v: %s takes %q too", c, list, args[i+2])
			}
		}
		if slices.Contains(args, "--dangerously-skip-permissions") {
			t.Errorf("a model became a flag: %q", args)
		}
		if i := slices.Index(args, "--settings"); i < 0 || !strings.Contains(args[i+1], `"disableAllHooks":true`) {
			t.Errorf("hooks may run: %q", args)
		}
	}
}

func TestEnviron(t *testing.T) {
	given := []string{
		"PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s", "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SSE_PORT=1",
		"CLAUDE_PROJECT_DIR=/p", "AI_AGENT=x", "CLAUDE_EFFORT=high", "CLAUDE_ENV_FILE=/e", "CLAUDE_PLUGIN_ROOT=/r", "CLAUDE_PLUGIN_DATA=/d",
		"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=u", "CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_USE_BEDROCK=1", "CLAUDECODE_OTHER=1",
		"GAUNTLET_STOP_HOOK_ACTIVE=", "STOPGATE_INSIDE=0", "CCC_SUPERVISOR_HOOK=0", "EMPTY=", "NEWLINE=a\nCLAUDECODE=1",
	}
	before := slices.Clone(given)
	want := []string{
		"PATH=/bin", "ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=u", "CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_USE_BEDROCK=1", "CLAUDECODE_OTHER=1",
		"EMPTY=", "NEWLINE=a\nCLAUDECODE=1", "STOPGATE_INSIDE=1", "GAUNTLET_STOP_HOOK_ACTIVE=1", "CCC_SUPERVISOR_HOOK=1",
	}
	if diff := cmp.Diff(want, Environ(given)); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(before, given) {
		t.Error("the caller's environment was changed")
	}
}

// What starts something outside a session leaves our marks behind too.
func TestMarksAreOfASession(t *testing.T) {
	for _, name := range []string{InsideVariable, ActiveVariable, SupervisorVariable} {
		if !environ.OfSession(name) {
			t.Error(name)
		}
	}
}

const (
	initLine    = `{"type":"system","subtype":"init","tools":["Read"]}`
	successLine = `{"type":"result","subtype":"success","is_error":false,"result":"{\"a\":1}","structured_output":{"a":1},"session_id":"s"}`
	textLine    = `{"type":"result","subtype":"success","is_error":false,"result":"words","session_id":"s"}`
	errorLine   = `{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 no","session_id":"s"}`
	turnsLine   = `{"type":"result","subtype":"error_max_turns","is_error":true,"session_id":"s","errors":["Reached maximum number of turns (1)"]}`
	unknownLine = `{"type":"result","subtype":"error_during_execution","is_error":false}`
)

func TestParseResult(t *testing.T) {
	tests := []struct {
		name, stdout, text, structured, err string
	}{
		{name: "json", stdout: successLine + "\n", text: `{"a":1}`, structured: `{"a":1}`},
		{name: "json spread over lines", stdout: "{\n\"type\": \"result\",\n\"result\": \"words\"\n}\n", text: "words"},
		{name: "json and verbose", stdout: "[" + initLine + "," + textLine + "]\n", text: "words"},
		{name: "stream-json", stdout: initLine + "\n" + textLine + "\n", text: "words"},
		{name: "stream-json with noise", stdout: "warning\n" + initLine + "\n{broken\n" + textLine, text: "words"},
		{name: "the last counts", stdout: errorLine + "\n" + textLine + "\n", text: "words"},
		{name: "null is no answer", stdout: `{"type":"result","result":"x","structured_output":null}`, text: "x"},
		{name: "error of the API", stdout: errorLine, text: "API Error: 400 no", err: "API Error: 400 no"},
		{name: "error of the API that is not marked", stdout: `{"type":"result","subtype":"success","result":"API Error: 529 Overloaded"}`, text: "API Error: 529 Overloaded", err: "API Error: 529 Overloaded"},
		{name: "out of turns", stdout: turnsLine, err: "error_max_turns: Reached maximum number of turns (1)"},
		{name: "an error that is not marked as one", stdout: unknownLine, err: "error_during_execution: no reason given"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseResult([]byte(tt.stdout))
			check(t, err)
			if r.Text != tt.text || string(r.Structured) != tt.structured || (r.Structured == nil) != (tt.structured == "") {
				t.Errorf("got %+v", r)
			}
			if got := r.Err(); (got == nil) != (tt.err == "") || got != nil && got.Error() != tt.err {
				t.Errorf("error %v, want %q", got, tt.err)
			}
		})
	}
}

func TestNoResult(t *testing.T) {
	for _, stdout := range []string{"", "\n", "words", initLine, `{"status":"pass"}`, `[]`, `null`, `"result"`, `{"type":"result"`, `[{"type":"result"`, `{"Type":1,"result":2}`} {
		if r, err := ParseResult([]byte(stdout)); !errors.Is(err, ErrNoResult) {
			t.Errorf("%q: %+v, %v", stdout, r, err)
		}
	}
}

func FuzzParseResult(f *testing.F) {
	for _, seed := range []string{successLine, "[" + initLine + "," + textLine + "]", initLine + "\n" + errorLine, turnsLine, `{"type":"result","structured_output":}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		r, err := ParseResult(stdout)
		if err != nil && (r.Text != "" || r.Structured != nil) {
			t.Errorf("%v, and yet %+v", err, r)
		}
		_ = r.Err()
	})
}

// What silences our hooks is named, and nothing else.
func TestMuted(t *testing.T) {
	for variable, want := range map[string][]string{
		"STOPGATE_INSIDE=1": {InsideVariable}, "STOPGATE_INSIDE=": {}, "GAUNTLET_STOP_HOOK_ACTIVE=0": {ActiveVariable},
		"CCC_SUPERVISOR_HOOK=1": {SupervisorVariable}, "CCC_SUPERVISOR_HOOK=0": {}, "CCC_SUPERVISOR=1": {},
	} {
		if diff := cmp.Diff(want, Muted([]string{"PATH=/bin", variable})); diff != "" {
			t.Errorf("%s: %s", variable, diff)
		}
	}
}
