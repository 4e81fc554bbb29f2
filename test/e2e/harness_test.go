//go:build unix

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

func TestHeadlessPromptIsRecordedFromStartToEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.API.Script(claudeapi.Text("Hello to you."))
	h := b.Run("hello")
	if h.Code != 0 || h.Reply().Text != "Hello to you." || h.Reply().IsError {
		t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
	}
	if got, want := b.Names(), []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"}; !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	stop := b.WaitEvent("Stop")
	if stop.Str("last_assistant_message") != "Hello to you." || stop.Bool("stop_hook_active") || stop.Session() != h.Reply().Session {
		t.Errorf("Stop: %s", stop.Raw)
	}
	if requests := b.API.Requests(); len(requests) != 1 || requests[0].LastUserText() != "hello" {
		t.Errorf("%d requests", len(requests))
	}
	if hooks := h.Hooks("Stop"); len(hooks) != 1 || hooks[0].Outcome != "success" {
		t.Errorf("hook runs %+v", hooks)
	}
	if _, err := os.Stat(h.Debug); err != nil {
		t.Error(err)
	}
}

// blockOnce is a Stop hook that a person might have written.
const blockOnce = `#!/bin/sh
test -e "$TMPDIR/blocked" && exit 0
touch "$TMPDIR/blocked"
echo '{"decision":"block","reason":"Run the tests first."}'
`

func TestBlockedStopReachesTheModel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Write(".claude/once.sh", blockOnce)
	b.ProjectHook("Stop", `sh "$CLAUDE_PROJECT_DIR/.claude/once.sh"`)
	b.API.Script(claudeapi.Text("Finished."), claudeapi.Tool("Bash", map[string]any{"command": "echo tested"}), claudeapi.Text("Tested."))
	h := b.Run("do it")
	if h.Code != 0 || h.Reply().Text != "Tested." {
		t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
	}
	requests := b.API.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3", len(requests))
	}
	if got, want := requests[1].LastUserText(), "Stop hook feedback:\nRun the tests first."; got != want {
		t.Errorf("second request ends with %q, want %q", got, want)
	}
	if results := requests[2].ToolResults(); len(results) != 1 || results[0].IsError || !strings.Contains(results[0].Text, "tested") {
		t.Errorf("tool results %+v", results)
	}
	stops := b.Events("Stop")
	if len(stops) != 2 || stops[0].Bool("stop_hook_active") || !stops[1].Bool("stop_hook_active") {
		t.Errorf("%d stops recorded", len(stops))
	}
	if stops[0].Str("prompt_id") != stops[1].Str("prompt_id") {
		t.Error("a blocked stop and the one after it must have the same prompt_id")
	}
}

func TestSubagentIsRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.API.Script(claudeapi.Join(claudeapi.Text("I'll ask."), claudeapi.Agent("Count", "Count the files.")), claudeapi.Text("Three files."))
	b.API.On(claudeapi.Prompt("Count the files."), claudeapi.Text("3"))
	h := b.Run("how many files?")
	if h.Reply().Text != "Three files." {
		t.Errorf("reply %+v", h.Reply())
	}
	want := []string{"SessionStart", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"}
	if got := b.Names(); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	stop := b.WaitEvent("SubagentStop")
	if stop.Str("last_assistant_message") != "3" || stop.Str("agent_id") == "" {
		t.Errorf("SubagentStop: %s", stop.Raw)
	}
	asked := b.API.WaitRequest(t, claudeapi.Prompt("Count the files."))
	if asked.AgentID != stop.Str("agent_id") {
		t.Errorf("the subagent asked as %q and stopped as %q", asked.AgentID, stop.Str("agent_id"))
	}
}

func TestSeveralPromptsInOneProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.API.Script(claudeapi.Text("one"), claudeapi.Text("two"))
	h := b.Start()
	for _, want := range []string{"one", "two"} {
		h.Send("say " + want)
		if got := h.WaitReply().Text; got != want {
			t.Errorf("reply %q, want %q", got, want)
		}
	}
	if h.Close().Code != 0 {
		t.Errorf("exit %d\n%s", h.Code, h.Stderr)
	}
	prompts, stops := b.Events("UserPromptSubmit"), b.Events("Stop")
	if len(prompts) != 2 || len(stops) != 2 || prompts[1].Str("prompt") != "say two" {
		t.Errorf("recorded %v", b.Names())
	}
}

// The client does not wait for StopFailure hooks, and 2.1.325 ends them when it exits: this one is
// kept alive until the payload is there.
func TestAPIErrorIsAStopFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.API.Script(claudeapi.Always(claudeapi.Error(400, "no")))
	h := b.Start()
	h.Send("hello")
	if reply := h.WaitReply(); !reply.IsError {
		t.Errorf("reply %+v", reply)
	}
	b.WaitEvent("StopFailure")
	h.Close()
	if got := len(b.Events("Stop")); got != 0 {
		t.Errorf("%d stops recorded, want none", got)
	}
}

func TestTerminalTakesPromptsAndClears(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.API.Script(claudeapi.Text("First."), claudeapi.Text("Second."))
	s := b.TUI()
	if s.Started.Str("source") != "startup" {
		t.Errorf("SessionStart: %s", s.Started.Raw)
	}
	long := strings.Repeat("a prompt of several lines\n", 20) + "and its end"
	prompt := s.Send(long)
	if prompt.Str("prompt") != long {
		t.Errorf("submitted %q", prompt.Str("prompt"))
	}
	stop := b.WaitEvent("Stop", after(prompt))
	if stop.Str("last_assistant_message") != "First." {
		t.Errorf("Stop: %s", stop.Raw)
	}

	cleared := s.Clear()
	if cleared.Session() == s.Started.Session() {
		t.Error("/clear kept the session id")
	}
	stop = b.WaitEvent("Stop", after(s.Send("again")))
	if stop.Session() != cleared.Session() || stop.Str("last_assistant_message") != "Second." {
		t.Errorf("Stop after /clear: %s", stop.Raw)
	}
	if got := len(b.API.Requests()); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}

	s.Type("/exit")
	end := b.WaitEvent("SessionEnd", after(stop))
	if end.Str("reason") != "prompt_input_exit" {
		t.Errorf("SessionEnd: %s", end.Raw)
	}
	s.WaitExit()
}

// What a test prepares for the client must come from the bench alone.
func TestBenchIsShutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, entry := range b.Exec("env").mustPass(t).lines() {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "HOME", "TMPDIR", "TMUX_TMPDIR":
			if !strings.HasPrefix(value, filepath.Dir(b.Home)) {
				t.Errorf("%s lies outside the bench", entry)
			}
		case "PATH":
			if !strings.HasPrefix(value, bin+":") {
				t.Errorf("%s does not begin with the built programs", entry)
			}
		}
	}
	if got := b.Exec("git", "status", "--porcelain").mustPass(t).Stdout; got != "" {
		t.Errorf("the project is not clean:\n%s", got)
	}
}

// A test that ends early must leave no client behind.
func TestClientDiesWithItsTest(t *testing.T) {
	t.Parallel()
	var pid int
	t.Run("inner", func(t *testing.T) {
		b := newBench(t)
		b.API.Script(claudeapi.Hold(make(chan struct{}), claudeapi.Text("never")))
		h := b.Start()
		pid = h.cmd.Process.Pid
		h.Send("hello")
		b.API.WaitRequest(t, claudeapi.Last("hello"))
	})
	if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process group %d: %v, want it gone", pid, err)
	}
}

func TestStructuredAnswerIsReadBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.API.On(claudeapi.WithTool("StructuredOutput"), claudeapi.Structured(map[string]any{"completed": true}))
	h := b.Run("is it done?", "--json-schema", `{"type":"object","properties":{"completed":{"type":"boolean"}},"required":["completed"]}`)
	if got := string(h.Reply().Structured); got != `{"completed":true}` {
		t.Errorf("structured output %q\n%s", got, h.tail())
	}
}
