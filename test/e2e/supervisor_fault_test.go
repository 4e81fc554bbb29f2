//go:build unix

package e2e

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// A review that came to nothing says nothing about the work: the agent may stop, and a person
// hears of it.
func TestReviewerThatFailsDoesNotBlock(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string // before the real client
		answer claudeapi.Answer
		told   string
	}{
		"it crashes":          {script: "kill -SEGV $$", told: "without a result"},
		"it gives no result":  {script: `echo '{"type":"system"}'; echo no disk left >&2; exit 3`, told: "no disk left"},
		"it answers half":     {script: `printf '{"type":"result","subtype":"success","structured_output":{"completed":fal'; exit 1`, told: "without a result"},
		"it hangs":            {answer: claudeapi.Hold(make(chan struct{}), done), told: "timed out"},
		"it will not die":     {script: "trap '' TERM INT HUP; sleep 300 & echo $! >$TMPDIR/child; while :; do wait; done", told: "timed out"},
		"an error of the API": {answer: claudeapi.Always(claudeapi.Error(400, "no such model")), told: "no such model"},
	} {
		for entry, install := range entryKinds {
			t.Run(name+"/"+entry, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.Launcher(nil)
				install(b)
				if tt.told == "timed out" {
					b.Global("supervisor:\n  timeout_seconds: 5\n")
				}
				pids := b.Reviewer(tt.script)
				b.API.On(byReviewer, tt.answer)
				b.API.Script(claudeapi.Text("Finished."))
				h := b.Run("do it")
				if h.Code != 0 || h.Reply().Text != "Finished." {
					t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
				}
				b.wantSentBack()
				b.wantAnswers("Stop", "allow supervisor:unavailable")
				h.wantTold("the work was not reviewed")
				h.wantTold(tt.told)
				wantGone(t, "the reviewer", waitPIDs(t, pids, 2)[1])
				if strings.Contains(tt.script, "child") {
					wantGone(t, "what the reviewer started", waitPIDs(t, filepath.Join(b.Tmp, "child"), 1)[0])
				}
			})
		}
	}
}

func TestMissingReviewerDoesNotBlock(t *testing.T) {
	eachEntry(t, func(t *testing.T, b *bench) {
		b.Reviewer("")
		client := filepath.Join(b.root, "bin", "claude")
		once := filepath.Join(b.Tmp, "once")
		b.Env = append(b.Env, "CCC_CLAUDE="+once)
		b.Write(once, "#!/bin/sh\nrm "+once+"\nexec "+client+" \"$@\"\n")
		b.Exec("chmod", "755", once).mustPass(t)
		h := b.Run("do it")
		b.wantSentBack()
		b.wantAnswers("Stop", "allow supervisor:unavailable")
		h.wantTold("CCC_CLAUDE")
	})
}

func TestKilledHookLeavesNoReviewer(t *testing.T) {
	eachEntry(t, func(t *testing.T, b *bench) {
		pids := b.Reviewer("")
		b.API.On(byReviewer, claudeapi.Hold(make(chan struct{}), done), done)
		h := b.Start()
		h.Send("do it")
		b.API.WaitRequest(t, byReviewer)
		pid := waitPIDs(t, pids, 2)
		check(t, syscall.Kill(pid[0], syscall.SIGKILL))
		h.WaitReply()
		h.wantFailedHook()
		wantGone(t, "the reviewer of the killed hook", pid[1])
		h.Send("go on")
		h.WaitReply()
		h.Close()
		b.wantAnswers("Stop", "allow supervisor:completed") // the first call never came to an answer
		b.wantReviews(2)
	})
}

// What is no JSON is the reviewer's opinion all the same.
func TestReviewerThatAnswersInProseIsHeard(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ answer, feedback string }{
		"prose":              {"The tests are missing, and so is the manual.", "The tests are missing, and so is the manual."},
		"an object in prose": {"I looked at it.\n```json\n{\"completed\": false, \"feedback\": \"No tests.\"}\n```\n", "No tests."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(map[string]any{"max_iterations": 1})
			pids := b.Reviewer("")
			b.API.On(byReviewer, claudeapi.Always(claudeapi.Text(tt.answer)))
			b.Run("do it")
			b.wantSentBack(tt.feedback)
			b.wantAnswers("Stop", "block supervisor:not_completed", "allow supervisor:limit_reached")
			wantGone(t, "the reviewer", waitPIDs(t, pids, 2)[1])
		})
	}
}

// fiveMillion prints a result line of 5 MB with x at the place of the letters.
func fiveMillion(before, after string) string {
	return "printf '%s' '" + before + "'; head -c 5000000 /dev/zero | tr '\\0' x; echo '" + after + "'; exit"
}

func TestAnswerOfFiveMegabytesIsHeard(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script   string
		answers  []string
		sentBack int
	}{
		"complete": {
			fiveMillion(`{"type":"result","subtype":"success","structured_output":{"feedback":"`, `","completed":true}}`),
			[]string{"allow supervisor:completed"},
			0,
		},
		"prose": {
			fiveMillion(`{"type":"result","subtype":"success","result":"`, `"}`),
			[]string{"block supervisor:not_completed", "allow supervisor:limit_reached"},
			1,
		},
		"no result": {
			fiveMillion(`{"type":"system","text":"`, `"}`),
			[]string{"allow supervisor:unavailable"},
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(map[string]any{"max_iterations": 1})
			pids := b.Reviewer(tt.script)
			h := b.Run("do it")
			if h.Code != 0 {
				t.Errorf("exit %d\n%s", h.Code, h.Stderr)
			}
			if got := b.feedback(); len(got) != tt.sentBack || len(got) > 0 && !strings.HasPrefix(got[0], "xxx") {
				t.Errorf("the agent was sent back with %.200q", got)
			}
			b.wantAnswers("Stop", tt.answers...)
			wantGone(t, "the reviewer", waitPIDs(t, pids, 2)[1])
		})
	}
}

// The client itself loses what it has not printed when it exits, if that goes into a pipe: of
// 2.1.197 the end of an answer of 1 MB never came on a busy machine. So it is given a file.
func TestAnswerOfFiveMegabytesByTheClientIsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	pids := b.Reviewer("")
	b.API.On(byReviewer, claudeapi.Structured(map[string]any{"feedback": strings.Repeat("More. ", 5<<20/6), "completed": false}),
		claudeapi.Structured(map[string]any{"feedback": strings.Repeat("Well done. ", 5<<20/11), "completed": true}))
	b.Run("do it")
	b.wantAnswers("Stop", "block supervisor:not_completed", "allow supervisor:completed")
	wantGone(t, "the reviewer", waitPIDs(t, pids, 4)[3])
}
