package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/transcript"
)

// The session of a real client, 2.1.197 in a terminal: prompts, a blocked stop, a
// command of the project, a prompt typed into a running turn, a background agent,
// /context, a shell line, /compact, and a prompt that was interrupted.
func TestAskedOfARealClient(t *testing.T) {
	got, err := Asked(filepath.Join("testdata", "transcript", "session.jsonl"), 20)
	check(t, err)
	want := []string{
		"Please write the parser.\nAnd its tests.", "/fix 12 now", "do something slow", "also update the docs, please", "count in the background",
		"after compaction go on", "hang",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func line(t testing.TB, entry map[string]any) string {
	t.Helper()
	text, err := json.Marshal(entry)
	check(t, err)
	return string(text) + "\n"
}

// user is a line with a user's message, to which more is added.
func user(t testing.TB, content any, more ...any) string {
	t.Helper()
	entry := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": content}}
	for i := 0; i < len(more); i += 2 {
		entry[more[i].(string)] = more[i+1]
	}
	return line(t, entry)
}

// said is what the agent said.
func said(t testing.TB, text string) string {
	t.Helper()
	return line(t, map[string]any{"type": "assistant", "message": map[string]any{
		"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}},
	}})
}

func recorded(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	check(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	return path
}

func TestAsked(t *testing.T) {
	blocks := func(parts ...map[string]any) any { return parts }
	text := func(text string) map[string]any { return map[string]any{"type": "text", "text": text} }
	command := func(name, args string) string {
		return "<command-message>" + name + "</command-message>\n<command-name>/" + name + "</command-name>\n<command-args>" + args + "</command-args>"
	}
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"text", []string{user(t, " build it \n")}, []string{"build it"}},
		{"blocks", []string{user(t, blocks(text("look"), map[string]any{"type": "image", "source": "x"}, text("at this")))}, []string{"look\n\nat this"}},
		{"a reminder among blocks", []string{user(t, blocks(text("<system-reminder>\nx</system-reminder>"), text("build it")))}, []string{"build it"}},
		{"tool result", []string{user(t, blocks(map[string]any{"type": "tool_result", "content": "out"}, text("no")))}, nil},
		{"a prompt about tool results", []string{user(t, `why {"type":"tool_result"}?`)}, []string{`why {"type":"tool_result"}?`}},
		{"meta", []string{user(t, "no", "isMeta", true)}, nil},
		{"sidechain", []string{user(t, "no", "isSidechain", true)}, nil},
		{"summary", []string{user(t, "no", "isCompactSummary", true)}, nil},
		{"stop hook", []string{user(t, "Stop hook feedback:\nrun the tests")}, nil},
		{"notice of a task", []string{user(t, "<task-notification>\nx"), user(t, "it is over", "origin", map[string]any{"kind": "task-notification"})}, nil},
		{"from a person", []string{user(t, "yes", "origin", map[string]any{"kind": "human"})}, []string{"yes"}},
		{"reminder", []string{user(t, "<system-reminder>\nx")}, nil},
		{"output of a command", []string{user(t, "<local-command-stdout>x</local-command-stdout>"), user(t, "<bash-input>ls</bash-input>"), user(t, "<bash-stdout>x</bash-stdout>")}, nil},
		{"interruption", []string{user(t, blocks(text("[Request interrupted by user for tool use]")))}, nil},
		{"enforcement", []string{user(t, "[structured-output-enforce] You MUST")}, nil},
		{"slash command", []string{user(t, command("fix", "12 now"))}, []string{"/fix 12 now"}},
		{"slash command without arguments", []string{user(t, command("fix", "")), user(t, "and now?")}, []string{"/fix", "and now?"}},
		{"slash command about elements", []string{user(t, command("fix", "the </command-args> and <command-name>y</command-name>"))}, []string{"/fix the </command-args> and <command-name>y</command-name>"}},
		{"the client's own command", []string{user(t, command("model", "opus")), user(t, "<local-command-stdout>Set model</local-command-stdout>"), user(t, "go on")}, []string{"go on"}},
		{"typed into a running turn", []string{line(t, map[string]any{"type": "attachment", "attachment": map[string]any{"type": "queued_command", "prompt": "also this"}})}, []string{"also this"}},
		{"a notice slipped into a turn", []string{line(t, map[string]any{"type": "attachment", "attachment": map[string]any{"type": "queued_command", "prompt": "<task-notification>x"}})}, nil},
		{"other lines", []string{line(t, map[string]any{"type": "assistant", "message": map[string]any{"role": "user", "content": "no"}}), line(t, map[string]any{"type": "user", "message": map[string]any{"role": "assistant", "content": "no"}})}, nil},
		{"nonsense", []string{"\n", "{}\n", "null\n", "[\"user\"]\n", "\"user\"\n", `{"type":"user","message":7}` + "\n", user(t, 7), user(t, nil), user(t, ""), user(t, "yes")}, []string{"yes"}},
		{"half a line at the end", []string{user(t, "yes"), user(t, "no")[:40]}, []string{"yes"}},
		{"no newline at the end", []string{user(t, "one"), strings.TrimSuffix(user(t, "two"), "\n")}, []string{"one", "two"}},
		{"DOS lines", []string{strings.ReplaceAll(user(t, "yes"), "\n", "\r\n")}, []string{"yes"}},
		{"empty", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Asked(recorded(t, tt.lines...), 10)
			check(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAskedKeepsTheFirstAndTheNewest(t *testing.T) {
	var lines []string
	for i := range 9 {
		lines = append(lines, user(t, fmt.Sprint(i)))
	}
	path := recorded(t, lines...)
	for most, want := range map[int]string{-1: "", 0: "", 1: "8", 2: "0 8", 3: "0 7 8", 9: "0 1 2 3 4 5 6 7 8", 99: "0 1 2 3 4 5 6 7 8"} {
		got, err := Asked(path, most)
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%d: %q, %v, want %q", most, got, err, want)
		}
	}
}

func TestAskedShortensInTheMiddle(t *testing.T) {
	got, err := Asked(recorded(t, user(t, strings.Repeat("始", 5000)+strings.Repeat("x", 1<<20)+strings.Repeat("终", 5000))), 3)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if n := utf8.RuneCountInString(got[0]); n > 4000 || n < 3900 || !strings.HasPrefix(got[0], "始始") || !strings.HasSuffix(got[0], "终终") || !strings.Contains(got[0], "始\n[…]\n终") {
		t.Errorf("%d characters: %.20q…", n, got[0])
	}
}

// A line that is longer than any may be is passed over without being held, and
// what stands around it is read.
func TestAskedOfLongLines(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(user(t, "before"))
	b.WriteString(user(t, []any{map[string]any{"type": "text", "text": "a picture"}, map[string]any{"type": "image", "source": strings.Repeat("A", 1<<18)}}))
	b.WriteString(`{"type":"user","message":{"role":"user","content":"`)
	b.Write(bytes.Repeat([]byte("A"), transcript.MaxLine))
	b.WriteString("\"}}\n")
	b.WriteString(user(t, "after"))
	path := recorded(t, b.String())
	got, err := Asked(path, 5)
	if err != nil || !slices.Equal(got, []string{"before", "a picture", "after"}) {
		t.Errorf("%.60q, %v", got, err)
	}
}

func TestAskedOfWhatIsNoTranscript(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"", filepath.Join(dir, "missing")} {
		if got, err := Asked(path, 5); got != nil || err != nil {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
	if got, err := Asked(dir, 5); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a directory: %q, %v", got, err)
	}
	if runtime.GOOS != "windows" && os.Getuid() != 0 {
		path := recorded(t, user(t, "no"))
		check(t, os.Chmod(path, 0))
		if got, err := Asked(path, 5); err == nil {
			t.Errorf("one that may not be read: %q", got)
		}
	}
}

func FuzzAsked(f *testing.F) {
	session, err := os.ReadFile(filepath.Join("testdata", "transcript", "session.jsonl"))
	check(f, err)
	for line := range bytes.Lines(session) {
		f.Add(line)
	}
	f.Add([]byte(user(f, "<command-name>/x</command-args>")))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := requests{most: 3}
		check(t, transcript.Lines(bytes.NewReader(text), r.line))
		r.settle()
		if len(r.kept) > r.most {
			t.Errorf("%d requests", len(r.kept))
		}
		for _, text := range r.kept {
			if strings.TrimSpace(text) == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxAsked {
				t.Errorf("%q", text)
			}
		}
	})
}
