//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// record is what these tests read of a journal record.
type record struct {
	Kind, Event, Session, Decision, Project string
	Call                                    string
	Enums                                   struct{ Source, Reason string }
	Agent                                   struct{ ID, Type string }
	Verdicts                                []struct{ Keeper, Outcome, Status, Message string }
}

// Answers are the journal's answers to an event, in order.
func (b *bench) Answers(event string) []record {
	b.t.Helper()
	var out []record
	for _, line := range b.Stopgate("log", "--json", "--event", event).mustPass(b.t).lines() {
		if line == "" {
			continue
		}
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			b.t.Fatalf("%v: %s", err, line)
		}
		if r.Kind == "answered" {
			out = append(out, r)
		}
	}
	return out
}

// Guard makes stopgate guard the project: hooks installed, this configuration
// approved.
func (b *bench) Guard(config string) {
	b.t.Helper()
	b.Write(".gauntlet/config.yml", config)
	b.Stopgate("init", "--yes").mustPass(b.t)
}

const untilFixed = `hooks:
  Stop:
    - run: test -e fixed || { echo "fixed is missing"; exit 1; }
      message: fix it first
`

func bash(command string) claudeapi.Answer {
	return claudeapi.Tool("Bash", map[string]any{"command": command})
}

// statuses lists decision and status of every answer.
func statuses(answers []record) []string {
	var out []string
	for _, r := range answers {
		text := r.Decision
		for _, v := range r.Verdicts {
			text += " " + v.Keeper + ":" + v.Status
		}
		out = append(out, text)
	}
	return out
}

func (b *bench) wantAnswers(event string, want ...string) {
	b.t.Helper()
	if got := statuses(b.Answers(event)); !slices.Equal(got, want) {
		b.t.Errorf("%s was answered %q, want %q", event, got, want)
	}
}

func TestStopIsBlockedByAGuardCommandUntilItIsFixed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard(untilFixed)
	b.API.Script(claudeapi.Text("Finished."), bash("touch fixed"), claudeapi.Text("Fixed."))
	h := b.Run("do it")
	if h.Code != 0 || h.Reply().Text != "Fixed." {
		t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
	}
	requests := b.API.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3", len(requests))
	}
	feedback := requests[1].LastUserText()
	if !strings.HasPrefix(feedback, "Stop hook feedback:\nfix it first") || !strings.Contains(feedback, "fixed is missing") {
		t.Errorf("the agent was told %q", feedback)
	}
	b.wantAnswers("Stop", "block guard:failed", "allow guard:passed")
}

func TestStopIsBlockedInTheTerminalToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard(untilFixed)
	b.API.Script(claudeapi.Text("Finished."), bash("touch fixed"), claudeapi.Text("Fixed."))
	tui := b.TUI()
	tui.Send("do it")
	first := b.WaitEvent("Stop")
	b.WaitEvent("Stop", after(first))
	b.API.WaitRequest(t, func(r claudeapi.Request) bool {
		return strings.HasPrefix(r.LastUserText(), "Stop hook feedback:\nfix it first")
	})
	if !poll(patience, func() bool { return len(b.Answers("Stop")) == 2 }) {
		t.Error("two answers were expected")
	}
	b.wantAnswers("Stop", "block guard:failed", "allow guard:passed")
}

func TestLoopEndsAfterThreeBlocksAndAPersonIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	told := filepath.Join(b.Tmp, "told")
	b.Guard(untilFixed)
	b.Write(filepath.Join(b.Home, ".config/agent-gauntlet/config.yml"),
		"trust: enforce\nnotify:\n  command: printf '%s' >"+told+"\n")
	b.API.Script(claudeapi.Always(claudeapi.Text("I am done.")))
	h := b.Run("do it")
	if h.Code != 0 {
		t.Errorf("exit %d\n%s", h.Code, h.Stderr)
	}
	b.wantAnswers("Stop", "block guard:failed", "block guard:failed", "block guard:failed", "allow guard:gave_up")
	if n := len(b.API.Requests()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
	last := h.Hooks("Stop")
	if out := last[len(last)-1].Stdout; !slices.ContainsFunc(last, func(r hookRun) bool {
		return strings.Contains(r.Stdout, "systemMessage") && strings.Contains(r.Stdout, "gave up")
	}) {
		t.Errorf("nobody was told: %s", out)
	}
	if !poll(patience, func() bool { text, _ := os.ReadFile(told); return strings.Contains(string(text), "gave up") }) {
		t.Error("no notification")
	}
}

func TestANewPromptStartsANewCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard(untilFixed)
	b.API.Script(claudeapi.Always(claudeapi.Text("I am done.")))
	h := b.Start()
	for _, prompt := range []string{"one", "two"} {
		h.Send(prompt)
		h.WaitReply()
	}
	h.Close()
	one := []string{"block guard:failed", "block guard:failed", "block guard:failed", "allow guard:gave_up"}
	b.wantAnswers("Stop", slices.Concat(one, one)...)
}

func TestSubagentStopRunsItsCommandsWithTheAgentsEnvironment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard(`hooks:
  SubagentStop:
    - match: "general-*"
      run: env | grep '^CONCLAUDE_' | sort > "$TMPDIR/agent.env"; cat > "$TMPDIR/agent.json"
    - match: "nobody"
      run: touch "$TMPDIR/wrong"
`)
	b.API.Script(claudeapi.Join(claudeapi.Text("I'll ask."), claudeapi.Agent("Count", "Count the files.")), claudeapi.Text("Three files."))
	b.API.On(claudeapi.Prompt("Count the files."), claudeapi.Text("3"))
	b.Run("how many files?")
	stop := b.WaitEvent("SubagentStop")
	env, err := os.ReadFile(filepath.Join(b.Tmp, "agent.env"))
	check(t, err)
	want := []string{
		"CONCLAUDE_AGENT_ID=" + stop.Str("agent_id"),
		"CONCLAUDE_AGENT_TRANSCRIPT_PATH=" + stop.Str("agent_transcript_path"),
		"CONCLAUDE_AGENT_TYPE=general-purpose",
		"CONCLAUDE_CONFIG_DIR=" + filepath.Join(b.Project, ".gauntlet"),
		"CONCLAUDE_CWD=" + stop.Str("cwd"),
		"CONCLAUDE_HOOK_EVENT=SubagentStop",
		"CONCLAUDE_SESSION_ID=" + stop.Session(),
		"CONCLAUDE_TRANSCRIPT_PATH=" + stop.Str("transcript_path"),
	}
	if got := strings.Split(strings.TrimSpace(string(env)), "\n"); !slices.Equal(got, want) {
		t.Errorf("environment\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if payload, _ := os.ReadFile(filepath.Join(b.Tmp, "agent.json")); !json.Valid(payload) {
		t.Errorf("payload on stdin: %q", payload)
	}
	if _, err := os.Stat(filepath.Join(b.Tmp, "wrong")); err == nil {
		t.Error("a command for another agent ran")
	}
	answers := b.Answers("SubagentStop")
	if len(answers) != 1 || answers[0].Agent.ID != stop.Str("agent_id") || answers[0].Agent.Type != "general-purpose" {
		t.Errorf("journal: %+v", answers)
	}
}

func TestSubagentGoesOnWhenItsStopIsBlocked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard("hooks:\n  SubagentStop:\n    - run: test -e fixed\n      on_failure: block\n      message: count again\n")
	b.API.Script(claudeapi.Agent("Count", "Count the files."), claudeapi.Text("Three files."))
	b.API.On(claudeapi.Prompt("Count the files."), claudeapi.Text("2"), bash("touch fixed"), claudeapi.Text("3"))
	b.Run("how many files?")
	b.wantAnswers("SubagentStop", "block guard:failed", "allow guard:passed")
	b.API.WaitRequest(t, func(r claudeapi.Request) bool {
		return r.AgentID != "" && strings.Contains(r.LastUserText(), "count again")
	})
}

func TestClearGivesANewSessionThatIsGuardedToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard("hooks:\n  Stop:\n    - run: \"true\"\n")
	tui := b.TUI()
	tui.Send("one")
	first := b.WaitEvent("Stop")
	cleared := tui.Clear()
	tui.Send("two")
	second := b.WaitEvent("Stop", after(first))
	if first.Session() == second.Session() || cleared.Session() != second.Session() {
		t.Errorf("sessions %s, %s, %s", first.Session(), cleared.Session(), second.Session())
	}
	if !poll(patience, func() bool { return len(b.Answers("Stop")) == 2 }) {
		t.Fatalf("answers %q", statuses(b.Answers("Stop")))
	}
	ends, starts, stops := b.Answers("SessionEnd"), b.Answers("SessionStart"), b.Answers("Stop")
	if len(ends) != 1 || ends[0].Enums.Reason != "clear" || ends[0].Session != first.Session() {
		t.Errorf("SessionEnd: %+v", ends)
	}
	if len(starts) != 2 || starts[1].Enums.Source != "clear" || starts[1].Session != second.Session() {
		t.Errorf("SessionStart: %+v", starts)
	}
	if stops[1].Session != second.Session() || stops[1].Decision != "allow" || len(stops[1].Verdicts) != 1 {
		t.Errorf("Stop: %+v", stops)
	}
}

