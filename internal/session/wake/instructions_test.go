package wake

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func kinds() []Kind {
	return []Kind{Stop, Idle, Permission, Question, StopFailure, SessionEnd, QueueComplete, QueueCancelled, QueueStale, QueueFailed}
}

func TestBuiltinInstructions(t *testing.T) {
	used := make(map[string]bool)
	for _, kind := range kinds() {
		text, err := Instructions(t.TempDir(), kind)
		check(t, err)
		name, _ := promptName(kind)
		used["prompts/"+name] = true
		for _, want := range []string{"# ", "\n## What you received\n", "\n## What to do\n", "\n## When to do nothing\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing", kind, want)
			}
		}
		if len(text) > 4<<10 || strings.TrimSpace(text) != text {
			t.Errorf("%s: %d bytes", kind, len(text))
		}
	}
	files, err := fs.Glob(prompts, "prompts/*")
	check(t, err)
	for _, file := range files {
		if !used[file] {
			t.Errorf("nobody reads %s", file)
		}
	}
}

// The prompt of the Stop event has the structure of the specification, with our command
// line in it.
func TestStopPrompt(t *testing.T) {
	text, err := Instructions("", Stop)
	check(t, err)
	const structure = `# Stop Event
Claude Code has stopped and is waiting for input.
## What you received
- ` + "`last_assistant_message`" + `: Claude Code's final response before stopping
- ` + "`suggested_commands`" + `: Commands extracted from the response (any /gsd:* and /clear found in the text)
## What to do
1. Read the message. Understand what Claude Code just finished or why it stopped.
2. Review ` + "`suggested_commands`" + ` — these are what Claude Code recommended, but you decide.
   - You may use them as-is, reorder them, skip some, or choose entirely different commands.
   - They are suggestions, not instructions.
3. Decide your command array and call the TUI driver:
   stopgate queue create '{ "session": "...", "commands": ["/clear", "/gsd:plan-phase 3"] }'
## Command types and their awaits
- ` + "`/gsd:*`" + ` commands -> Claude responds -> awaits Stop
- ` + "`/clear`" + ` -> clears context -> awaits SessionStart(source:clear)
- The TUI driver handles awaits automatically.
## When to do nothing
- If the work is complete and no next phase exists, respond with no commands.
- The queue will not be created and the session stays idle.`
	rest := text + "\n"
	for line := range strings.Lines(structure + "\n") {
		_, after, ok := strings.Cut(rest, line)
		if !ok {
			t.Fatalf("%q is missing, or out of order", line)
		}
		rest = after
	}
}

func TestOwnInstructions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prompts", "prompt_ask_user_question.md")
	check(t, os.Mkdir(filepath.Dir(path), 0o700))
	// Read at each call.
	for content, want := range map[string]string{"\n Mine.\n": "Mine.", "\ufeffOther.\r\n\r\n- one\r\n": "Other.\n\n- one"} {
		check(t, os.WriteFile(path, []byte(content), 0o600))
		if got, err := Instructions(dir, Question); got != want || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	check(t, os.WriteFile(path, []byte(strings.Repeat("x", maxInstructions)), 0o600))
	if got, err := Instructions(dir, Question); len(got) != maxInstructions || err != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestUnusableInstructions(t *testing.T) {
	want, err := Instructions("", Idle)
	check(t, err)
	for name, test := range map[string]struct {
		make func(path string) error
		say  string
	}{
		"empty":     {func(path string) error { return os.WriteFile(path, []byte(" \n"), 0o600) }, "is empty"},
		"not UTF-8": {func(path string) error { return os.WriteFile(path, []byte("a\xff"), 0o600) }, "is not UTF-8"},
		"too long": {func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("x", maxInstructions+1)), 0o600)
		}, "has more than 65536 bytes"},
		"a directory":        {func(path string) error { return os.Mkdir(path, 0o700) }, "is not a regular file"},
		"a link to nowhere":  {func(path string) error { return os.Symlink("nowhere", path) }, "is a link to a file that does not exist"},
		"a link to a device": {func(path string) error { return os.Symlink(os.DevNull, path) }, "is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "prompts", "prompt_idle.md")
			check(t, os.Mkdir(filepath.Dir(path), 0o700))
			if err := test.make(path); err != nil {
				t.Skip(err)
			}
			got, err := Instructions(dir, Idle)
			if got != want || err == nil || !strings.Contains(err.Error(), "using the built-in prompt: "+path+" "+test.say) {
				t.Errorf("got %.20q, %v", got, err)
			}
		})
	}
}

func TestNoInstructions(t *testing.T) {
	if text, err := Instructions("", "../../etc/passwd"); text != "" || err == nil {
		t.Errorf("got %q, %v", text, err)
	}
}
