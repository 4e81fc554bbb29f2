//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// entries are the two ways in which the client comes to the gates, by the
// command of its Stop hook.
var entries = map[string]func(b *bench, command string){
	"hook": func(b *bench, command string) {
		b.Stopgate("init", "--yes", "--check", command).mustPass(b.t)
	},
	"stop-hook": func(b *bench, command string) {
		b.Write(".gauntlet/config.yml", oneCheck(command, verifying))
		b.ProjectHook("Stop", "stopgate stop-hook")
	},
}

func TestFailingCheckBlocksUntilItIsFixed(t *testing.T) {
	t.Parallel()
	for name, install := range entries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			gate := b.runs()
			install(b, gate.counted(`grep -q right answer.txt || { echo "answer.txt is not right"; exit 1; }`))
			answer := func(content string) claudeapi.Answer {
				return claudeapi.Tool("Write", map[string]any{"file_path": filepath.Join(b.Project, "answer.txt"), "content": content})
			}
			b.API.Script(answer("wrong\n"), claudeapi.Text("Finished."),
				bash("echo right > answer.txt"), claudeapi.Text("Fixed."))
			h := b.Run("do it")
			if h.Code != 0 || h.Reply().Text != "Fixed." {
				t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
			}
			b.wantFeedback("answer.txt is not right")
			b.wantAnswers("Stop", "block gates:failed", "allow gates:passed")
			gate.want(t, 2)
			b.wantArchived("check_", "console.")
		})
	}
}

// wantArchived wants two runs of logs of each of these kinds, and all of them put
// away.
func (b *bench) wantArchived(kinds ...string) {
	b.t.Helper()
	logs := filepath.Join(b.Project, "gauntlet_logs")
	for _, kind := range kinds {
		if left, _ := filepath.Glob(filepath.Join(logs, kind+"*")); len(left) > 0 {
			b.t.Errorf("not put away: %q", left)
		}
		if kept, _ := filepath.Glob(filepath.Join(logs, "previous", kind+"*.log")); len(kept) != 2 {
			b.t.Errorf("put away: %q, want two runs of %s", kept, kind)
		}
	}
	if _, err := os.Stat(filepath.Join(logs, ".execution_state")); err != nil {
		b.t.Error(err)
	}
}

// Without verify_fixes the flag alone decides, as the older tool had it; then
// nobody may say that there will be another check.
func TestStopHookAloneAllowsTheStopAfterABlock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gate := b.runs()
	b.Write(".gauntlet/config.yml", oneCheck(gate.counted("false"), "stop_hook:\n  run_interval_minutes: 0\n"))
	b.ProjectHook("Stop", "stopgate stop-hook")
	b.Run("do it")
	b.wantFeedback("check:.:build")
	if text := b.feedback()[0]; strings.Contains(text, "verifies your fixes") {
		t.Errorf("it promises another check: %q", text)
	}
	b.wantAnswers("Stop", "block gates:failed", "allow gates:stop_hook_active")
	gate.want(t, 1)
}

func TestAgentThatNeverFixesItIsLetGoAndAPersonIsTold(t *testing.T) {
	t.Parallel()
	for name, install := range entries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			gate := b.runs()
			install(b, gate.counted("false"))
			told := filepath.Join(b.Tmp, "told")
			b.Notify("printf '%s\\n' >>" + told)
			b.API.Script(bash("echo x > work.txt"), claudeapi.Always(claudeapi.Text("I am done.")))
			h := b.Start()
			h.Send("do it")
			h.WaitReply()
			h.wantTold("retry limit")
			if !poll(patience, func() bool { return len(readLines(told)) == 1 }) || !strings.Contains(readLines(told)[0], "retry limit") {
				t.Errorf("notified of %q", readLines(told))
			}

			// Nothing has changed, so nobody is asked a second time.
			h.Send("go on")
			h.WaitReply()
			h.Close()
			b.wantFeedback("check:.:", "check:.:", "check:.:")
			b.wantAnswers("Stop", "block gates:failed", "block gates:failed", "block gates:failed",
				"allow gates:retry_limit_exceeded", "allow gates:retry_limit_exceeded")
			gate.want(t, 5)
			if lines := readLines(told); len(lines) != 1 {
				t.Errorf("notified again: %q", lines)
			}
		})
	}
}

// Notify adds a command that tells a person to the global configuration.
func (b *bench) Notify(command string) {
	b.t.Helper()
	path := filepath.Join(b.Home, ".config/agent-gauntlet/config.yml")
	before, _ := os.ReadFile(path)
	b.Write(path, string(before)+"notify:\n  command: "+command+"\n")
}

func readLines(path string) []string {
	text, _ := os.ReadFile(path)
	return slices.Collect(strings.Lines(string(text)))
}

// The client overrides the ninth block in a row without a word to anybody.
func TestGatesGiveUpBeforeTheClientOverridesThem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Gates(oneCheck("false", verifying, "max_retries: 20\n"))
	b.API.Script(working, claudeapi.Always(claudeapi.Text("I am done.")))
	h := b.Run("do it")
	h.wantTold("gave up")
	b.wantAnswers("Stop", append(slices.Repeat([]string{"block gates:failed"}, 8), "allow gates:gave_up")...)
	if log, err := os.ReadFile(h.Debug); err != nil || strings.Contains(string(log), "consecutive times") {
		t.Errorf("the client overrode a block (%v)", err)
	}
}

func TestGateThatCannotRunDoesNotBlock(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ config, told string }{
		"a missing tool":          {oneCheck("no-such-linter --all", verifying), "was not found (exit 127)"},
		"a tool nobody may run":   {oneCheck("./README.md", verifying), "cannot be executed"},
		"the time of all is over": {oneCheck("sleep 300", verifying, "  deadline: 10\n"), "by the time limit of the whole run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Gates(tt.config)
			b.API.Script(working, claudeapi.Text("Done."))
			h := b.Run("do it")
			if h.Code != 0 || len(b.API.Requests()) != 2 {
				t.Errorf("exit %d after %d requests\n%s", h.Code, len(b.API.Requests()), h.Stderr)
			}
			b.wantAnswers("Stop", "allow gates:infrastructure_error")
			h.wantTold("check:.:build")
			h.wantTold(tt.told)
		})
	}
}

func TestHangingCheckFailsAtItsTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pid := filepath.Join(b.Tmp, "pid")
	hang := oneCheck("test -e fixed || { echo $$ >" + pid + "; exec sleep 300; }")
	b.Gates(hang + "        timeout: 5\n" + verifying)
	b.API.Script(working, claudeapi.Text("Finished."), bash("touch fixed"), claudeapi.Text("Fixed."))
	b.Run("do it")
	b.wantFeedback("Timed out after 5s")
	b.wantAnswers("Stop", "block gates:failed", "allow gates:passed")
	wantGone(t, "the check", waitPIDs(t, pid, 1)[0])
}