func TestInstallDoctorUninstall(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"--user", "--project", "--local"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Write(".gauntlet/config.yml", untilFixed)
			b.Write("fixed", "")
			files := []string{filepath.Join(b.Home, ".claude/settings.json"), filepath.Join(b.Project, ".claude/settings.json"), filepath.Join(b.Project, ".claude/settings.local.json")}
			before := contents(files)

			b.Stopgate("hooks", "install", scope, "--yes").mustPass(t)
			b.Stopgate("trust", "--yes").mustPass(t)
			doctor := b.Stopgate("doctor").mustPass(t)
			if !strings.Contains(doctor.Stdout, "enforcement is live") {
				t.Errorf("doctor: %s", doctor.Stdout)
			}
			checked := len(b.Answers("Stop"))
			b.Run("hello")
			if got := len(b.Answers("Stop")) - checked; got != 1 {
				t.Errorf("the client called us %d times for one stop", got)
			}

			b.Stopgate("hooks", "uninstall", "--yes").mustPass(t)
			if after := contents(files); !slices.Equal(before, after) {
				t.Errorf("settings before %q, after %q", before, after)
			}
			if b.Stopgate("doctor").Code != 1 {
				t.Error("doctor calls it live although nothing is installed")
			}
			b.Run("hello again")
			if got := len(b.Answers("Stop")) - checked; got != 1 {
				t.Error("the client still calls us")
			}
		})
	}
}

func contents(files []string) []string {
	var out []string
	for _, file := range files {
		text, _ := os.ReadFile(file)
		out = append(out, string(text))
	}
	return out
}

func TestHookThatRunsPastTheDeadlineCouldNotRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard(`hooks:
  Stop:
    - run: echo $$ > "$TMPDIR/pid"; sleep 300
      timeout: 10m
`)
	settings := filepath.Join(b.Project, ".claude/settings.local.json")
	text, err := os.ReadFile(settings)
	check(t, err)
	// The client would end it after 20 seconds and count that as allowed, without a word.
	b.Write(settings, strings.Replace(string(text), `"timeout": 1200`, `"timeout": 20`, 1))
	h := b.Run("do it")
	if h.Code != 0 {
		t.Errorf("exit %d\n%s", h.Code, h.Stderr)
	}
	b.wantAnswers("Stop", "allow guard:deadline")
	for _, run := range h.Hooks("Stop") {
		if run.Outcome != "success" {
			t.Errorf("the client ended the hook: %+v", run)
		}
	}
	if !slices.ContainsFunc(h.Hooks("Stop"), func(r hookRun) bool { return strings.Contains(r.Stdout, "systemMessage") }) {
		t.Error("nobody was told")
	}
	pid, err := os.ReadFile(filepath.Join(b.Tmp, "pid"))
	check(t, err)
	if !poll(patience, func() bool { _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); return err != nil }) {
		t.Error("the command still runs")
	}
}

func TestBrokenConfigDoesNotBlock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard(untilFixed)
	b.Write(filepath.Join(b.Home, ".config/agent-gauntlet/config.yml"), "trust: off\n")
	b.Write(".gauntlet/config.yml", "hooks:\n  Stop:\n    - runn: \"false\"\n")
	h := b.Run("do it")
	if h.Code != 0 || len(b.API.Requests()) != 1 {
		t.Errorf("exit %d after %d requests\n%s", h.Code, len(b.API.Requests()), h.Stderr)
	}
	b.wantAnswers("Stop", "allow config:invalid_config")
	if !slices.ContainsFunc(h.Hooks("Stop"), func(r hookRun) bool { return strings.Contains(r.Stdout, "config.yml:3:7") }) {
		t.Errorf("nobody was told: %+v", h.Hooks("Stop"))
	}
}

