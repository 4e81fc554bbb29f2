package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

func mark(k Kind) string {
	return map[Kind]string{Prompt: ">", Note: "!", Words: " ", Tool: "·", Answer: "<", Failed: "x", Fault: "X"}[k]
}

func told(c *Conversation, lines ...string) (all []string) {
	for _, line := range lines {
		for _, e := range c.Line([]byte(line)) {
			all = append(all, mark(e.Kind)+e.Text)
		}
	}
	return all
}

// The session of a real client, 2.1.197 in a terminal: prompts, a blocked stop, a
// command of the project, a prompt typed into a running turn, a background agent,
// /context, a shell line, /compact, and a prompt that was interrupted.
func TestConversationOfARealClient(t *testing.T) {
	f := Follower{Path: filepath.Join("..", "..", "gate", "supervisor", "testdata", "transcript", "session.jsonl")}
	var c Conversation
	var got []string
	err := f.Next(func(line []byte) {
		for _, e := range c.Line(line) {
			got = append(got, e.Time.UTC().Format("04:05 ")+mark(e.Kind)+e.Text)
		}
	})
	check(t, err)
	want := []string{
		"04:50 >Please write the parser.\nAnd its tests.", "04:50 ·Bash: echo tested", "04:50  Finished.",
		"04:50 !Stop hook feedback:\nRun the tests first.", "04:50  Tested.",
		"04:53 >/fix 12 now", "04:53  Fixed 12.",
		"04:53 >do something slow", "04:56 ·Bash: echo slow", "04:55 >also update the docs, please", "04:56  Slow done.",
		"04:56 >count in the background", "04:56  I'll ask.", "04:56 ·Agent: Count", "04:56  Waiting for it.", `04:56 !Agent "Count" finished`, "04:56  Okay.",
		"05:00 >/context", "05:02 >! echo by hand", "05:02  Okay.",
		"05:05 !The conversation so far was summarised.", "05:04 >/compact keep all",
		"05:09 >after compaction go on", "05:09  Okay.", "05:10 >hang",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func said(content string) string {
	return `{"type":"assistant","message":{"role":"assistant","content":` + content + `}}`
}

func put(content string) string {
	return `{"type":"user","message":{"role":"user","content":` + content + `}}`
}

func tool(name, input string) string {
	return said(fmt.Sprintf(`[{"type":"tool_use","id":"t1","name":%q,"input":%s}]`, name, input))
}

func result(text string, failed bool) string {
	return put(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t1","is_error":%t,"content":%q}]`, failed, text))
}

func TestConversation(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"words", []string{said(`[{"type":"thinking","thinking":"x"},{"type":"text","text":" a\nb "}]`)}, []string{" a\nb"}},
		{"words as a string", []string{said(`"a"`)}, []string{" a"}},
		{"no words", []string{said(`[{"type":"text","text":" "}]`)}, nil},
		{"several tools in one message", []string{said(`[{"type":"tool_use","name":"Read","input":{"file_path":"/a"}},{"type":"tool_use","name":"Grep","input":{"pattern":"x","path":"/"}}]`)}, []string{"·Read: /a", "·Grep: x"}},
		{"an unknown tool", []string{tool("mcp__a__b", `{"n": 5, "z": [1]}`)}, []string{`·mcp__a__b: {"n":5,"z":[1]}`}},
		{"no input", []string{tool("ExitPlanMode", `{}`), tool("X", `null`), tool("Y", `[]`)}, []string{"·ExitPlanMode", "·X", "·Y"}},
		{"an input that is none", []string{tool("Bash", `{"command":5}`)}, []string{`·Bash: {"command":5}`}},
		{"a result", []string{tool("Bash", `{"command":"make"}`), result("fine", false)}, []string{"·Bash: make"}},
		{"a failure", []string{tool("Bash", `{"command":"make"}`), result("Exit code 2\nno rule", true)}, []string{"·Bash: make", "xExit code 2\nno rule"}},
		{"a question", []string{tool("AskUserQuestion", `{"questions":[{"question":"Which?"}]}`), result("Blue", false), result("Red", false)}, []string{"·AskUserQuestion: Which?", "<Blue"}},
		{"questions", []string{tool("AskUserQuestion", `{"questions":[{"question":"Which?"},{"question":"When?"}]}`), tool("AskUserQuestion", `{"questions":5}`)}, []string{"·AskUserQuestion: Which? (and 1 more)", "·AskUserQuestion: a question"}},
		{"a plan that is refused", []string{tool("ExitPlanMode", `{"plan":"# Plan"}`), result("not so", true)}, []string{"·ExitPlanMode: # Plan", "<not so"}},
		{"an error of the API", []string{`{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"API Error: 500"}]}}`}, []string{"XAPI Error: 500"}},
		{"a subagent", []string{`{"type":"assistant","isSidechain":true,"message":{"content":"a"}}`}, nil},
		{"what the client adds", []string{`{"type":"user","isMeta":true,"message":{"role":"user","content":"a"}}`, put(`"<system-reminder>x"`), put(`"<bash-stdout>x</bash-stdout>"`)}, nil},
		{"an interruption", []string{put(`[{"type":"text","text":"[Request interrupted by user]"}]`)}, []string{"![Request interrupted by user]"}},
		{"a task", []string{put(`"<task-notification><x>"`)}, []string{"!A background task sent a message."}},
		{"the client goes on by itself", []string{`{"type":"user","origin":{"kind":"auto-continuation"},"message":{"role":"user","content":"go on"}}`}, nil},
		{"not of ours", []string{"", "{", "null", `{"type":"user"}`, `{"type":"assistant","message":5}`, `{"type":"assistant","message":{"content":5}}`, `{"type":"last-prompt","x":"user"}`, `{"type":"user","timestamp":"soon","message":{"role":"user","content":"a"}}`}, nil},
	} {
		if diff := cmp.Diff(test.want, told(&Conversation{}, test.lines...)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

// A client that was killed again and again leaves calls without results.
func TestConversationForgets(t *testing.T) {
	var c Conversation
	for i := range 1000 {
		c.Line([]byte(said(fmt.Sprintf(`[{"type":"tool_use","id":"t%d","name":"AskUserQuestion","input":{}}]`, i))))
	}
	if len(c.asked) > 100 {
		t.Errorf("%d calls are kept", len(c.asked))
	}
}

var write = checktest.Write

func TestFollower(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	f := Follower{Path: path}
	next := func(want ...string) {
		t.Helper()
		var got []string
		check(t, f.Next(func(line []byte) { got = append(got, string(line)) }))
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := f.Next(nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	write(t, path, "")
	next()
	write(t, path, "one\ntw")
	next("one\n")
	next()
	write(t, path, "one\ntwo\n\nthree\n")
	next("two\n", "\n", "three\n")
	write(t, path, "new\n") // it became shorter
	next("new\n")
	write(t, path, "anew, and longer\n") // where the last one ended no line begins
	next("anew, and longer\n")
	other := path + ".other"
	write(t, other, "other\nfile\n")
	check(t, os.Rename(other, path))
	next("other\n", "file\n")
	f.Path = filepath.Dir(path)
	if err := f.Next(nil); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

func TestFollowFrom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	for at, want := range map[int64][]string{0: {"one\n", "two\n"}, 2: {"e\n", "two\n"}, 4: {"two\n"}, 9: nil, 11: {"one\n", "two\n"}} {
		write(t, path, "one\ntwo\nth")
		if at == 11 {
			write(t, path, "one\ntwo\n") // it became shorter
		}
		f := FollowFrom(path, at)
		var got []string
		take := func(line []byte) {
			got = append(got, string(line))
			if f.At() != 8 && f.At() != 4 {
				t.Errorf("from %d: %q ends at %d", at, line, f.At())
			}
		}
		for range 2 { // also where no line has ended yet
			check(t, f.Next(take))
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %d: %q, want %q", at, got, want)
		}
	}
}

func TestTail(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t")
	write(t, path, "one\ntwo\nthree\n")
	for size, want := range map[int64]string{100: "one\ntwo\nthree\n", 14: "one\ntwo\nthree\n", 13: "two\nthree\n", 7: "three\n", 6: "", 3: ""} {
		if text, err := Tail(path, size); err != nil || string(text) != want {
			t.Errorf("the last %d bytes: %q, %v; want %q", size, text, err, want)
		}
	}
	if text, err := Tail(dir, 10); len(text) > 0 || err == nil {
		t.Errorf("a directory: %q, %v", text, err)
	}
	if _, err := Tail(path+"x", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// However a transcript grows, its lines are the same.
func FuzzFollower(f *testing.F) {
	f.Add([]byte("one\ntwo\n\nthree"), uint8(3))
	f.Add([]byte("\n\n"), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, step uint8) {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		var got []byte
		f := Follower{Path: path}
		for end := 0; end < len(text); {
			end = min(end+len(text)/8+int(step)+1, len(text))
			write(t, path, string(text[:end]))
			check(t, f.Next(func(line []byte) { got = append(got, line...) }))
		}
		if want := text[:bytes.LastIndexByte(text, '\n')+1]; !bytes.Equal(got, want) || f.At() != int64(len(want)) {
			t.Errorf("%q up to %d, want %q", got, f.At(), want)
		}
	})
}

func TestLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	text := "a\n" + strings.Repeat("x", MaxLine) + "\n" + strings.Repeat("y", 2<<20) + "\nb\n"
	write(t, path, text+strings.Repeat("z", MaxLine+1)) // not whole
	var got []int
	f := Follower{Path: path}
	check(t, f.Next(func(line []byte) { got = append(got, len(line)) }))
	if !slices.Equal(got, []int{2, 2<<20 + 1, 2}) || f.at != int64(len(text)) {
		t.Errorf("lines of %v bytes, up to %d", got, f.at)
	}
	got = nil
	check(t, Lines(strings.NewReader(text+"half"), func(line []byte) { got = append(got, len(line)) }))
	if !slices.Equal(got, []int{2, 2<<20 + 1, 2, 4}) {
		t.Errorf("lines of %v bytes", got)
	}
}

func FuzzConversation(f *testing.F) {
	for _, seed := range []string{said(`"a"`), tool("Bash", `{"command":"x"}`), result("x", true), put(`"<command-name>/a</command-name>"`), put(`"<task-notification><summary>"`), `{"type":"system","subtype":"local_command","content":"<command-name>/a</command-name>"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var c Conversation
		for _, e := range c.Line(line) {
			if e.Kind != Answer && e.Kind != Failed && e.Kind != Tool && strings.TrimSpace(e.Text) == "" {
				t.Errorf("%+v says nothing", e)
			}
		}
		var whole int
		if err := Lines(bytes.NewReader(line), func(part []byte) { whole += len(part) }); err != nil || whole != len(line) {
			t.Errorf("%d of %d bytes: %v", whole, len(line), err)
		}
	})
}
