//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// apiKey is short enough to be its own "last 20 characters", by which the client remembers that a
// person approved it.
const apiKey = "fake"

// bench is a machine of its own for one test: a home, a git project, a model API, and a record
// of every hook payload.
type bench struct {
	t testing.TB

	Home    string
	Project string
	Tmp     string // TMPDIR of everything that runs here
	API     *claudeapi.API
	Env     []string // of everything that runs here; a test may append
	Client  []string // the command line that becomes the client

	// Settings are handed to the client with --settings, which it merges with all other scopes:
	// the project's and the user's files stay as the program under test wrote them. Recorder
	// hooks and the permission to use tools are in them.
	Settings map[string]any

	root      string
	records   string
	starts    int // clients started so far, to name their files
	terminals int
}

// lifeEvents are recorded on every bench. Tool events are left to the tests that want them: a
// hook costs the client some 14 ms.
var lifeEvents = []string{
	"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "SessionEnd",
}

// newBench sets one up and removes it at the end of the test.
func newBench(t testing.TB) *bench {
	t.Helper()
	client := clientBinary(t)
	root := benchDir(t)
	b := &bench{
		t:       t,
		Home:    filepath.Join(root, "home"),
		Project: filepath.Join(root, "project"),
		Tmp:     filepath.Join(root, "tmp"),
		API:     claudeapi.New(t),
		Client:  []string{"claude"},
		Settings: map[string]any{
			// A dialog would wait for a person; a tool the model is told to call must just run.
			"permissions": map[string]any{"allow": []string{"Bash", "Edit", "Write", "Read"}},
		},
		root:    root,
		records: filepath.Join(root, "records"),
	}
	own := filepath.Join(root, "bin")
	for _, dir := range []string{b.Home, b.Project, b.Tmp, b.records, own} {
		check(t, os.Mkdir(dir, 0o700))
	}
	// What we start calls the client by its name.
	check(t, os.Symlink(client, filepath.Join(own, "claude")))
	// Nothing is inherited: a developer's own CLAUDE_* or XDG_* must not decide a test.
	b.Env = []string{
		"HOME=" + b.Home,
		"PATH=" + strings.Join([]string{bin, own, os.Getenv("PATH")}, string(os.PathListSeparator)),
		"SHELL=/bin/sh",
		"TERM=xterm-256color",
		"TMPDIR=" + b.Tmp,
		"TMUX_TMPDIR=" + b.Tmp, // tmux ignores TMPDIR; a stray `tmux` must not meet the developer's server
		"ANTHROPIC_API_KEY=" + apiKey,
		"ANTHROPIC_BASE_URL=" + b.API.URL,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1", // otherwise the client clones it over the network
	}
	b.seedHome()
	b.seedProject()
	b.RecordHooks(lifeEvents...)
	t.Cleanup(b.explain)
	return b
}

// explain tells of a failed test what reached us from the client, and what came of it.
func (b *bench) explain() {
	if !b.t.Failed() {
		return
	}
	b.t.Logf("hooks recorded: %s", strings.Join(b.Names(), ", "))
	for i, r := range b.API.Requests() {
		b.t.Logf("API request %d, agent %q: %.2000q", i+1, r.AgentID, r.LastUserText())
	}
	log := b.command(context.Background(), "stopgate", "log", "--json", "--event", "Stop") // the test's own context is over
	answers, err := log.Output()
	b.t.Logf("what stops were answered: %s (%v)", answers[max(0, len(answers)-8000):], err)
}

// benchDir is short, unlike t.TempDir: the path of a unix socket below it must fit in 108 bytes.
func benchDir(t testing.TB) string {
	t.Helper()
	root, err := os.MkdirTemp("", "sg-e2e-")
	check(t, err)
	// The client knows a directory by its real path.
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A hook that outlived its client may still be writing.
		var err error
		if !poll(patience, func() bool { err = os.RemoveAll(root); return err == nil }) {
			t.Errorf("removing the bench: %v", err)
		}
	})
	return root
}

// seedHome makes the client believe that a person answered its first-run dialogs.
func (b *bench) seedHome() {
	b.t.Helper()
	b.writeJSON(filepath.Join(b.Home, ".claude.json"), map[string]any{
		"hasCompletedOnboarding":      true,
		"customApiKeyResponses":       map[string]any{"approved": []string{apiKey}, "rejected": []string{}},
		"messageIdleNotifThresholdMs": 3000,
		"projects":                    map[string]any{b.Project: map[string]any{"hasTrustDialogAccepted": true}},
	})
	b.Write(filepath.Join(b.Home, ".gitconfig"),
		"[user]\n\tname = Bench\n\temail = bench@example.com\n[init]\n\tdefaultBranch = main\n")
}

func (b *bench) seedProject() {
	b.t.Helper()
	b.Write("README.md", "A project.\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "all: begin"}} {
		b.Exec("git", args...).mustPass(b.t)
	}
}

