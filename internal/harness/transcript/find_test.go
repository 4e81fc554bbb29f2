package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	projects, beside := filepath.Join(root, "projects"), filepath.Join(root, "elsewhere", "old.jsonl")
	if path, err := Find(projects, beside, "s1"); path != "" || err != nil {
		t.Errorf("nothing is there: %q, %v", path, err)
	}
	for _, name := range []string{"projects/a/s1.jsonl", "projects/b/s2.jsonl", "elsewhere/s2.jsonl", "s3.jsonl"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		write(t, path, "{}\n")
	}
	check(t, os.MkdirAll(filepath.Join(projects, "b", "s4.jsonl"), 0o700))
	write(t, filepath.Join(projects, "file"), "")
	t.Chdir(root)
	for _, tt := range []struct{ projects, beside, session, want string }{
		{projects, "", "s1", "projects/a/s1.jsonl"},
		{projects, beside, "s1", "projects/a/s1.jsonl"},
		{projects, beside, "s2", "elsewhere/s2.jsonl"},
		{projects, "", "s2", "projects/b/s2.jsonl"},
		{projects, "", "s4", ""}, // a directory
		{projects, "", "", ""},
		{projects, "", "../../s3", ""},
		{"", beside, "s2", "elsewhere/s2.jsonl"},
		{"", "", "s3", ""}, // not in the directory where we happen to be
		{"projects", "s3.jsonl", "s3", ""},
		{"projects", "", "s1", ""},
	} {
		got, err := Find(tt.projects, tt.beside, tt.session)
		if tt.want != "" {
			tt.want = filepath.Join(root, filepath.FromSlash(tt.want))
		}
		if got != tt.want || err != nil {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	if path, err := Find(filepath.Join(projects, "file"), "", "s1"); path != "" || err == nil {
		t.Errorf("no directory: %q, %v", path, err)
	}
}

func TestLastWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if words, err := LastWords(path); words != "" || err == nil {
		t.Errorf("none: %q, %v", words, err)
	}
	padding := put(`"` + strings.Repeat("x", 1000) + `"`)
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing":         {nil, ""},
		"words":           {[]string{said(`"one"`), said(`[{"type":"text","text":"two"}]`), put(`"go on"`)}, "two"},
		"before its tool": {[]string{said(`"one"`), said(`[{"type":"text","text":"I ask."},{"type":"tool_use","name":"AskUserQuestion","input":{}}]`)}, "I ask."},
		"a tool after it": {[]string{said(`"one"`), tool("Bash", `{"command":"x"}`), result("y", false)}, "one"},
		"a subagent's":    {[]string{said(`"one"`), `{"type":"assistant","isSidechain":true,"message":{"content":"two"}}`}, "one"},
		"half a line":     {[]string{said(`"one"`), said(`"two"`)[:20]}, "one"},
		"far away":        {append([]string{said(`"one"`)}, strings.Repeat(padding+"\n", tailSize/1000)), ""},
		"at the edge":     {append([]string{said(`"` + strings.Repeat("x", tailSize) + `"`)}, said(`"two"`)), "two"},
	} {
		write(t, path, strings.Join(tt.lines, "\n"))
		if words, err := LastWords(path); words != tt.want || err != nil {
			t.Errorf("%s: %.40q, %v", name, words, err)
		}
	}
}

func FuzzLastWords(f *testing.F) {
	f.Add([]byte(said(`"a"`) + "\n" + put(`"b"`) + "\n\n"))
	f.Add([]byte("\n\n" + said(`"a"`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		want := ""
		var c Conversation
		if err := Lines(strings.NewReader(string(text)), func(line []byte) {
			for _, e := range c.Line(line) {
				if e.Kind == Words {
					want = e.Text
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		if got := lastWords(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
