package daemon

import (
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/control/engine"
)

func TestAskOf(t *testing.T) {
	for name, test := range map[string]struct {
		kind, tool, input string
		want              engine.Ask
	}{
		"questions": {
			"question", "AskUserQuestion",
			`{"questions":[{"question":"Which color?","header":"Color","multi":"yes","options":[{"label":"Red","description":"warm"},{"label":"Blue"}],"multiSelect":false},{"question":"Fruits?","options":[{"label":"Apple"}],"multiSelect":true}],"new":1}`,
			engine.Ask{Tool: "AskUserQuestion", Questions: []engine.Question{
				{Question: "Which color?", Header: "Color", Options: []engine.Choice{{Label: "Red", Description: "warm"}, {Label: "Blue"}}},
				{Question: "Fruits?", Options: []engine.Choice{{Label: "Apple"}}, Multi: true},
			}},
		},
		"questions of another shape":     {"question", "AskUserQuestion", `{"questions": "which?"}`, engine.Ask{Tool: "AskUserQuestion", Input: `{"questions":"which?"}`}},
		"plan":                           {"plan", "ExitPlanMode", `{"plan":"# Do it\n1. so","planFilePath":"/p.md"}`, engine.Ask{Tool: "ExitPlanMode", Plan: "# Do it\n1. so"}},
		"plan that is not shown":         {"plan", "ExitPlanMode", `{}`, engine.Ask{Tool: "ExitPlanMode", Input: "{}"}},
		"command":                        {"permission", "Bash", `{"command":"rm -rf x\ncat","description":"tidy"}`, engine.Ask{Tool: "Bash", Input: "rm -rf x\ncat"}},
		"command with a trick":           {"permission", "Bash", `{"command":"ls \u001b[2K\rrm x"}`, engine.Ask{Tool: "Bash", Input: `"ls \x1b[2K\rrm x"`}},
		"command turned round":           {"permission", "Bash", `{"command":"ls \u202e x"}`, engine.Ask{Tool: "Bash", Input: `"ls \u202e x"`}},
		"command of another shape":       {"permission", "Bash", `{ "command": ["ls"] }`, engine.Ask{Tool: "Bash", Input: `{"command":["ls"]}`}},
		"edit":                           {"permission", "Edit", `{"file_path":"/a.go","old_string":"x\ny\n","new_string":"z"}`, engine.Ask{Tool: "Edit", Input: "/a.go\n- x\n- y\n+ z"}},
		"write":                          {"permission", "Write", `{"file_path":"/a.go","content":"x"}`, engine.Ask{Tool: "Write", Input: "/a.go\n+ x"}},
		"read":                           {"permission", "Read", `{"file_path":"/etc/passwd"}`, engine.Ask{Tool: "Read", Input: "/etc/passwd"}},
		"fetch":                          {"permission", "WebFetch", `{"url":"https://example.com","prompt":"p"}`, engine.Ask{Tool: "WebFetch", Input: `{"url":"https://example.com","prompt":"p"}`}},
		"search":                         {"permission", "WebSearch", `{"query":"go 1.26"}`, engine.Ask{Tool: "WebSearch", Input: `{"query":"go 1.26"}`}},
		"part of a file":                 {"permission", "Read", `{"file_path":"/a","offset":5}`, engine.Ask{Tool: "Read", Input: "/a"}},
		"a file of another tool":         {"permission", "mcp__files__move", `{"file_path":"/a","to":"/etc/cron.d/x"}`, engine.Ask{Tool: "mcp__files__move", Input: `{"file_path":"/a","to":"/etc/cron.d/x"}`}},
		"command outside of the sandbox": {"permission", "Bash", `{"command":"make","description":"test","timeout":5,"dangerouslyDisableSandbox":true}`, engine.Ask{Tool: "Bash", Input: "make\n" + `{"dangerouslyDisableSandbox":true,"timeout":5}`}},
		"description of another shape":   {"permission", "Bash", `{"command":"make","description":["x"]}`, engine.Ask{Tool: "Bash", Input: "make\n" + `{"description":["x"]}`}},
		"edit of everything":             {"permission", "Edit", `{"file_path":"/a.go","old_string":"x","new_string":"z","replace_all":true}`, engine.Ask{Tool: "Edit", Input: "/a.go\n" + `{"replace_all":true}` + "\n- x\n+ z"}},
		"edit of another shape":          {"permission", "Edit", `{"file_path":"/a.go","old_string":"x","new_string":["z"]}`, engine.Ask{Tool: "Edit", Input: "/a.go\n" + `{"new_string":["z"]}` + "\n- x"}},
		"write with more":                {"permission", "Write", `{"file_path":"/a.go","content":"x","mode":"0777","content2":null}`, engine.Ask{Tool: "Write", Input: "/a.go\n" + `{"content2":null,"mode":"0777"}` + "\n+ x"}},
		"write without a file":           {"permission", "Write", `{"content":"x","to":"/b"}`, engine.Ask{Tool: "Write", Input: `{"content":"x","to":"/b"}`}},
		"file with lines in its name":    {"permission", "Write", `{"file_path":"/a\n+ y","content":"x"}`, engine.Ask{Tool: "Write", Input: `"/a\n+ y"` + "\n+ x"}},
		"another tool":                   {"permission", "mcp__x__y", `{"a": [1, 2]}`, engine.Ask{Tool: "mcp__x__y", Input: `{"a":[1,2]}`}},
		"no JSON":                        {"permission", "Bash", "{\"command\":\"\xff", engine.Ask{Tool: "Bash", Input: "{\"command\":\"\uFFFD"}},
		"nothing":                        {"permission", "", "", engine.Ask{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := askOf(agentdir.Asked{Type: test.kind, Tool: test.tool, Input: []byte(test.input)})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAskedIsReadFromTheAgentsDirectory(t *testing.T) {
	state := t.TempDir()
	dir, err := agentdir.At(state, "a1")
	check(t, err)
	check(t, dir.Ask("r1", agentdir.Asked{Type: "permission", Tool: "Bash", Input: []byte(`{"command":"ls"}`)}))
	if diff := cmp.Diff(engine.Ask{Tool: "Bash", Input: "ls"}, asked(state, "a1", "r1")); diff != "" {
		t.Error(diff)
	}
	check(t, os.WriteFile(dir.Path("asked", "r2.json"), []byte("{"), 0o600))
	for _, name := range [][2]string{{"a1", "r2"}, {"a1", "r3"}, {"a1", "../config"}, {"../a1", "r1"}, {"", ""}} {
		if diff := cmp.Diff(engine.Ask{}, asked(state, name[0], name[1])); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func FuzzAskOf(f *testing.F) {
	f.Add("question", "AskUserQuestion", []byte(`{"questions":[{"question":"a","options":[{"label":"b"}]}]}`))
	f.Add("plan", "ExitPlanMode", []byte(`{"plan":"x"}`))
	f.Add("permission", "Bash", []byte(`{"command":"\u001b[2J"}`))
	f.Add("permission", "Bash", []byte("{\"command\":\"x\",\"a\":\"\xff\"}"))
	f.Add("permission", "Bash", []byte("{\"command\":\"x\",\"\xff\":\"\xff\u202e\"}"))
	f.Add("permission", "x", []byte("{\"\xff\u202e\":[]}"))
	f.Add("permission", "Edit", []byte(`{"file_path":"\u0000","old_string":"\n"}`))
	f.Fuzz(func(t *testing.T, kind, tool string, input []byte) {
		ask := askOf(agentdir.Asked{Type: kind, Tool: tool, Input: input})
		if !utf8.ValidString(ask.Input) {
			t.Errorf("%q is no text", ask.Input)
		}
		if strings.ContainsFunc(ask.Input, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
		}) {
			t.Errorf("%q steers a terminal", ask.Input)
		}
	})
}