func TestAgentThatEditsItsGatesIsStillHeldToThem(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]string{
		"empties the config":    "echo 'hooks: {}' > .gauntlet/config.yml",
		"deletes the folder":    "rm -r .gauntlet",
		"empties the script":    "echo 'exit 0' > .gauntlet/check.sh",
		"approves for itself":   "echo 'hooks: {}' > .gauntlet/config.yml; stopgate trust --yes",
		"switches it off":       "stopgate off --for 1h --yes",
		"breaks the config":     "echo '{' > .gauntlet/config.yml",
		"replaces it by a fifo": "rm .gauntlet/check.sh && mkfifo .gauntlet/check.sh",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Write(".gauntlet/check.sh", "test -e fixed\n")
			b.Guard("hooks:\n  Stop:\n    - run: sh .gauntlet/check.sh\n      message: fix it first\n")
			b.API.Script(bash(edit), claudeapi.Text("Finished."), bash("touch fixed"), claudeapi.Text("Fixed."))
			b.Run("do it")
			answers := b.Answers("Stop")
			if len(answers) != 2 || answers[0].Decision != "block" || answers[1].Decision != "allow" {
				t.Errorf("answers %q", statuses(answers))
			}
		})
	}
}

func TestLeavingTheProjectDoesNotLeaveItsGates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard(untilFixed)
	elsewhere := filepath.Join(b.Tmp, "elsewhere")
	check(t, os.Mkdir(elsewhere, 0o700))
	b.API.Script(bash("cd "+elsewhere), claudeapi.Text("Finished."), bash("touch "+b.Project+"/fixed"), claudeapi.Text("Fixed."))
	b.Run("do it", "--add-dir", elsewhere, "--verbose")
	if cwd := b.WaitEvent("Stop").Str("cwd"); cwd != elsewhere {
		t.Errorf("the agent stopped in %s; this test needs it elsewhere", cwd)
	}
	b.wantAnswers("Stop", "block guard:failed", "allow guard:passed")
}

func TestPreToolUseCommandDeniesATool(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard(`hooks:
  PreToolUse:
    - match: Bash
      run: 'if grep -q forbidden; then echo "not that one" >&2; exit 2; fi'
`)
	b.API.Script(bash("echo forbidden > out"), bash("echo fine > out"), claudeapi.Text("Done."))
	b.Run("do it")
	requests := b.API.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	if r := requests[1].ToolResults(); len(r) != 1 || !r[0].IsError || !strings.Contains(r[0].Text, "not that one") {
		t.Errorf("tool results %+v", r)
	}
	if out, _ := os.ReadFile(filepath.Join(b.Project, "out")); string(out) != "fine\n" {
		t.Errorf("out holds %q", out)
	}
	b.wantAnswers("PreToolUse", "block guard:failed", "allow guard:passed")
}

func TestUnapprovedProjectRunsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Write(".gauntlet/config.yml", "hooks:\n  Stop:\n    - run: touch ran; false\n")
	b.Stopgate("hooks", "install", "--user").mustPass(t)
	h := b.Run("do it")
	if h.Code != 0 || len(b.API.Requests()) != 1 {
		t.Errorf("exit %d after %d requests", h.Code, len(b.API.Requests()))
	}
	b.wantAnswers("Stop", "allow trust:untrusted")
	if _, err := os.Stat(filepath.Join(b.Project, "ran")); err == nil {
		t.Error("it ran")
	}
	if !slices.ContainsFunc(h.Hooks("Stop"), func(r hookRun) bool {
		return strings.Contains(r.Stdout, "stopgate trust") && strings.Contains(r.Stdout, "touch ran")
	}) {
		t.Errorf("nobody was told: %+v", h.Hooks("Stop"))
	}
}

func TestEveryBlockableFormIsHonoured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Guard("hooks:\n  UserPromptSubmit:\n    - run: grep -qv secret\n      on_failure: block\n      message: no secrets\n")
	h := b.Start()
	h.Send("my secret")
	h.WaitReply()
	h.Send("hello")
	h.WaitReply()
	h.Close()
	for _, r := range b.API.Requests() {
		if strings.Contains(strings.Join(r.Texts(), "\n"), "my secret") {
			t.Error("the prompt reached the model")
		}
	}
	b.wantAnswers("UserPromptSubmit", "block guard:failed", "allow guard:passed")
}
