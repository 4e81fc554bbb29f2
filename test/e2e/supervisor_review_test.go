//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

func TestAgentGoesOnUntilItsWorkIsCalledComplete(t *testing.T) {
	eachEntry(t, func(t *testing.T, b *bench) {
		b.API.On(byReviewer, undone("Write a test for it."), done)
		b.API.Script(claudeapi.Text("Finished."), bash("echo true > test.sh"), claudeapi.Text("Tested."))
		h := b.Run("write it")
		if h.Code != 0 || h.Reply().Text != "Tested." {
			t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
		}
		b.wantSentBack("Write a test for it.")
		b.wantAnswers("Stop", "block supervisor:not_completed", "allow supervisor:completed")
		b.wantReviews(2)
		b.wantEntry(true)
		if !strings.Contains(h.Stderr, "[Supervisor Mode] 日志文件:") {
			t.Errorf("stderr: %s", h.Stderr)
		}
		reviews := b.reviews()
		for i, holds := range [][]string{
			{"Finished."},
			{"Tested.", "Write a test for it."},
		} {
			if asked := reviews[i].FirstUserText(); asked != "write it" {
				t.Errorf("review %d is of a conversation that began with %q", i+1, asked)
			}
			for _, text := range holds {
				if !strings.Contains(reviews[i].LastUserText(), text) {
					t.Errorf("review %d was not told of %q", i+1, text)
				}
			}
		}
	})
}

// refuse is a reviewer that never calls the work complete, and costs no time.
func refuse(pids string) string {
	return `echo '{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"completed":false,"feedback":"Refusal '$(($(wc -l <` +
		pids + `)))'."}}'; exit`
}

// The client itself would override the ninth block in a row.
func TestAgentIsLetGoAfterTenRefusals(t *testing.T) {
	t.Parallel()
	for name, install := range entryKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(nil)
			install(b)
			told := filepath.Join(b.Tmp, "told")
			b.Notify("printf '%s\\n' >>" + told)
			b.Reviewer(refuse(filepath.Join(b.Tmp, "reviewers")))
			h := b.Run("write it")
			if h.Code != 0 {
				t.Errorf("exit %d\n%s", h.Code, h.Stderr)
			}
			var feedback []string
			for i := range 10 {
				feedback = append(feedback, fmt.Sprintf("Refusal %d.", i+1))
			}
			b.wantSentBack(feedback...)
			b.wantAnswers("Stop", append(slices.Repeat([]string{"block supervisor:not_completed"}, 10), "allow supervisor:limit_reached")...)
			if log, err := os.ReadFile(h.Debug); err != nil || strings.Contains(string(log), "consecutive times") {
				t.Errorf("the client overrode a block (%v)", err)
			}
			if !poll(patience, func() bool { return len(readLines(told)) == 1 }) || !strings.Contains(readLines(told)[0], "max_iterations") {
				t.Errorf("notified of %q", readLines(told))
			}
			if name == "hook" {
				h.wantTold("max_iterations")
				return
			}
			// The entry alone says nothing, to the letter of the specification.
			for _, run := range h.Hooks("Stop") {
				if run.Outcome != "success" || strings.Contains(run.Stdout, "systemMessage") {
					t.Errorf("a hook printed %q (%s)", run.Stdout, run.Outcome)
				}
			}
			if log, _ := os.ReadFile(b.claudeFile("ccc", "hook-invocation.log")); !strings.Contains(string(log), "status=limit_reached") {
				t.Errorf("the log says\n%s", log)
			}
		})
	}
}

func TestNoReviewIsPaidForWhileGatesAreRed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	gate := b.runs()
	b.Gates(oneCheck(gate.counted(`test -e fixed || { echo "fixed is missing"; exit 1; }`), verifying))
	b.API.On(byReviewer, done)
	b.API.Script(working, claudeapi.Text("Finished."), claudeapi.Text("Finished, I say."), bash("touch fixed"), claudeapi.Text("Fixed."))
	b.Run("do it")
	b.wantAnswers("Stop", "block gates:failed", "block gates:failed", "allow gates:passed supervisor:completed")
	b.wantReviews(1)
	gate.want(t, 3)
	if told := b.reviews()[0].LastUserText(); !strings.Contains(told, "Fixed.") {
		t.Errorf("the reviewer was told %q", told)
	}
}

