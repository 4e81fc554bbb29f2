package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// step changes one step of a plan.
func step(p runbook.Plan, name string, change func(*runbook.Step)) runbook.Plan {
	for i := range p.Pipeline.Steps {
		if p.Pipeline.Steps[i].Name == name {
			change(&p.Pipeline.Steps[i])
		}
	}
	return p
}

// ends lets the command of the current step end.
func (s *stage) ends(code int) {
	s.t.Helper()
	s.do(ShellExited{Key: s.o.Shell.Key, Code: code})
}

// A pipeline that failed stays failed, whatever its on_fail and its finally do.
func TestRulingP1AFailureStaysThroughTheCleanUp(t *testing.T) {
	plan := func() runbook.Plan {
		p := shells("build", "clean")
		p.Pipeline.Steps[0].OnFail = "clean"
		p.Pipeline.Notify = runbook.Notify{OnDone: "it is done", OnFail: "failed: ${error}"}
		return p
	}
	t.Run("on_fail cleans up", func(t *testing.T) {
		s := start(t, plan())
		s.ends(3)
		s.is("clean", Running)
		s.ends(0)
		s.is(runbook.EndFailed, Ended)
		if s.o.Error != "exit status 3" || s.o.Failed != "build" || s.effect(NotifyPerson).Text != "failed: exit status 3" {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("the clean-up fails too", func(t *testing.T) {
		s := start(t, plan())
		s.ends(3)
		s.ends(4)
		s.is(runbook.EndFailed, Ended)
		if s.o.Error != "exit status 3" || s.o.Failed != "build" {
			t.Fatalf("it failed for %s at %s", s.o.Error, s.o.Failed)
		}
	})
	t.Run("finally cleans up", func(t *testing.T) {
		p := plan()
		p.Pipeline.Steps[0].OnFail, p.Pipeline.Steps[0].OnDone, p.Pipeline.Finally = "", "", "clean"
		s := start(t, p)
		s.ends(3)
		s.is("clean", Running)
		s.ends(0)
		s.is(runbook.EndFailed, Ended)
	})
	t.Run("the step succeeds in the end", func(t *testing.T) {
		p := shells("test", "fix")
		p.Pipeline.Steps[0].OnDone, p.Pipeline.Steps[0].OnFail, p.Pipeline.Steps[1].OnDone = "", "fix", "test"
		s := start(t, p)
		s.ends(1)
		s.ends(0)
		s.is("test", Running)
		s.ends(0)
		s.is(runbook.EndDone, Ended)
		if s.o.Error != "" || s.o.Failed != "" {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("a person resumes it", func(t *testing.T) {
		s := start(t, plan())
		s.ends(3)
		s.ends(0)
		s.do(Resume{})
		s.is("build", Running)
		s.ends(0)
		s.ends(0)
		s.is(runbook.EndDone, Ended)
	})
}

func TestFinally(t *testing.T) {
	plan := func() runbook.Plan {
		p := shells("a", "b", "clean")
		p.Pipeline.Steps[1].OnDone, p.Pipeline.Finally = "", "clean"
		p.Pipeline.OnFail = "b"
		return p
	}
	tests := map[string]struct {
		plan func(*runbook.Plan)
		do   func(*stage)
		end  string
	}{
		"done":                      {nil, func(s *stage) { s.ends(0); s.ends(0); s.ends(0) }, runbook.EndDone},
		"failed":                    {nil, func(s *stage) { s.ends(1); s.ends(0); s.ends(0) }, runbook.EndFailed},
		"cancelled":                 {nil, func(s *stage) { s.do(Cancel{}); s.ends(0) }, runbook.EndCancelled},
		"cancelled, and it fails":   {nil, func(s *stage) { s.do(Cancel{}); s.ends(1) }, runbook.EndCancelled},
		"done, and it fails":        {nil, func(s *stage) { s.ends(0); s.ends(0); s.ends(7) }, runbook.EndFailed},
		"done, and it is cancelled": {nil, func(s *stage) { s.ends(0); s.ends(0); s.do(Cancel{}) }, runbook.EndCancelled},
		"failed, and it is cancelled": {
			func(p *runbook.Plan) { p.Pipeline.OnFail = "" }, func(s *stage) { s.ends(1); s.do(Cancel{}) }, runbook.EndFailed,
		},
		"a step of its own follows": {
			func(p *runbook.Plan) {
				p.Pipeline.Steps = append(p.Pipeline.Steps, runbook.Step{Name: "last", Run: runbook.Run{Shell: "x"}})
				p.Pipeline.Steps[2].OnDone = "last"
			}, func(s *stage) { s.ends(0); s.ends(0); s.ends(0); s.is("last", Running); s.ends(0) }, runbook.EndDone,
		},
		"entered too often": {
			func(p *runbook.Plan) { p.Pipeline.MaxVisits, p.Pipeline.Steps[1].OnDone = 1, "a" },
			func(s *stage) { s.ends(0); s.ends(0); s.is("clean", Running); s.ends(0) }, runbook.EndFailed,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan()
			if test.plan != nil {
				test.plan(&p)
			}
			s := start(t, p)
			test.do(s)
			s.is(test.end, Ended)
		})
	}
	t.Run("resumed where it failed itself", func(t *testing.T) {
		s := start(t, plan())
		s.ends(0)
		s.ends(0)
		s.ends(7)
		s.do(Resume{})
		s.is("clean", Running)
		s.ends(0)
		s.is(runbook.EndDone, Ended)
	})
	t.Run("without a budget", func(t *testing.T) {
		p := plan()
		p.Pipeline.Budget = runbook.Budget{Time: time.Minute}
		s := start(t, p)
		s.ends(0)
		s.elapse(budget)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "done"})
		s.is("clean", Running)
		s.ends(0)
		s.is(runbook.EndDone, Ended)
	})
}

func TestRetry(t *testing.T) {
	plan := step(shells("flaky", "next"), "flaky", func(s *runbook.Step) {
		s.Retry = runbook.Retry{Attempts: 3, Backoff: 30 * time.Second}
	})
	s := start(t, plan)
	s.ends(1)
	s.is("flaky", Running)
	if due := s.o.Timers[retry].Sub(s.now); due != 30*time.Second || s.o.Shell != nil || s.o.AtWork() {
		t.Fatalf("again in %s: %s", due, text(s.o))
	}
	s.crash()
	s.elapse(retry)
	if s.o.Shell == nil || s.o.Attempt != 2 || s.o.Visits["flaky"] != 1 {
		t.Fatalf("%s", text(s.o))
	}
	s.ends(1)
	if due := s.o.Timers[retry].Sub(s.now); due != time.Minute {
		t.Fatalf("again in %s", due)
	}
	gaveUp := s.fork(t)
	s.elapse(retry)
	s.ends(0)
	s.is("next", Running)
	if s.o.Attempt != 0 || len(s.o.Failures) != 0 {
		t.Fatalf("%s", text(s.o))
	}
	gaveUp.elapse(retry)
	gaveUp.ends(9)
	gaveUp.is(runbook.EndFailed, Ended)
	if gaveUp.o.Error != "exit status 9" {
		t.Fatal(gaveUp.o.Error)
	}
	t.Run("cancelled in the pause", func(t *testing.T) {
		s := start(t, plan)
		s.ends(1)
		s.do(Cancel{})
		s.is(runbook.EndCancelled, Ended)
	})
	t.Run("an agent", func(t *testing.T) {
		a := worker()
		a.OnDead = runbook.Action{Kind: runbook.Fail}
		s := start(t, step(work(a), "work", func(s *runbook.Step) { s.Retry.Attempts = 2 }))
		s.carryOut()
		first := s.agent()
		s.do(AgentExited{AgentID: first, Code: 1})
		if s.agent() == first || s.o.Attempt != 2 {
			t.Fatalf("%s", text(s.o))
		}
		s.carryOut()
		s.do(AgentExited{AgentID: s.agent(), Code: 1})
		s.is(runbook.EndFailed, Ended)
	})
}

func TestTheBackoffDoubles(t *testing.T) {
	for _, test := range []struct {
		backoff time.Duration
		attempt int
		want    time.Duration
	}{
		{0, 1, 0},
		{0, 9, 0},
		{time.Second, 1, time.Second},
		{time.Second, 4, 8 * time.Second},
		{time.Minute, 100, time.Hour},
		{3 * time.Hour, 1, 3 * time.Hour},
		{3 * time.Hour, 9, 3 * time.Hour},
	} {
		if got := (runbook.Retry{Backoff: test.backoff}).Pause(test.attempt); got != test.want {
			t.Errorf("%s after attempt %d: %s, want %s", test.backoff, test.attempt, got, test.want)
		}
	}
}

// Nothing runs for ever unseen.
func TestRulingP3StepsTimeOut(t *testing.T) {
	t.Run("a command, by default after an hour", func(t *testing.T) {
		s := start(t, shells("a"))
		key := s.o.Shell.Key
		if due := s.o.Timers[timeout].Sub(s.now); due != time.Hour {
			t.Fatalf("due in %s", due)
		}
		s.elapse(timeout)
		s.is(runbook.EndFailed, Ended)
		if s.o.Error != "timed out after 1h" || s.effect(KillShell).Target != key {
			t.Fatalf("%s\n%s", s.o.Error, text(s.last))
		}
	})
	t.Run("as the step says", func(t *testing.T) {
		s := start(t, step(shells("a", "b"), "a", func(s *runbook.Step) { s.Timeout = 90 * time.Second }))
		s.elapse(timeout)
		if s.o.Error != "timed out after 1m30s" {
			t.Fatal(s.o.Error)
		}
	})
	t.Run("and then again", func(t *testing.T) {
		s := start(t, step(shells("a"), "a", func(s *runbook.Step) { s.Timeout, s.Retry.Attempts = time.Minute, 2 }))
		s.elapse(timeout)
		s.is("a", Running)
		if due := s.o.Timers[timeout].Sub(s.now); due != time.Minute {
			t.Fatalf("due in %s", due)
		}
		s.ends(0)
		s.is(runbook.EndDone, Ended)
	})
	t.Run("an agent, without the time in which it waits for a person", func(t *testing.T) {
		s := start(t, step(work(clientAgent()), "work", func(s *runbook.Step) { s.Timeout = time.Hour }))
		s.carryOut()
		s.now = s.now.Add(20 * time.Minute)
		s.do(AgentStop{s.agent(), ""})
		if _, set := s.o.Timers[timeout]; set {
			t.Fatal("the time passes while a person is asked")
		}
		s.now = s.now.Add(24 * time.Hour)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "nudge"})
		if left := s.o.Timers[timeout].Sub(s.now); left < 39*time.Minute || left > 40*time.Minute {
			t.Fatalf("%s are left", left)
		}
		agent := s.agent()
		s.elapse(timeout)
		s.is(runbook.EndFailed, Ended)
		if s.effect(KillAgent).Target != agent {
			t.Fatal("the agent goes on")
		}
	})
	t.Run("an agent has none by default", func(t *testing.T) {
		s := atWork(t, worker())
		if _, set := s.o.Timers[timeout]; set {
			t.Fatal("it has a timeout")
		}
	})
	t.Run("a gate of an agent", func(t *testing.T) {
		a := worker()
		a.OnIdle = runbook.Action{Kind: runbook.Gate, Run: "check"}
		s := atWork(t, a)
		s.do(AgentIdle{AgentID: s.agent()})
		key := s.o.Shell.Key
		s.elapse(timeout)
		s.is("work", Waiting)
		if d := s.o.Decision; d.Source != FromGate || !strings.Contains(d.Context, "timed out after 1h") || s.effect(KillShell).Target != key {
			t.Fatalf("%s", text(d))
		}
	})
	t.Run("one of an older stopgate has none", func(t *testing.T) {
		s := start(t, shells("a"))
		s.o.Shell.Timeout = 0
		if _, limited := (&draft{Owner: s.o}).timeLeft(); limited {
			t.Fatal("it is limited")
		}
	})
}

func TestConditions(t *testing.T) {
	plan := step(shells("a", "b", "c"), "b", func(s *runbook.Step) { s.If = "${var.x} == 2 || ${steps.a.output.go} == yes" })
	s := start(t, plan)
	s.ends(0)
	s.is("c", Running)
	if v := s.o.History[1]; v.Step != "b" || v.Outcome != "skipped" || v.Finished.IsZero() {
		t.Fatalf("%s", text(s.o.History))
	}
	s = start(t, plan)
	s.do(ShellExited{Key: s.o.Shell.Key, Output: map[string]string{"go": "yes"}})
	s.is("b", Running)

	t.Run("all are skipped", func(t *testing.T) {
		p := shells("a", "b")
		for i := range p.Pipeline.Steps {
			p.Pipeline.Steps[i].If = "false"
		}
		start(t, p).is(runbook.EndDone, Ended)
	})
	t.Run("in a circle", func(t *testing.T) {
		p := step(step(shells("a", "b"), "b", func(s *runbook.Step) { s.OnDone, s.If = "a", "false" }), "a", func(s *runbook.Step) { s.If = "false" })
		start(t, p).is(runbook.EndFailed, Ended)
	})
}

func TestOutputs(t *testing.T) {
	p := step(shells("build", "deploy"), "deploy", func(s *runbook.Step) {
		s.Run.Shell = `deploy "${steps.build.output.url}" "${steps.build.log_tail}"`
		s.Env.Set = map[string]string{"URL": "to ${steps.build.output.url}"}
	})
	s := start(t, p)
	tail := strings.Repeat("line\n", 30) + "last"
	s.do(ShellExited{Key: s.o.Shell.Key, Tail: tail, Output: map[string]string{"url": `http://x/"$(rm -r /)"`}})
	start := s.effect(StartShell).Shell
	if want := `deploy "http://x/\"\$(rm -r /)\"" "` + strings.Repeat("line\n", 19) + `last"`; start.Script != want {
		t.Errorf("%s\nwant\n%s", start.Script, want)
	}
	if d := cmp.Diff(map[string]string{"VAR_X": "1", "URL": `to http://x/"$(rm -r /)"`}, start.Env); d != "" {
		t.Error(d)
	}
	for name, output := range map[string]map[string]string{"missing": nil, "another": {"uri": "x"}} {
		s := startPlan(t, p)
		s.do(ShellExited{Key: s.o.Shell.Key, Output: output})
		s.is(runbook.EndFailed, Ended)
		if want := "${steps.build.output.url} has no value: step \"build\" did not write it to $STOPGATE_OUTPUT"; s.o.Error != want {
			t.Errorf("%s: %s", name, s.o.Error)
		}
	}
	t.Run("that cannot be read", func(t *testing.T) {
		s := startPlan(t, p)
		s.do(ShellExited{Key: s.o.Shell.Key, Fault: "line 1 of $STOPGATE_OUTPUT is not NAME=VALUE"})
		s.is(runbook.EndFailed, Ended)
		if s.o.Error != "line 1 of $STOPGATE_OUTPUT is not NAME=VALUE" {
			t.Fatal(s.o.Error)
		}
	})
	t.Run("of an agent", func(t *testing.T) {
		p := step(work(worker(), "next"), "next", func(s *runbook.Step) {
			s.Run.Shell = `x "${steps.work.signal}" "${steps.work.output.pr}"`
		})
		s := startPlan(t, p)
		s.carryOut()
		s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, "opened"}, Values: map[string]string{"pr": "12"}})
		if got := s.effect(StartShell).Shell.Script; got != `x "opened" "12"` {
			t.Fatal(got)
		}
	})
	t.Run("the error with the end of the log", func(t *testing.T) {
		p := step(shells("a", "b"), "a", func(s *runbook.Step) { s.OnFail = "b" })
		p = step(p, "b", func(s *runbook.Step) { s.Run.Shell = `tell "${error}" "${steps.a.error}"` })
		s := startPlan(t, p)
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1, Tail: "one\ntwo"})
		if got, want := s.effect(StartShell).Shell.Script, "tell \"exit status 1: two\none\ntwo\" \"exit status 1: two\""; got != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	})
}

