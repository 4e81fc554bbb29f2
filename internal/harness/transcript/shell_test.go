package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// textsOf are the texts of commands.
func textsOf(commands []Command) string {
	var all []string
	for _, c := range commands {
		all = append(all, c.Text)
	}
	return strings.Join(all, "|")
}

// call is the line of a transcript with a part of a message.
func call(part string) string {
	return `{"type":"assistant","message":{"content":[` + part + `]}}` + "\n"
}

func TestCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	line := func(name, command string) string {
		return call(`{"type":"tool_use","name":"` + name + `","input":{"command":"` + command + `"}}`)
	}
	first := line("Bash", "make") + call(`{"type":"tool_use","name":"Read","input":{"file_path":"x"}}`) + `{"type":"user","message":{"content":"Bash"}}` + "\n" + `{"type":"tool","name":"Bash"}` + "\n"
	half := line("Bash", `cd \"../my other\"\nmake`)
	cd := "cd \"../my other\"\nmake"
	write := func(text string) {
		t.Helper()
		check(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want := func(from, size int64, command string, next int) int64 {
		t.Helper()
		got, at, err := Commands(path, from, size)
		if textsOf(got) != command || at != int64(next) || err != nil {
			t.Errorf("from %d: %q, %d, %v; want %q, %d", from, textsOf(got), at, err, command, next)
		}
		return at
	}
	write(first + half[:20])
	at := want(0, 1<<20, "make", len(first))
	write(first + half)
	at = want(at, 1<<20, cd, len(first+half))
	want(at, 1<<20, "", len(first+half))
	want(0, int64(len(half)), cd, len(first+half))
	write(half) // a file that was written anew
	want(at, 1<<20, cd, len(half))
	if _, _, err := Commands(path+".gone", 0, 1); err == nil {
		t.Error("there is none")
	}
}

// A tool is a shell by what it is called with: it may have any name.
func TestE5ShellsHaveManyNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	for _, name := range []string{"Bash", "PowerShell", "mcp__shell__bash"} {
		check(t, os.WriteFile(path, []byte(call(`{"type":"tool_use","name":"`+name+`","input":{"command":"make"}}`)), 0o600))
		if commands, _, _ := Commands(path, 0, 1<<20); len(commands) != 1 || commands[0].IsLine != (name == "Bash") {
			t.Errorf("%s: %+v", name, commands)
		}
	}
	for part, want := range map[string]string{
		`{"type":"tool_use","name":"mcp__shell__execute","input":{"command":"make"}}`:                        "make",
		`{"type":"tool_use","name":"mcp__shell__execute","input":{"cmd":["sh","-c","make"],"workdir":"/x"}}`: "sh\n-c\nmake\n/x",
		`{"type":"tool_use","name":"PowerShell","input":{"command":"make"}}`:                                 "make",
		`{"type":"tool_use","name":"mcp__ide__executeCode","input":{"code":"x()"}}`:                          "x()",
		`{"type":"tool_use","name":"mcp__x__run","input":{"program":"make","args":["-C","../other"]}}`:       "-C\n../other",
		`{"type":"tool_use","name":"mcp__x__batch","input":{"steps":[{"commandLine":"make"}]}}`:              "make",
		`{"type":"text","text":"x"},{"type":"tool_use","name":"Bash","input":{"command":"make"}}`:            "make",
		`{"type":"tool_use","name":"Bash","input":{"command":"make","description":"Build ../other"}}`:        "make",
		`{"type":"tool_use","name":"Bash","input":{"command":""}}`:                                           "",
		`{"type":"tool_use","name":"BashOutput","input":{"bash_id":"1"}}`:                                    "",
		`{"type":"tool_use","name":"mcp__files__list","input":{"directory":"../other"}}`:                     "",
		`{"type":"tool_use","name":"Write","input":{"file_path":"a","content":"{\"command\":\"make\"}"}}`:    "",
		`{"type":"tool_use","name":"Task","input":{"description":"x","prompt":"look at ../other"}}`:          "",
		`{"type":"tool_result","tool_use_id":"1","content":"{\"type\":\"tool_use\",\"input\":{\"cmd\":1}}"}`: "",
	} {
		check(t, os.WriteFile(path, []byte(call(part)), 0o600))
		commands, _, err := Commands(path, 0, 1<<20)
		if got := textsOf(commands); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", part, got, err, want)
		}
	}
}
