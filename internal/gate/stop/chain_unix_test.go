//go:build unix

package stop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
)

func TestRulingC2InsideOurOwnClientEveryHookAllows(t *testing.T) {
	s := newScene(t, "  Stop:\n    - run: touch ran; exit 1\n")
	s.env = append(s.env, claude.InsideVariable+"=1")
	for _, payload := range []string{string(s.payload(hook.Stop, nil)), "", "{"} {
		r := s.service().Handle(t.Context(), hook.Stop, strings.NewReader(payload))
		if len(r.Stdout) > 0 || r.Stderr != "" || r.Code != 0 {
			t.Errorf("got %+v, want nothing at all", r)
		}
	}
	if exists(s.path("ran")) || exists(s.state) {
		t.Error("something was done")
	}
}

// So does the hook that is told its agent: its lifecycle is not the reviewer's.
func TestRulingC2InsideOurOwnClientTheAgentHookAllows(t *testing.T) {
	for _, mark := range []string{claude.InsideVariable + "=1", claude.SupervisorVariable + "=1"} {
		s, _ := managed(t, agentdir.Idle, "")
		s.env = s.env[:1]
		wantBlock(t, s.alone(agentID, `{}`), "on_idle")
		before := len(s.records())
		s.env = append(s.env, mark)
		if r := s.alone(agentID, `{}`); len(r.Stdout) > 0 || r.Stderr != "" || r.Code != 0 {
			t.Errorf("%s: got %+v, want nothing at all", mark, r)
		}
		if after := len(s.records()); after != before {
			t.Errorf("%s: %d records were written", mark, after-before)
		}
	}
}

// The client counts from the start of the hook, so what was used before a keeper is asked
// is gone from its time: not more, and not less.
func TestTheTimeThatIsUsedIsOffTheDeadline(t *testing.T) {
	const timeout, used = 200 * time.Second, 100 * time.Second
	var left time.Duration
	s := newScene(t, "")
	s.timeout = timeout
	start := time.Now()
	called := false
	s.now = func() time.Time {
		if called {
			return start.Add(used)
		}
		called = true
		return start
	}
	s.keepers = []keeper.Keeper{stub{"k", func(ctx context.Context, _ *keeper.Call) keeper.Verdict {
		at, _ := ctx.Deadline()
		left = time.Until(at)
		return keeper.Verdict{Outcome: keeper.Passed}
	}}}
	wantAllow(t, s.stop(nil))
	if want := Budget(timeout) - used; left > want || left < want-10*time.Second {
		t.Errorf("%s are left for the keepers, want %s", left, want)
	}
}

func TestRulingC3FlagAloneDoesNotLetAnAgentGo(t *testing.T) {
	s := newScene(t, failing)
	// The flag comes from another hook or from none: we blocked nothing here.
	wantBlock(t, s.stop(fields{"stop_hook_active": true}), "fix it")
}

func TestRulingC4GuardBlocksAtMostThreeTimesPerPrompt(t *testing.T) {
	s := newScene(t, failing)
	for i := range 3 {
		wantBlock(t, s.stop(fields{"stop_hook_active": i > 0}), "fix it")
	}
	for range 2 {
		wantAllow(t, s.stop(fields{"stop_hook_active": true}), "gave up after 3 blocks", "fix it")
		s.wantVerdict("guard", "failed", "gave_up")
	}
	wantBlock(t, s.stop(fields{"prompt_id": "p2"}), "fix it")
	wantBlock(t, s.stop(fields{"session_id": "s2"}), "fix it")
	wantAllow(t, s.stop(fields{"stop_hook_active": true}), "gave up")
}

func TestRulingC4AgentsAreCountedApart(t *testing.T) {
	s := newScene(t, failing+"  SubagentStop:\n    - {run: exit 1, on_failure: block}\n")
	for range 3 {
		wantBlock(t, s.stop(nil), "fix it")
		wantBlock(t, s.call(hook.SubagentStop, nil), "exit 1")
	}
	wantAllow(t, s.call(hook.SubagentStop, nil), "gave up")
	wantBlock(t, s.call(hook.SubagentStop, fields{"agent_id": "a2"}), "exit 1")
	wantAllow(t, s.stop(nil), "gave up")
}