// startPlan is start, where that name is taken.
func startPlan(t testing.TB, p runbook.Plan) *stage { return start(t, p) }

func TestEnvironment(t *testing.T) {
	p := step(shells("a", "b"), "a", func(s *runbook.Step) {
		s.Env = runbook.Environment{Set: map[string]string{"B": "step ${var.x}"}, File: "${var.x}.env", Pass: []string{"TOKEN", "UNSET"}}
	})
	p.Pipeline.Env = runbook.Environment{Set: map[string]string{"A": "pipeline", "B": "pipeline"}, File: "all.env", Pass: []string{"LANG"}}
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "p", Cwd: "/p", Plan: p, Vars: map[string]string{"x": "1", "issue-id": "7"}, Passed: map[string]string{"TOKEN": "t", "LANG": "C"}})
	start := s.effect(StartShell).Shell
	want := map[string]string{"VAR_X": "1", "VAR_ISSUE_ID": "7", "A": "pipeline", "B": "step 1", "TOKEN": "t", "LANG": "C"}
	if d := cmp.Diff(want, start.Env); d != "" || start.EnvFile != "1.env" {
		t.Fatalf("%s %s", start.EnvFile, d)
	}
	s.ends(0)
	start = s.effect(StartShell).Shell
	want = map[string]string{"VAR_X": "1", "VAR_ISSUE_ID": "7", "A": "pipeline", "B": "pipeline", "LANG": "C"}
	if d := cmp.Diff(want, start.Env); d != "" || start.EnvFile != "all.env" {
		t.Fatalf("%s %s", start.EnvFile, d)
	}
}

func TestAnAgentFailsItsStep(t *testing.T) {
	p := step(work(clientAgent(), "next"), "work", func(s *runbook.Step) { s.OnFail = "next" })
	s := start(t, p)
	s.carryOut()
	s.do(AgentWorking{AgentID: s.agent(), Prompt: "p"})
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalFail, "the API is gone"}})
	s.is("work", Running) // its turn is not over
	s.do(AgentRested{AgentID: s.agent(), Prompt: "p"})
	s.is("next", Running)
	if s.o.Error != "the agent signalled fail: the API is gone" {
		t.Fatal(s.o.Error)
	}
	s.ends(0)
	s.is(runbook.EndFailed, Ended)
}

// How a pipeline ended stays to be seen.
func TestRulingP4TheEndStaysTrue(t *testing.T) {
	s := start(t, shells("a"))
	s.do(Cancel{Why: "not needed"})
	ended := s.now
	s.carryOut()
	if s.is(runbook.EndCancelled, Ended); !s.o.Ended.Equal(ended) || s.o.Cancelled != "not needed" {
		t.Fatalf("ended %s, because %q", s.o.Ended, s.o.Cancelled)
	}
}
