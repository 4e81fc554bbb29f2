package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyReads(t *testing.T) {
	const (
		before = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{}}]}}` + "\n"
		prompt = `{"type":"user","message":{"role":"user","content":"what is a \"tool_use\"?"}}` + "\n"
		last   = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"It is a call."}]}}` + "\n"
	)
	calls := func(blocks string) string {
		return `{"type":"assistant","message":{"role":"assistant","content":` + blocks + `}}` + "\n"
	}
	for name, tt := range map[string]struct {
		turn string
		only bool
	}{
		"words alone":                        {"", true},
		"a file":                             {calls(`[{"type":"tool_use","name":"Read","input":{}}]`), true},
		"a search and a page":                {calls(`[{"type":"tool_use","name":"Grep"},{"type":"tool_use","name":"WebFetch"}]`), true},
		"its list of tasks":                  {calls(`[{"type":"tool_use","name":"TaskCreate"},{"type":"tool_use","name":"TaskGet"},{"type":"tool_use","name":"TaskList"},{"type":"tool_use","name":"TaskUpdate"}]`), true},
		"the end of a task":                  {calls(`[{"type":"tool_use","name":"TaskStop"}]`), false},
		"a language server":                  {calls(`[{"type":"tool_use","name":"LSP","input":{"operation":"goToDefinition"}}]`), true},
		"a server's resources":               {calls(`[{"type":"tool_use","name":"ListMcpResourcesTool"},{"type":"tool_use","name":"ReadMcpResourceTool"},{"type":"tool_use","name":"ReadMcpResourceDirTool"}]`), true},
		"which agents and servers there are": {calls(`[{"type":"tool_use","name":"ListAgents"},{"type":"tool_use","name":"WaitForMcpServers"}]`), true},
		"a message to an agent":              {calls(`[{"type":"tool_use","name":"SendMessage"}]`), false},
		"a result":                           {`{"type":"user","message":{"content":[{"type":"tool_result","content":"{\"type\":\"tool_use\",\"name\":\"Bash\"}"}]}}` + "\n", true},
		"a result's own data":                {`{"type":"user","toolUseResult":{"type":"tool_use","name":"Bash"},"message":{"content":"x"}}` + "\n", true},
		"a shell that looks":                 {calls(`[{"type":"tool_use","name":"Bash","input":{"command":"cd sub && git log -3 | cat"}}]`), true},
		"a shell that writes":                {calls(`[{"type":"tool_use","name":"Bash","input":{"command":"git log > red"}}]`), false},
		"another's shell":                    {calls(`[{"type":"tool_use","name":"mcp__shell__run","input":{"command":"ls"}}]`), false},
		"a shell":                            {calls(`[{"type":"tool_use","name":"Bash"}]`), false},
		"a file and a shell":                 {calls(`[{"type":"tool_use","name":"Read"},{"type":"tool_use","name":"Bash"}]`), false},
		"an unknown tool":                    {calls(`[{"type":"tool_use","name":"mcp__x__y"}]`), false},
		"a tool of the server":               {calls(`[{"type":"server_tool_use","name":"code_execution"}]`), false},
		"a block alone":                      {calls(`{"type":"tool_use","name":"Bash"}`), false},
		"a line half written":                {`{"type":"assistant","message":{"content":[{"type":"tool_use","na` + "\n", false},
		"a line too long":                    {`{"type":"assistant","x":"` + strings.Repeat("x", MaxLine) + `"}` + "\n", false},
		"a plan and its list":                {calls(`[{"type":"tool_use","name":"EnterPlanMode"},{"type":"tool_use","name":"TodoWrite"},{"type":"tool_use","name":"ExitPlanMode"}]`), true},
		"a question":                         {calls(`[{"type":"tool_use","name":"AskUserQuestion"}]`), true},
		"all that looks":                     {calls(`[{"type":"tool_use","name":"Glob"},{"type":"tool_use","name":"LS"},{"type":"tool_use","name":"NotebookRead"},{"type":"tool_use","name":"ToolSearch"},{"type":"tool_use","name":"WebSearch"}]`), true},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		check(t, os.WriteFile(path, []byte(before+prompt+tt.turn+last), 0o600))
		only, said, err := OnlyReads(path, int64(len(before)), "It is a call.")
		if err != nil || !said || only != tt.only {
			t.Errorf("%s: only reads %t, said %t, %v", name, only, said, err)
		}
	}
}

// A transcript that lacks the last words, or has become shorter, tells of nothing.
func TestOnlyReadsKnowsWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	check(t, os.WriteFile(path, []byte(`{"type":"assistant","message":{"content":"I look."}}`+"\n"), 0o600))
	for name, tt := range map[string]struct {
		from       int64
		message    string
		only, said bool
	}{
		"the last words are there": {0, "I look.", true, true},
		"they are still to come":   {0, "I looked.", true, false},
		"it is shorter":            {1000, "I look.", false, true},
	} {
		if only, said, err := OnlyReads(path, tt.from, tt.message); err != nil || only != tt.only || said != tt.said {
			t.Errorf("%s: only reads %t, said %t, %v", name, only, said, err)
		}
	}
	// What was said before a call or a prompt were not the last words, even if it was the same.
	for _, next := range []string{`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read"}]}}`, `{"type":"user","message":{"content":"Now write."}}`} {
		check(t, os.WriteFile(path, []byte(`{"type":"assistant","message":{"content":"Done."}}`+"\n"+next+"\n"), 0o600))
		if only, said, err := OnlyReads(path, 0, "Done."); err != nil || !only || said {
			t.Errorf("%s: only reads %t, said %t, %v", next, only, said, err)
		}
	}
	// What is half written is still to come: it may be the last words, and a call.
	for _, half := range []string{`{"type":"assistant","message":{"content":"I looked."}}`, `{"type":"assistant","message":{"content":[{"type":"tool_use","na`} {
		check(t, os.WriteFile(path, []byte(`{"type":"assistant","message":{"content":"I look."}}`+"\n"+half), 0o600))
		if only, said, err := OnlyReads(path, 0, "I looked."); err != nil || !only || said {
			t.Errorf("%s: only reads %t, said %t, %v", half, only, said, err)
		}
	}
	if _, _, err := OnlyReads(filepath.Join(t.TempDir(), "none"), 0, "x"); err == nil {
		t.Error("a file that is not there tells something")
	}
}