func TestRulingC4GivingUpTellsAPerson(t *testing.T) {
	s := newScene(t, failing)
	told := s.notify()
	for range 4 {
		s.stop(nil)
	}
	eventually(t, "the person is told", func() bool {
		text, _ := os.ReadFile(told)
		return strings.HasPrefix(string(text), "1|"+s.root+": gave up after 3 blocks") && strings.HasSuffix(string(text), "\n")
	})
	if text, _ := os.ReadFile(told); strings.Count(string(text), "\n") != 1 {
		t.Errorf("told %q, want it once", text)
	}
}

// While the web page is on, what a hook tells leads to the page of the stop.
func TestIssue18WhatAHookTellsLeadsToThePage(t *testing.T) {
	for record, want := range map[string]string{
		`{"on":true,"loopback":"127.0.0.1:4321"}`: "\nhttp://127.0.0.1:4321/stops/",
		`{"loopback":"127.0.0.1:4321"}`:           "",
		`{`:                                       "",
	} {
		s := newScene(t, failing)
		told := s.notify()
		write(t, daemonapi.PageFile(s.state), record)
		for range 4 {
			s.stop(nil)
		}
		all := s.records()
		if want != "" {
			want += all[len(all)-1].Call + "\n"
		}
		eventually(t, "the person is told", func() bool {
			text, _ := os.ReadFile(told)
			return strings.Contains(string(text), "gave up") && strings.HasSuffix(string(text), "\n") && strings.Contains(string(text), want) &&
				strings.Contains(string(text), "http") == (want != "")
		})
	}
}