// A gate that is red again after a review is no reason to pay for another.
func TestGatesAreAskedBeforeEachReview(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	b.Gates(oneCheck(`! test -e broken`, verifying))
	b.API.On(byReviewer, undone("Go on."), done)
	b.API.Script(working, claudeapi.Text("Finished."), bash("touch broken"), claudeapi.Text("Gone on."), bash("rm broken"), claudeapi.Text("Fixed."))
	b.Run("do it")
	b.wantAnswers("Stop", "block gates:passed supervisor:not_completed", "block gates:failed", "allow gates:passed supervisor:completed")
	b.wantReviews(2)
}

// The agent's own client inherits its environment and the person's settings.
func TestClientOfTheAgentIsNotReviewed(t *testing.T) {
	t.Parallel()
	for name, install := range entryKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "supervisor-hook" && runtime.GOOS != "linux" {
				t.Skip("one hook alone cannot tell whose client calls it")
			}
			b := newBench(t)
			b.Launcher(nil)
			install(b)
			b.API.On(byReviewer, done)
			b.API.On(claudeapi.Prompt("count the files"), claudeapi.Text("Three."))
			b.API.Script(bash("claude --settings "+b.SettingsFile()+" -p 'count the files' </dev/null"), claudeapi.Text("There are three."))
			b.Run("how many files?")
			stops := b.Events("Stop")
			if len(stops) != 2 || stops[0].Str("last_assistant_message") != "Three." || stops[0].Session() == stops[1].Session() {
				t.Fatalf("%d stops; this test needs one of each client", len(stops))
			}
			b.wantReviews(1)
			if asked := b.reviews()[0].FirstUserText(); asked != "how many files?" {
				t.Errorf("the review is of %q", asked)
			}
			if _, err := os.Stat(b.claudeFile("ccc", "supervisor-"+stops[0].Session()+".json")); err == nil {
				t.Error("the agent's own client has a state")
			}
		})
	}
}

func TestClientThatWasNotLaunchedIsNotReviewed(t *testing.T) {
	eachEntry(t, func(t *testing.T, b *bench) {
		b.API.On(byReviewer, done, done)
		living := b.Start()
		living.Send("one")
		living.WaitReply()
		b.wantReviews(1)

		b.Client = []string{"claude"}
		if h := b.Run("hello"); h.Code != 0 || len(h.Hooks("Stop")) < 2 {
			t.Errorf("exit %d after %+v", h.Code, h.Hooks("Stop"))
		}
		b.wantReviews(1)

		living.Send("two")
		living.WaitReply()
		living.Close()
		b.wantReviews(2)
	})
}

func TestReviewerLeavesNoTrace(t *testing.T) {
	eachEntry(t, func(t *testing.T, b *bench) {
		clients := b.runs()
		for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PreToolUse"} {
			b.ProjectHook(event, clients.counted("true"))
		}
		pids := b.Reviewer("")
		b.API.On(byReviewer, claudeapi.Tool("Read", map[string]any{"file_path": filepath.Join(b.Project, "README.md")}), done)
		h := b.Run("do it")
		b.wantAnswers("Stop", "allow supervisor:completed")
		b.wantReviews(1)
		clients.want(t, 4) // the agent's own: one start, one prompt, one stop, one end
		wantGone(t, "the reviewer", waitPIDs(t, pids, 2)[1])

		reviews := b.reviews()
		if len(reviews) != 2 || len(reviews[1].ToolResults()) != 1 || reviews[1].ToolResults()[0].IsError {
			t.Errorf("the reviewer could not read a file: %d requests", len(reviews))
		}
		for _, tool := range []string{"Edit", "Write", "NotebookEdit"} {
			if reviews[0].HasTool(tool) {
				t.Errorf("the reviewer has %s", tool)
			}
		}
		sessions, err := filepath.Glob(b.claudeFile("projects", "*", "*.jsonl"))
		if err != nil || len(sessions) != 1 || filepath.Base(sessions[0]) != h.Reply().Session+".jsonl" {
			t.Errorf("sessions on disk: %q (%v), want the agent's alone", sessions, err)
		}
		if got := b.Exec("git", "status", "--porcelain", "--", ":!.claude").mustPass(t).Stdout; got != "" {
			t.Errorf("the project has changed:\n%s", got)
		}
	})
}
