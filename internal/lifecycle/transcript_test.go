package lifecycle

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/agentdir"
	"github.com/stopgate/stopgate/internal/hook"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The lines are the client's, shortened.
const (
	faultLine  = `{"type":"assistant","isSidechain":false,"message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"You've hit your session limit · resets 7:26pm (UTC)"}]},"error":"rate_limit","isApiErrorMessage":true,"apiErrorStatus":429}` + "\n"
	useLine    = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"make"}}]}}` + "\n"
	resultLine = `{"type":"user","message":{"content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"ok"}]}}` + "\n"
)

func TestLastError(t *testing.T) {
	fault, found := lastError([]byte(useLine + resultLine + faultLine))
	if want := (apiFault{"rate_limit", "You've hit your session limit · resets 7:26pm (UTC)"}); !found || fault != want {
		t.Errorf("%+v, %t", fault, found)
	}
	for text, word := range map[string]string{
		strings.Replace(faultLine, `"rate_limit"`, `{"type":"x"}`, 1):    "unknown",
		strings.Replace(faultLine, `"error":"rate_limit",`, "", 1):       "unknown",
		strings.Replace(faultLine, `"rate_limit"`, `"a b; rm -rf /"`, 1): "unknown",
		strings.Replace(faultLine, `"rate_limit"`, `"server_error"`, 1):  "server_error",
	} {
		if fault, found := lastError([]byte(text)); !found || fault.word != word {
			t.Errorf("%s: %+v, %t", text, fault, found)
		}
	}
}

func TestTail(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t")
	check(t, os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600))
	for size, want := range map[int64]string{100: "one\ntwo\nthree\n", 14: "one\ntwo\nthree\n", 13: "two\nthree\n", 7: "three\n", 6: "", 3: ""} {
		if text, err := tail(path, size); err != nil || string(text) != want {
			t.Errorf("the last %d bytes: %q, %v; want %q", size, text, err, want)
		}
	}
	if text, err := tail(dir, 10); len(text) > 0 || err != nil {
		t.Errorf("a directory: %q, %v", text, err)
	}
	if _, err := tail(path+"x", 10); err == nil {
		t.Error("a missing file")
	}
}

func FuzzLastError(f *testing.F) {
	f.Add([]byte(faultLine))
	f.Add([]byte(useLine + "\n{\n" + faultLine + `{"type":"user`))
	f.Fuzz(func(t *testing.T, text []byte) {
		fault, found := lastError(text)
		if found && (fault.word == "" || len(fault.word) > 64 || !bytes.Contains(text, []byte("assistant"))) {
			t.Errorf("%q is %+v", text, fault)
		}
		if c := clip(fault.text, 500); len(c) > 500 || utf8.ValidString(fault.text) && !utf8.ValidString(c) {
			t.Errorf("%q is cut to %q", fault.text, c)
		}
	})
}

// However the transcript grows, a result is found once it is whole.
func FuzzConversation(f *testing.F) {
	f.Add([]byte(useLine+resultLine), uint8(7), uint8(0))
	f.Add([]byte(`{"tool_`+"\n"+resultLine+useLine), uint8(1), uint8(40))
	f.Fuzz(func(t *testing.T, text []byte, step, since uint8) {
		read := func(step int) bool {
			c := newConversation(&hook.PermissionRequestPayload{ToolUse: hook.ToolUse{ToolName: "Bash", ToolInput: []byte(`{"command":"make"}`)}}, agentdir.Permission)
			c.since = int64(since)
			for rest := text; len(rest) > 0; {
				n := min(len(rest), step)
				c.at += int64(n)
				if c.take(rest[:n]) {
					return true
				}
				rest = rest[n:]
			}
			return false
		}
		if whole, parts := read(max(len(text), 1)), read(max(int(step), 1)); whole && !parts {
			t.Errorf("found in one go, and not in parts of %d: %q", step, text)
		}
	})
}

func TestConversation(t *testing.T) {
	asked := func(tool, input string) *conversation {
		return newConversation(&hook.PermissionRequestPayload{ToolUse: hook.ToolUse{ToolName: tool, ToolInput: []byte(input)}}, typeOf(tool))
	}
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
		c    *conversation
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
		tt.c.at = int64(len(tt.text))
		if got := tt.c.take([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	known := asked("Bash", `{"command":"rm"}`)
	known.id, known.at = "toolu_1", int64(len(resultLine))
	if !known.take([]byte(resultLine)) {
		t.Error("the id is not enough")
	}
	old := asked("Bash", input)
	old.at, old.since = int64(len(useLine+resultLine)), int64(len(useLine+resultLine))
	if old.take([]byte(useLine + resultLine)) {
		t.Error("an older result counts")
	}
}
