package transcript

import (
	"os"
	"path/filepath"
	"testing"
)

// Where an agent has worked is said by its calls, not by what it was told or has read.
func TestE5CallsAreApartFromWhatWasSaid(t *testing.T) {
	const call = `{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cd \"../fix\""}}`
	for name, tt := range map[string]struct{ line, want string }{
		"a person's words":    {`{"type":"user","message":{"content":"cd ../fix, which is no \"tool_use\""}}` + "\n", ""},
		"an answer":           {`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"../fix \"tool_use\""}]}}` + "\n", ""},
		"a tool's own data":   {`{"type":"user","toolUseResult":{"type":"tool_use","name":"../fix"},"message":{"content":"x"}}` + "\n", ""},
		"a call":              {`{"type":"assistant","message":{"content":[{"type":"text","text":"../fix"},` + call + `]}}` + "\n", call + "\n"},
		"where it was made":   {`{"cwd":"/w/fix","message":{"content":[` + call + `]}}` + "\n", `{"cwd":"/w/fix"}` + "\n" + call + "\n"},
		"by a subagent":       {`{"isSidechain":true,"message":{"content":[` + call + `]}}` + "\n", call + "\n"},
		"a line half written": {`{"message":{"content":[{"type":"tool_use","name`, `{"message":{"content":[{"type":"tool_use","name` + "\n"},
		"a block alone":       {`{"message":{"content":` + call + `}}` + "\n", `{"message":{"content":` + call + `}}` + "\n"},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		check(t, os.WriteFile(path, []byte(tt.line), 0o600))
		if got, err := Calls(path, 1<<20); err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
		}
	}
	if _, err := Calls(filepath.Join(t.TempDir(), "none"), 1<<20); err == nil {
		t.Error("a file that is not there tells something")
	}
}