func TestRulingC4NeverBeyondTheClientsCap(t *testing.T) {
	tests := []struct {
		cap    string // empty: not set
		blocks int    // of 12 stops
	}{
		{"", 8}, {"2", 2}, {"1", 1}, {"10", 10}, {"0", 12}, {"-1", 12}, {"garbage", 8}, {"3x", 8},
	}
	for _, tt := range tests {
		t.Run(tt.cap, func(t *testing.T) {
			s := newScene(t, failing)
			s.keepers = []keeper.Keeper{blocker("one")}
			if tt.cap != "" {
				s.env = append(s.env, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP="+tt.cap)
			}
			for i := range 12 {
				r := s.stop(fields{"stop_hook_active": i > 0})
				if i < tt.blocks {
					wantBlock(t, r, "one objects")
				} else {
					wantAllow(t, r, "gave up", "the most that Claude Code allows")
				}
			}
		})
	}
}

func TestRulingC4TheCapIsForAllKeepersTogether(t *testing.T) {
	s := newScene(t, failing)
	s.env = append(s.env, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=4")
	for i := range 6 {
		s.keepers = []keeper.Keeper{blocker([]string{"one", "two"}[i%2])}
		if r := s.stop(nil); r.blocks() != (i < 4) {
			t.Errorf("stop %d: %s", i, r.Stdout)
		}
	}
}

func TestRulingC4WithoutPromptIDTheFlagShowsANewPrompt(t *testing.T) {
	s := newScene(t, failing)
	for range 2 {
		for i := range 3 {
			wantBlock(t, s.stop(fields{"prompt_id": nil, "stop_hook_active": i > 0}), "fix it")
		}
		wantAllow(t, s.stop(fields{"prompt_id": nil, "stop_hook_active": true}), "gave up")
	}
}

func TestRulingC4CountThatCannotBeKept(t *testing.T) {
	s := newScene(t, failing)
	write(t, filepath.Join(s.state, "blocks"), "a file in place of the directory")
	wantBlock(t, s.stop(nil), "fix it")
	// The flag alone can end the loop now.
	wantAllow(t, s.stop(fields{"stop_hook_active": true}), "gave up because blocks cannot be counted", "fix it")
	s.wantVerdict("guard", "failed", "gave_up")
}

// A keeper that cannot know whether it blocked before is told that it did: one that lets an agent go after
// its first block would hold it for ever.
func TestRulingC4CountThatCannotBeReadIsABlockBefore(t *testing.T) {
	s := newScene(t, "")
	var before []bool
	s.keepers = []keeper.Keeper{stub{"k", func(_ context.Context, call *keeper.Call) keeper.Verdict {
		before = append(before, call.BlockedBefore)
		return keeper.Verdict{Outcome: keeper.Passed}
	}}}
	s.stop(fields{"stop_hook_active": true})
	write(t, filepath.Join(s.state, "blocks"), "a file in place of the directory")
	s.stop(nil)
	s.stop(fields{"stop_hook_active": true})
	if want := []bool{false, false, true}; !slices.Equal(before, want) {
		t.Errorf("blocked before: %v, want %v", before, want)
	}
}

func TestRulingC4DamagedCount(t *testing.T) {
	for _, text := range []string{"", "{", "null", `{"a":1}`, `[{"prompt":"p1"}]`, `[{"prompt":"p1","blocks":null}]`, "\x00\xff"} {
		s := newScene(t, failing)
		write(t, NewCounter(s.state).path("s1"), text)
		for range 3 {
			wantBlock(t, s.stop(fields{"stop_hook_active": true}), "fix it")
		}
		wantAllow(t, s.stop(fields{"stop_hook_active": true}), "gave up")
	}
}

func TestRulingC4OnlyStopsCanLoop(t *testing.T) {
	s := newScene(t, "  PreToolUse:\n    - run: echo never >&2; exit 2\n")
	for range 10 {
		if r := s.call(hook.PreToolUse, nil); !strings.Contains(string(r.Stdout), `"permissionDecision":"deny"`) {
			t.Fatalf("got %s: a denied tool must stay denied", r.Stdout)
		}
	}
}

func TestRulingC4SessionEndForgetsTheCount(t *testing.T) {
	s := newScene(t, failing)
	s.stop(nil)
	s.call(hook.SessionEnd, nil)
	if exists(NewCounter(s.state).path("s1")) {
		t.Error("the count is still there")
	}
}

// stubborn ignores its context for two hours.
var stubborn = stub{"stubborn", func(context.Context, *keeper.Call) keeper.Verdict {
	time.Sleep(2 * time.Hour)
	return blocker("stubborn").judge(nil, nil)
}}

func install(t *testing.T, s *scene, timeout string) {
	t.Helper()
	write(t, s.path(".claude/settings.json"),
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook Stop"`+timeout+`}]}]}}`)
}

// The clock of these tests is synctest's.
func TestRulingC5TheChainAnswersBeforeTheClientsTimeout(t *testing.T) {
	tests := []struct {
		name      string
		timeout   string
		want, max time.Duration
	}{
		{"not installed: the default", "-", 1185 * time.Second, 1200 * time.Second},
		{"as installed", `,"timeout":1200`, 1185 * time.Second, 1200 * time.Second},
		{"shorter", `,"timeout":100`, 85 * time.Second, 100 * time.Second},
		{"none given: the client's", "", 585 * time.Second, 600 * time.Second},
		{"very short", `,"timeout":10`, 5 * time.Second, 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t, failing)
			if tt.timeout != "-" {
				install(t, s, tt.timeout)
			}
			synctest.Test(t, func(t *testing.T) {
				var left time.Duration
				s.keepers = []keeper.Keeper{
					stub{"look", func(ctx context.Context, _ *keeper.Call) keeper.Verdict {
						deadline, _ := ctx.Deadline()
						left = time.Until(deadline)
						return keeper.Verdict{}
					}},
					stubborn,
					blocker("never asked"),
				}
				start := time.Now()
				wantAllow(t, s.raw(t.Context(), hook.Stop, s.payload(hook.Stop, nil)),
					"the hook timed out before it finished", "not checked by: never asked")
				if left != tt.want {
					t.Errorf("a keeper gets %s, want %s", left, tt.want)
				}
				if took := time.Since(start); took < tt.want || took >= tt.max {
					t.Errorf("answered after %s, want it between %s and %s", took, tt.want, tt.max)
				}
				time.Sleep(2 * time.Hour) // until the stubborn one is done
			})
			s.wantVerdict("stubborn", "could_not_run", "deadline")
			s.wantVerdict("chain", "could_not_run", "deadline")
		})
	}
}

// Gates that do not come back, or were not asked, in a time that the settings have shortened are red; in the
// time that the hook was installed with they say nothing.
func TestE14GatesThatAreNotBackInAShortenedTimeAreRed(t *testing.T) {
	gates := stub{"gates", stubborn.judge}
	self, err := os.Executable()
	check(t, err)
	for name, keepers := range map[string][]keeper.Keeper{"not back": {gates}, "not asked": {stubborn, gates}} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, failing)
			s.keepers, s.timeout = keepers, 20*time.Minute
			synctest.Test(t, func(t *testing.T) {
				wantAllow(t, s.raw(t.Context(), hook.Stop, s.payload(hook.Stop, nil)), "timed out")
				write(t, s.path(".claude/settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"`+self+` hook Stop --timeout 20m","timeout":20}]}]}}`)
				start := time.Now()
				wantBlock(t, s.raw(t.Context(), hook.Stop, s.payload(hook.Stop, nil)), "remove what shortens the hook's timeout to 20s")
				if took := time.Since(start); took >= 20*time.Second {
					t.Errorf("answered after %s", took)
				}
				time.Sleep(3 * time.Hour) // until the stubborn ones are done
			})
		})
	}
}

