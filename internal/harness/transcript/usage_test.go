package transcript

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

func TestUsageOf(t *testing.T) {
	got, ok := UsageOf([]byte(`{"type":"assistant","uuid":"u","timestamp":"2026-11-18T12:00:00Z","message":{"id":"m","model":"x","usage":{` +
		`"input_tokens":1,"output_tokens":"?","cache_read_input_tokens":-3,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":9},"speed":"fast"}}}`))
	want := Usage{
		Message: "m", Model: "x", Time: time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC),
		Tokens: Tokens{Input: 1, WriteHour: 5, Fast: true},
	}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(ok, diff)
	}
	// A time that cannot be read takes nothing from the rest.
	if u, ok := UsageOf([]byte(`{"type":"assistant","uuid":"u","timestamp":7,"message":{"usage":{"input_tokens":2}}}`)); !ok || u.Message != "u" || u.Input != 2 {
		t.Errorf("%+v, %t", u, ok)
	}
}

// What Compose writes, the others read.
func TestCompose(t *testing.T) {
	line, err := Compose("s", "/work", User, "Fix it.", time.Now())
	check(t, err)
	if text, ok := Request(line); !ok || text != "Fix it." {
		t.Errorf("%q, %t", text, ok)
	}
	if e, ok := Parse(line); !ok || e.Type != User {
		t.Errorf("%+v, %t", e, ok)
	}
	if want := filepath.FromSlash("/home/me/.claude/projects/-work-a-b/s.jsonl"); Path("/home/me/.claude", "/work/a.b", "s") != want {
		t.Errorf("%s is not %s", Path("/home/me/.claude", "/work/a.b", "s"), want)
	}
}

func TestToolsIn(t *testing.T) {
	for line, want := range map[string]Tools{
		`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}},{"type":"text","text":"tool_"}]}}`: {
			Message: "m", Uses: []hook.ToolUse{{ToolName: "Bash", ToolInput: []byte("{}"), ToolUseID: "t"}},
		},
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}`:                    {Results: []string{"t"}},
		`{"type":"user","isSidechain":true,"message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}`: {},
		`{"type":"user","message":{"content":"\"tool_use\""}}`:                                                {},
		`{"tool_`: {},
	} {
		if diff := cmp.Diff(want, ToolsIn([]byte(line))); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}
