package lifecycle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

// asksFor is the use of a tool that is asked about now.
func asksFor(path, tool, input string) *toolUse {
	payload := hook.PermissionRequestPayload{ToolUse: hook.ToolUse{ToolName: tool, ToolInput: []byte(input)}}
	payload.TranscriptPath = path
	return newToolUse(&payload, typeOf(tool))
}

// However the transcript grows, a result is found once it is whole.
func FuzzToolUse(f *testing.F) {
	f.Add([]byte(useLine+resultLine), uint8(7), uint8(0))
	f.Add([]byte(`{"tool_`+"\n"+resultLine+useLine), uint8(1), uint8(40))
	f.Fuzz(func(t *testing.T, text []byte, step, since uint8) {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		read := func(step int) bool {
			at := min(int(since), len(text))
			check(t, os.WriteFile(path, text[:at], 0o600))
			use := asksFor(path, "Bash", `{"command":"make"}`)
			for at < len(text) {
				at = min(at+step, len(text))
				check(t, os.WriteFile(path, text[:at], 0o600))
				if use.settled() {
					return true
				}
			}
			return false
		}
		if whole, parts := read(max(len(text), 1)), read(len(text)/8+int(step)+1); whole && !parts {
			t.Errorf("found in one go, and not in parts of %d: %q", step, text)
		}
	})
}

func TestToolUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	asked := func(tool, input string) *toolUse { return asksFor(path, tool, input) }
	// A message has a line for each of its parts.
	use := func(message, id, tool, input string) string {
		return `{"type":"assistant","message":{"id":"` + message + `","content":[{"type":"tool_use","id":"` + id + `","name":"` + tool + `","input":` + input + "}]}}\n"
	}
	result := func(id string) string { return strings.ReplaceAll(resultLine, "toolu_1", id) }
	const red, blue = `{"questions":[{"question":"Red?"}]}`, `{"questions":[{"question":"Blue?"}]}`
	const input = `{"command" : "make"}`
	plan := strings.ReplaceAll(strings.ReplaceAll(useLine, "Bash", "ExitPlanMode"), `{"command":"make"}`, "{}")
	for _, tt := range []struct {
		name string
		use  *toolUse
		text string
		want bool
	}{
		{"the result", asked("Bash", input), useLine + resultLine, true},
		{"no result", asked("Bash", input), useLine, false},
		{"a result of something else", asked("Bash", `{"command":"rm"}`), useLine + resultLine, false},
		{"another tool's", asked("Write", input), useLine + resultLine, false},
		{"in a side chain", asked("Bash", input), useLine + strings.Replace(resultLine, `{"type"`, `{"isSidechain":true,"type"`, 1), false},
		{"a plan has another input", asked("ExitPlanMode", `{"plan":"x"}`), plan + resultLine, true},
		{"the first of two that are the same", asked("Bash", input), use("m", "1", "Bash", input) + use("m", "2", "Bash", input) + result("1"), false},
		{"both of them", asked("Bash", input), use("m", "1", "Bash", input) + use("m", "2", "Bash", input) + result("1") + result("2"), true},
		{"that of an older message alone", asked("Bash", input), use("m", "1", "Bash", input) + result("1") + use("n", "2", "Bash", input), false},
		{"an older message was given up", asked("Bash", input), use("m", "1", "Bash", input) + use("n", "2", "Bash", input) + result("2"), true},
		{"another question's", asked("AskUserQuestion", red), use("m", "1", "AskUserQuestion", blue) + use("m", "2", "AskUserQuestion", red) + result("1"), false},
		{"the question's", asked("AskUserQuestion", red), use("m", "1", "AskUserQuestion", blue) + use("m", "2", "AskUserQuestion", red) + result("2"), true},
		{"a copy of the request", asked("Bash", input), strings.NewReplacer(`"assistant"`, `"api-request-blob"`, `"user"`, `"api-request-blob"`).Replace(useLine + resultLine), false},
		{"words about it", asked("Bash", input), `{"type":"user","message":{"content":"tool_use toolu_1 tool_result"}}` + "\n", false},
	} {
		check(t, os.WriteFile(path, []byte(tt.text), 0o600))
		if got := tt.use.settled(); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	check(t, os.WriteFile(path, []byte(useLine+resultLine), 0o600))
	if asked("Bash", input).settled() {
		t.Error("an older result counts")
	}
	known := asked("Bash", `{"command":"rm"}`)
	known.id, known.since = "toolu_1", 0
	if !known.settled() {
		t.Error("the id is not enough")
	}
}