func TestRulingC5VerdictThatWasReadyStands(t *testing.T) {
	s := newScene(t, failing)
	synctest.Test(t, func(t *testing.T) {
		s.keepers = []keeper.Keeper{stub{"late", func(ctx context.Context, _ *keeper.Call) keeper.Verdict {
			<-ctx.Done()
			time.Sleep(time.Second)
			return keeper.Verdict{Outcome: keeper.Failed, Reason: "found something"}
		}}}
		wantBlock(t, s.raw(t.Context(), hook.Stop, s.payload(hook.Stop, nil)), "found something")
	})
}

func TestRulingC5CommandIsEndedAtTheDeadline(t *testing.T) {
	t.Parallel()
	s := newScene(t, "  Stop:\n    - {run: exec sleep 600, timeout: 30m}\n")
	install(t, s, `,"timeout":10`)
	wantAllow(t, s.stop(nil), "the hook timed out or was cancelled", "nothing was checked")
	s.wantVerdict("guard", "could_not_run", "deadline")
}

func TestRulingC5Interrupted(t *testing.T) {
	s := newScene(t, "  Stop:\n    - run: touch started; exec sleep 600\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan reply)
	go func() { done <- s.raw(ctx, hook.Stop, s.payload(hook.Stop, nil)) }()
	eventually(t, "the command runs", func() bool { return exists(s.path("started")) })
	cancel() // as SIGTERM does
	wantAllow(t, <-done, "nothing was checked")
	s.wantVerdict("guard", "could_not_run", "interrupted")
}

func TestRulingC6FirstBlockWins(t *testing.T) {
	s := newScene(t, failing)
	asked := false
	s.keepers = []keeper.Keeper{
		always("fine", keeper.Verdict{Message: "fine told"}),
		aside{},
		blocker("first"),
		stub{"second", func(context.Context, *keeper.Call) keeper.Verdict {
			asked = true
			return keeper.Verdict{}
		}},
	}
	r := s.stop(nil)
	wantBlock(t, r, "first objects")
	if asked || r.Message != "stopgate: fine told" {
		t.Errorf("asked after the block: %t; told %q", asked, r.Message)
	}
	rec := s.answered()
	if rec.Decision != "block" || len(rec.Verdicts) != 2 || rec.Verdicts[0].Blocked || !rec.Verdicts[1].Blocked {
		t.Errorf("the journal has %+v", rec)
	}
}

func TestRulingC7PanickingKeeperCouldNotRun(t *testing.T) {
	s := newScene(t, failing)
	panics := stub{"panics", func(context.Context, *keeper.Call) keeper.Verdict { panic("oh no") }}
	s.keepers = []keeper.Keeper{panics}
	wantAllow(t, s.stop(nil), "panics: internal error: oh no")
	s.wantVerdict("panics", "could_not_run", "panic")
	s.keepers = []keeper.Keeper{panics, blocker("next")}
	wantBlock(t, s.stop(nil), "next objects")
	if !strings.Contains(s.stderr.String(), "goroutine") {
		t.Error("a developer finds no stack")
	}
}

func TestRulingC7PanicOfOurOwn(t *testing.T) {
	s := newScene(t, failing)
	calls := 0
	s.now = func() time.Time {
		if calls++; calls > 1 {
			panic("clock")
		}
		return time.Time{}
	}
	wantAllow(t, s.stop(nil), "internal error, nothing was checked: clock")
}

func TestRulingC7CouldNotRunNeverBlocks(t *testing.T) {
	s := newScene(t, failing)
	s.keepers = []keeper.Keeper{always("k", keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "x", Message: "no shell", Reason: "stray"})}
	wantAllow(t, s.stop(nil), "no shell")
}

