package transcript

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where an agent has worked is said by its calls, not by what it was told or has read.
func TestE5CallsAreApartFromWhatWasSaid(t *testing.T) {
	const (
		call   = `{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cd \"../fix\""}}`
		called = `{"name":"Bash","input":{"command":"cd \"../fix\""}}` + "\n"
	)
	calls := func(id, name, input string) string {
		return `{"message":{"content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}]}}` + "\n"
	}
	answers := func(id string) string {
		return `{"type":"user","toolUseResult":"../own","message":{"content":[{"tool_use_id":"` + id + `","type":"tool_result","content":"../fix"}]}}` + "\n"
	}
	for name, tt := range map[string]struct{ line, want string }{
		"a person's words":    {`{"type":"user","message":{"content":"cd ../fix, which is no \"tool_use\""}}` + "\n", ""},
		"words beside a call": {`{"type":"user","message":{"content":"../fix"},"x":"tool_use"}` + "\n", ""},
		"a tool's own data":   {`{"type":"user","toolUseResult":{"type":"tool_use","name":"../fix"},"message":{"content":"x"}}` + "\n", ""},
		"a call":              {`{"type":"assistant","message":{"content":[{"type":"text","text":"../fix"},` + call + `]}}` + "\n", called},
		"where it was made":   {`{"cwd":"/w/fix","message":{"content":[` + call + `]}}` + "\n", `{"cwd":"/w/fix"}` + "\n" + called},
		"in a sidechain":      {`{"isSidechain":true,"message":{"content":[` + call + `]}}` + "\n", called},
		"a line half written": {`{"message":{"content":[{"type":"tool_use","name`, `{"message":{"content":[{"type":"tool_use","name` + "\n"},
		"a block alone":       {`{"message":{"content":` + call + `}}` + "\n", `{"message":{"content":` + call + `}}` + "\n"},

		"an answer":                {calls("a", "Agent", `{}`) + answers("a"), `{"name":"Agent","input":{}}` + "\n" + `"../fix"` + "\n"},
		"an answer to what reads":  {calls("a", "Read", `{}`) + answers("a"), `{"name":"Read","input":{}}` + "\n"},
		"a list of worktrees":      {calls("a", "Bash", `{"command":"git worktree list"}`) + answers("a"), `{"name":"Bash","input":{"command":"git worktree list"}}` + "\n"},
		"an answer to an old call": {answers("a"), `"../fix"` + "\n"},
		"two answers":              {calls("a", "Read", `{}`) + strings.ReplaceAll(answers("a"), `"}]`, `"},{"tool_use_id":"b","type":"tool_result","content":"../two"}]`), `{"name":"Read","input":{}}` + "\n" + `"../two"` + "\n"},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		check(t, os.WriteFile(path, []byte(tt.line), 0o600))
		if got, err := Calls(t.Context(), path, 1<<20); err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
		}
	}
	if _, err := Calls(t.Context(), filepath.Join(t.TempDir(), "none"), 1<<20); err == nil {
		t.Error("a file that is not there tells something")
	}
}

// A stop has little time, and a transcript may be long: of that only the end is read, and that for so long as there is time.
func TestCallsAreThoseOfTheEnd(t *testing.T) {
	const line = `{"message":{"content":[{"type":"tool_use","name":"Agent","input":%}]}}` + "\n"
	path := filepath.Join(t.TempDir(), "s.jsonl")
	last := strings.Replace(line, "%", "2", 1)
	check(t, os.WriteFile(path, []byte(strings.Replace(line, "%", "1", 1)+last), 0o600))
	for _, size := range []int{len(last), len(last) + 5} {
		if got, err := Calls(t.Context(), path, int64(size)); err != nil || string(got) != `{"name":"Agent","input":2}`+"\n" {
			t.Errorf("%d: %q, %v", size, got, err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Calls(ctx, path, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("it goes on without time: %v", err)
	}
}