// RecordHooks has the payloads of further events recorded.
func (b *bench) RecordHooks(events ...string) {
	b.t.Helper()
	recorder := filepath.Join(bin, "recorder")
	hooks, _ := b.Settings["hooks"].(map[string]any)
	if hooks == nil {
		hooks = map[string]any{}
		b.Settings["hooks"] = hooks
	}
	for _, name := range events {
		hooks[name] = []any{hookGroup(map[string]any{
			"type": "command", "command": recorder, "args": []string{b.records}, "timeout": 120,
		})}
	}
}

func hookGroup(hooks ...map[string]any) map[string]any { return map[string]any{"hooks": hooks} }

// ProjectHook adds a shell command for an event to the project's settings file, as a person
// would by hand.
func (b *bench) ProjectHook(event, command string) {
	b.t.Helper()
	path := filepath.Join(b.Project, ".claude", "settings.json")
	settings := map[string]any{}
	if raw, err := os.ReadFile(path); err == nil {
		check(b.t, json.Unmarshal(raw, &settings))
	} else if !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	hooks, _ := settings["hooks"].(map[string]any)
	if hooks == nil {
		hooks = map[string]any{}
		settings["hooks"] = hooks
	}
	groups, _ := hooks[event].([]any)
	hooks[event] = append(groups, hookGroup(map[string]any{"type": "command", "command": command, "timeout": 120}))
	b.writeJSON(path, settings)
}

// Write puts a file into the project (or anywhere, by an absolute path).
func (b *bench) Write(path, content string) {
	b.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.Project, path)
	}
	check(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(b.t, os.WriteFile(path, []byte(content), 0o644))
}

func (b *bench) writeJSON(path string, value any) {
	b.t.Helper()
	encoded, err := json.MarshalIndent(value, "", "  ")
	check(b.t, err)
	b.Write(path, string(encoded)+"\n")
}

// SettingsFile writes Settings down for one start of the client. Run, Start and TUI do so themselves.
func (b *bench) SettingsFile() string {
	b.t.Helper()
	b.starts++
	path := b.numbered("settings", "json")
	b.writeJSON(path, b.Settings)
	return path
}

func (b *bench) numbered(name, suffix string) string {
	return filepath.Join(b.root, fmt.Sprintf("%s-%d.%s", name, b.starts, suffix))
}

// outcome is how a command ended.
type outcome struct {
	Code   int
	Stdout string
	Stderr string
}

func (o outcome) lines() []string { return strings.Split(strings.TrimRight(o.Stdout, "\n"), "\n") }

func (o outcome) mustPass(t testing.TB) outcome {
	t.Helper()
	if o.Code != 0 {
		t.Fatalf("exit %d\nstdout: %s\nstderr: %s", o.Code, o.Stdout, o.Stderr)
	}
	return o
}

// Stopgate runs the program under test in the project.
func (b *bench) Stopgate(args ...string) outcome {
	b.t.Helper()
	return b.Exec("stopgate", args...)
}

// Exec runs a command of the bench's PATH in the project.
func (b *bench) Exec(name string, args ...string) outcome {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), runLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := b.command(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		b.t.Fatalf("%s did not end in %v\nstdout: %s\nstderr: %s", strings.Join(cmd.Args, " "), runLimit, &stdout, &stderr)
	}
	return outcome{exitCode(b.t, cmd, err), stdout.String(), stderr.String()}
}

// Command prepares a command with the bench's environment, in the project. It dies with the test
// at the latest, and so does its process group.
func (b *bench) Command(name string, args ...string) *exec.Cmd {
	b.t.Helper()
	return b.command(b.t.Context(), name, args...)
}

func (b *bench) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	b.t.Helper()
	cmd := exec.CommandContext(ctx, b.lookPath(name), args...)
	cmd.Args[0] = name
	cmd.Dir = b.Project
	cmd.Env = slices.Clone(b.Env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Asked first, killed when that does not help: the client's hooks run in sessions of their
	// own, and only the client can end them.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	return cmd
}

// lookPath searches the PATH of the bench, not of the test.
func (b *bench) lookPath(name string) string {
	b.t.Helper()
	if filepath.Base(name) != name {
		return name
	}
	for _, entry := range slices.Backward(b.Env) {
		if list, ok := strings.CutPrefix(entry, "PATH="); ok {
			for _, dir := range filepath.SplitList(list) {
				if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
					return path
				}
			}
			break
		}
	}
	b.t.Fatalf("%s is not on the PATH of the bench", name)
	return ""
}

// exitCode is what Run or Wait tells; anything but an exit ends the test.
func exitCode(t testing.TB, cmd *exec.Cmd, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("running %s: %v", strings.Join(cmd.Args, " "), err)
	}
	return cmd.ProcessState.ExitCode()
}