func TestRulingC8LeavingTheProjectDoesNotLeaveItsGates(t *testing.T) {
	s := newScene(t, failing)
	elsewhere := t.TempDir()
	check(t, os.MkdirAll(s.path("a/b"), 0o755))
	wantBlock(t, s.stop(fields{"cwd": s.path("a/b")}), "fix it")
	wantAllow(t, s.stop(fields{"cwd": elsewhere}))
	check(t, os.Symlink(s.path("a"), filepath.Join(elsewhere, "link")))
	wantBlock(t, s.stop(fields{"cwd": filepath.Join(elsewhere, "link", "b"), "prompt_id": "p2"}), "fix it")
	s.env = append(s.env, "CLAUDE_PROJECT_DIR="+s.root)
	wantBlock(t, s.stop(fields{"cwd": elsewhere}), "fix it")
	wantBlock(t, s.stop(fields{"cwd": "relative"}), "fix it")
	if got := s.answered().Project; got != s.root {
		t.Errorf("journaled as %q", got)
	}
}

func TestRulingC8AtLastTheProcesssOwnDirectory(t *testing.T) {
	s := newScene(t, failing)
	t.Chdir(s.root)
	s.env = append(s.env, "CLAUDE_PROJECT_DIR="+t.TempDir())
	wantBlock(t, s.stop(fields{"cwd": t.TempDir()}), "fix it")
}

func TestBudget(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		1200 * time.Second: 1185 * time.Second, 60 * time.Second: 45 * time.Second, 30 * time.Second: 15 * time.Second,
		20 * time.Second: 10 * time.Second, 1500 * time.Millisecond: 750 * time.Millisecond, 0: 0,
	} {
		if got := Budget(timeout); got != want {
			t.Errorf("%s: got %s, want %s", timeout, got, want)
		}
	}
}

func TestReceivedIsWrittenBeforeAnythingIsJudged(t *testing.T) {
	s := newScene(t, failing)
	s.keepers = []keeper.Keeper{stub{"look", func(context.Context, *keeper.Call) keeper.Verdict {
		all := s.records()
		if len(all)%2 != 1 || all[len(all)-1].Kind != event.Received {
			t.Errorf("while a keeper judges the journal holds %+v, want it to end with received", all)
		}
		return keeper.Verdict{}
	}}}
	s.stop(nil)
	all := s.records()
	if len(all) != 2 || all[1].Kind != event.Answered || all[0].Call != all[1].Call || all[0].Call == "" {
		t.Fatalf("got %+v, want received and answered of one call", all)
	}
	for _, r := range all {
		if r.Session != "s1" || r.Prompt != "p1" || r.Event != "Stop" || r.Project != s.root || r.Enums.StopHookActive == nil {
			t.Errorf("got %+v", r)
		}
	}
	s.stop(nil)
	if again := s.records(); again[2].Call == again[0].Call {
		t.Error("two calls share an id")
	}
}

func TestJournalThatCannotBeWritten(t *testing.T) {
	s := newScene(t, failing)
	write(t, filepath.Join(s.state, "journal"), "a file in place of the directory")
	r := s.stop(nil)
	wantBlock(t, r, "fix it")
	if !strings.Contains(r.Message, "stopgate: journal ") {
		t.Errorf("told %q", r.Message)
	}
}

func TestStateDirectoryThatCannotBeWritten(t *testing.T) {
	s := newScene(t, failing)
	write(t, s.state, "a file in place of the directory")
	r := s.stop(nil)
	wantBlock(t, r, "fix it")
	if !strings.Contains(r.Message, "stopgate: journal ") {
		t.Errorf("told %q", r.Message)
	}
	wantAllow(t, s.stop(fields{"stop_hook_active": true}), "blocks cannot be counted", "journal")
}

func TestJournalHoldsNoText(t *testing.T) {
	for _, payloads := range []bool{false, true} {
		s := newScene(t, "  PreToolUse:\n    - run: echo secret''-output; exit 1\n")
		write(t, s.global, fmt.Sprintf("journal: {payloads: %t}\n", payloads))
		s.call(hook.PreToolUse, nil)
		s.call(hook.UserPromptSubmit, fields{"prompt": "secret-word"})
		segments, err := filepath.Glob(filepath.Join(s.state, "journal", "*.log"))
		check(t, err)
		var all string
		for _, path := range segments {
			text, err := os.ReadFile(path)
			check(t, err)
			all += string(text)
		}
		if strings.Contains(all, "secret-word") != payloads || strings.Contains(all, "secret-output") {
			t.Errorf("payloads %t: the journal holds %s", payloads, all)
		}
	}
}
