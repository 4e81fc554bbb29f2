//go:build unix

// Package adversary tries ways past the gates, see README.md.
package adversary

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
)

var check = checktest.OK

// bin is where stopgate is.
var bin string

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "adversary-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := programs.Build(dir); err != nil {
		panic(err)
	}
	bin = dir
	return m.Run()
}

func TestNothingGetsPast(t *testing.T) {
	files, err := filepath.Glob("attempts/*.sh")
	check(t, err)
	environtest.Need(t, "git")
	environtest.Need(t, "jq")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sh"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			check(t, err)
			settings := config
			if strings.HasPrefix(filepath.Base(file), "3") {
				settings += protecting
			}
			w := newWorld(t, settings)
			w.run(string(text))
			w.judge(expected(string(text)))
		})
	}
}

// expected is what must come of an attempt.
func expected(script string) string {
	for line := range strings.Lines(script) {
		if want, found := strings.CutPrefix(line, "# expect:"); found {
			return strings.TrimSpace(want)
		}
	}
	return "block"
}

// world is a home with an approved, green project in which a session has begun.
type world struct {
	t                    *testing.T
	dir                  string
	home, project, state string
	env                  []string
	stop                 string
}

const config = `quiet: true
base_branch: origin/main
entry_points:
  - path: .
    checks:
      - {name: first, command: sh .gauntlet/check.sh}
      - {name: second, command: sh .gauntlet/outer.sh}
`

// protecting is what the attempts on protected files find besides.
const protecting = "protect: [guarded.txt]\nprotect_mode: block\n"

func newWorld(t *testing.T, config string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	w := &world{
		t: t, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "work", "project"),
		state: filepath.Join(dir, "home", ".local", "state", "stopgate"), stop: filepath.Join(dir, "stop.json"),
	}
	w.write(filepath.Join(w.home, ".gitconfig"), "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n")
	w.write(filepath.Join(w.project, ".gauntlet/config.yml"), config)
	w.write(filepath.Join(w.project, ".gauntlet/check.sh"), "test ! -e red\n")
	w.write(filepath.Join(w.project, ".gauntlet/outer.sh"), "cd \"$(dirname \"$0\")/..\" && sh .gauntlet/check.sh\n")
	w.write(filepath.Join(w.project, ".gitignore"), "gauntlet_logs\n.claude\n")
	w.write(filepath.Join(w.project, "main.txt"), "green\n")
	w.write(filepath.Join(w.project, "guarded.txt"), "strong\n")
	w.env = []string{
		"HOME=" + w.home, "PATH=" + strings.Join([]string{filepath.Join(dir, "bin"), bin, os.Getenv("PATH")}, ":"),
		"PROJECT=" + w.project, "STATE=" + w.state, "STOP=" + w.stop, "TMPDIR=" + filepath.Join(dir, "tmp"),
	}
	check(t, os.MkdirAll(filepath.Join(dir, "tmp"), 0o700))
	w.hookProgram()
	w.must("git", "init", "-q")
	w.must("git", "add", "-A")
	w.must("git", "commit", "-qm", "first")
	w.must("git", "update-ref", "refs/remotes/origin/main", "HEAD")
	w.must("stopgate", "init", "--yes", "--local")
	w.event("SessionStart", map[string]any{"source": "startup"})
	w.event("UserPromptSubmit", map[string]any{"prompt": "do it"})
	return w
}

// hookProgram is what a script sends events with.
func (w *world) hookProgram() {
	w.t.Helper()
	base, err := json.Marshal(w.payload("", nil))
	check(w.t, err)
	w.write(filepath.Join(w.dir, "base.json"), string(base))
	w.write(filepath.Join(w.dir, "bin", "hook"), `#!/bin/sh
# hook EVENT [JSON]: sends an event of the session. The hook waits five seconds for it, jq may
# take longer to start on a busy machine.
event=$(jq -c --arg e "$1" --argjson more "${2:-{\}}" '.hook_event_name = $e | . * $more' '`+filepath.Join(w.dir, "base.json")+`')
printf '%s\n' "$event" | CLAUDE_PROJECT_DIR='`+w.project+`' stopgate hook "$1"
`)
	check(w.t, os.Chmod(filepath.Join(w.dir, "bin", "hook"), 0o755))
}

func (w *world) write(path, text string) {
	w.t.Helper()
	check(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(w.t, os.WriteFile(path, []byte(text), 0o644))
}

// must runs what a person does.
func (w *world) must(name string, args ...string) {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	if name == "stopgate" {
		cmd = exec.Command(filepath.Join(bin, name), args...)
	}
	cmd.Dir, cmd.Env = w.project, w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// mayFail stands behind a command that is meant to fail.
const mayFail = " # may fail\n"

// run runs a script as the agent does. A script that breaks has tried nothing, so each of its
// commands must succeed.
func (w *world) run(script string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-ec", strings.ReplaceAll(script, mayFail, " || true\n"))
	cmd.Dir, cmd.Env = w.project, append(w.env, "CLAUDECODE=1")
	out, err := cmd.CombinedOutput()
	w.t.Logf("the script:\n%s", out)
	if err != nil {
		w.t.Errorf("the script broke (%v): a command that is meant to fail ends in %q", err, strings.TrimSpace(mayFail))
	}
}

// payload is the session's, with more fields.
func (w *world) payload(event string, more map[string]any) map[string]any {
	doc := map[string]any{
		"session_id": "session", "transcript_path": filepath.Join(w.dir, "transcript.jsonl"), "cwd": w.project, "prompt_id": "prompt",
		"permission_mode": "default", "hook_event_name": event,
	}
	if event == "Stop" {
		doc["stop_hook_active"], doc["last_assistant_message"] = false, "Done."
	}
	maps.Copy(doc, more)
	return doc
}

// event sends an event as the client does, and gives the answer.
func (w *world) event(event string, more map[string]any) map[string]any {
	w.t.Helper()
	text, err := json.Marshal(w.payload(event, more))
	check(w.t, err)
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "stopgate"), "hook", event, "--timeout", "20m")
	cmd.Dir, cmd.Env, cmd.Stdin = w.project, append(w.env, "CLAUDE_PROJECT_DIR="+w.project, "CLAUDECODE=1"), bytes.NewReader(text)
	if _, err := os.Stat(cmd.Dir); err != nil {
		cmd.Dir = w.home // the client's own directory is gone
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Errorf("%s: %v\n%s", event, err, stderr.String())
	}
	answer := map[string]any{}
	if len(bytes.TrimSpace(out)) > 0 {
		if err := json.Unmarshal(out, &answer); err != nil {
			w.t.Errorf("%s was answered %q", event, out)
		}
	}
	return answer
}

// judge sends the stop, and says what came of it.
func (w *world) judge(want string) {
	w.t.Helper()
	more := map[string]any{}
	if text, err := os.ReadFile(w.stop); err == nil {
		if err := json.Unmarshal(text, &more); err != nil {
			w.t.Fatalf("$STOP: %v", err)
		}
	}
	answer := w.event("Stop", more)
	got := "nothing"
	switch {
	case answer["decision"] == "block":
		got = "block"
	case answer["systemMessage"] != nil:
		got = "told"
	}
	switch {
	case strings.HasPrefix(want, "out of reach"):
		if got == "block" {
			w.t.Errorf("it is not out of reach any more: say so in the script and in docs/security.md")
		}
	case got != want:
		w.t.Errorf("%s, want %s: %v", got, want, answer)
	}
}
