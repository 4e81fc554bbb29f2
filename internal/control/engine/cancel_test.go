package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

func TestCancelInEachState(t *testing.T) {
	gated := worker()
	gated.OnIdle = runbook.Action{Kind: runbook.Gate, Run: "check"}
	tests := []struct {
		name    string
		stage   func(t *testing.T) *stage
		effects string
	}{
		{"shell that was not started", func(t *testing.T) *stage { return start(t, shells("a")) }, "shell:kill"},
		{"shell", func(t *testing.T) *stage { s := start(t, shells("a")); s.carryOut(); return s }, "shell:kill"},
		{"agent", func(t *testing.T) *stage { return atWork(t, worker()) }, "agent:kill"},
		{"waiting", func(t *testing.T) *stage { return asked(t, FromStop) }, "agent:kill"},
		{"waiting for a lost command", func(t *testing.T) *stage {
			s := start(t, shells("a"))
			s.do(ShellExited{Key: s.o.Shell.Key, Lost: true})
			return s
		}, ""},
		{"gate", func(t *testing.T) *stage {
			s := atWork(t, gated)
			s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
			return s
		}, "shell:kill agent:kill"},
		{"run", func(t *testing.T) *stage { return startRun(t, worker()) }, "agent:kill"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.stage(t)
			s.do(Cancel{"enough"})
			s.is(runbook.EndCancelled, Ended)
			if s.effects() != test.effects {
				t.Fatalf("%s, want %s", s.effects(), test.effects)
			}
			if s.do(Cancel{}); s.facts() != "" {
				t.Fatalf("a second cancel: %s", s.facts())
			}
			if r := s.refused(Resume{}); r.Code != "conflict" || !strings.Contains(r.Why, "cancelled") {
				t.Fatalf("%+v", r)
			}
		})
	}
}

func TestCancelTakesBackWhatWasNotStarted(t *testing.T) {
	s := start(t, work(worker()))
	key := s.effect(StartAgent).Key
	s.do(Cancel{})
	if _, open := s.o.Effect(key); open {
		t.Fatal("the agent would still be started")
	}
	if r := s.refused(EffectStarted{key}); r.Code != "conflict" {
		t.Fatalf("%+v", r)
	}
}

func TestOnCancel(t *testing.T) {
	p := shells("a", "b", "clean", "own")
	for i := range p.Pipeline.Steps {
		p.Pipeline.Steps[i].OnDone = ""
	}
	p.Pipeline.OnCancel = "clean"
	cancelled := func(t *testing.T, p runbook.Plan) *stage {
		s := start(t, p)
		s.do(Cancel{})
		return s
	}
	t.Run("the pipeline's", func(t *testing.T) {
		s := cancelled(t, p)
		s.is("clean", Running)
		if s.do(Cancel{}); s.facts() != "" {
			t.Fatal("what cleans up is not cancelled")
		}
		s.do(ShellExited{Key: s.o.Shell.Key})
		s.is(runbook.EndCancelled, Ended)
	})
	t.Run("the pipeline's other transitions are for what was not cancelled", func(t *testing.T) {
		q := p
		q.Pipeline.OnDone, q.Pipeline.OnFail = "b", "b"
		for _, code := range []int{0, 1} {
			s := cancelled(t, q)
			s.is("clean", Running)
			s.do(ShellExited{Key: s.o.Shell.Key, Code: code})
			s.is(runbook.EndCancelled, Ended)
		}
	})
	t.Run("the step's own are followed", func(t *testing.T) {
		q := p
		q.Pipeline.Steps = append([]runbook.Step{}, p.Pipeline.Steps...)
		q.Pipeline.Steps[2].OnDone, q.Pipeline.Steps[2].OnFail = "b", "own"
		for code, next := range []string{"b", "own"} {
			s := cancelled(t, q)
			s.do(ShellExited{Key: s.o.Shell.Key, Code: code})
			s.is(next, Running)
			s.do(ShellExited{Key: s.o.Shell.Key})
			s.is(runbook.EndCancelled, Ended)
		}
	})
	t.Run("it fails", func(t *testing.T) {
		s := cancelled(t, p)
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		s.is(runbook.EndCancelled, Ended)
	})
	t.Run("the step's own comes first", func(t *testing.T) {
		q := p
		q.Pipeline.Steps = append([]runbook.Step{}, p.Pipeline.Steps...)
		q.Pipeline.Steps[0].OnCancel = "own"
		cancelled(t, q).is("own", Running)
	})
	t.Run("already there", func(t *testing.T) {
		q := p
		q.Pipeline.OnCancel = "a"
		cancelled(t, q).is(runbook.EndCancelled, Ended)
	})
	t.Run("a person who is asked there can end it", func(t *testing.T) {
		q := p
		q.Pipeline.Steps = append([]runbook.Step{}, p.Pipeline.Steps...)
		q.Pipeline.Steps[0].OnCancel = "own"
		s := cancelled(t, q)
		s.do(ShellExited{Key: s.o.Shell.Key, Lost: true})
		s.is("own", Waiting)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "cancel", Message: ""})
		s.is(runbook.EndCancelled, Ended)
	})
}

func TestTransitions(t *testing.T) {
	p := func(change func(*runbook.Plan)) runbook.Plan {
		p := shells("a", "b")
		p.Pipeline.Steps[0].OnDone = ""
		change(&p)
		return p
	}
	tests := []struct {
		name string
		plan runbook.Plan
		code int
		want string
	}{
		{"no implicit next", p(func(p *runbook.Plan) {}), 0, runbook.EndDone},
		{"on_done", p(func(p *runbook.Plan) { p.Pipeline.Steps[0].OnDone = "b" }), 0, "b"},
		{"the pipeline's on_done", p(func(p *runbook.Plan) { p.Pipeline.OnDone = "b" }), 0, "b"},
		{"the step's own first", p(func(p *runbook.Plan) { p.Pipeline.Steps[0].OnDone = "b"; p.Pipeline.OnDone = "a" }), 0, "b"},
		{"already at the pipeline's on_done", p(func(p *runbook.Plan) { p.Pipeline.OnDone = "a" }), 0, runbook.EndDone},
		{"failed", p(func(p *runbook.Plan) {}), 1, runbook.EndFailed},
		{"on_fail", p(func(p *runbook.Plan) { p.Pipeline.Steps[0].OnFail = "b" }), 1, "b"},
		{"the pipeline's on_fail", p(func(p *runbook.Plan) { p.Pipeline.OnFail = "b" }), 1, "b"},
		{"it is what failed", p(func(p *runbook.Plan) { p.Pipeline.OnFail = "a" }), 1, runbook.EndFailed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, test.plan)
			s.do(ShellExited{Key: s.o.Shell.Key, Code: test.code})
			if s.o.Step != test.want {
				t.Fatalf("it goes to %q, want %q", s.o.Step, test.want)
			}
		})
	}
}

func TestVisitsAreLimited(t *testing.T) {
	p := shells("a", "b")
	p.Pipeline.Steps[0].OnFail = "a"
	p.Pipeline.OnFail = "b"
	s := start(t, p)
	for i := range MaxVisits {
		s.is("a", Running)
		if n := s.o.Visits["a"]; n != i+1 {
			t.Fatalf("visit %d is counted as %d", i+1, n)
		}
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
	}
	s.is(runbook.EndFailed, Ended)
	if want := fmt.Sprintf("step %q was entered 6 times; the limit is 5", "a"); s.o.Error != want {
		t.Fatalf("%q, want %q", s.o.Error, want)
	}
	s.do(Resume{})
	s.is("a", Running)
	if s.o.Visits["a"] != 1 {
		t.Fatalf("%v", s.o.Visits)
	}
}

func TestResume(t *testing.T) {
	t.Run("a failed shell step", func(t *testing.T) {
		s := start(t, shells("a", "b"))
		s.do(ShellExited{Key: s.o.Shell.Key})
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		if r := s.refused(Resume{Message: "hello"}); r.Code != "invalid" {
			t.Fatalf("%+v", r)
		}
		if r := s.refused(Resume{Vars: map[string]string{"y": "2"}}); r.Code != "invalid" || !strings.Contains(r.Why, `unknown variable "y"`) {
			t.Fatalf("%+v", r)
		}
		s.do(Resume{Vars: map[string]string{"x": "2"}})
		s.is("b", Running)
		if s.o.Vars["x"] != "2" || s.o.Error != "" {
			t.Fatalf("%s", text(s.o))
		}
		s.do(ShellExited{Key: s.o.Shell.Key})
		s.is(runbook.EndDone, Ended)
	})
	t.Run("a failed agent, with words", func(t *testing.T) {
		a := worker()
		a.OnDead = runbook.Action{Kind: runbook.Fail}
		s := atWork(t, a)
		old := s.agent()
		s.do(AgentExited{AgentID: old, Code: 9})
		s.is(runbook.EndFailed, Ended)
		s.do(Resume{Message: "mind the tests"})
		if start := s.effect(StartAgent).Agent; start.Resume != old || start.Prompt != "mind the tests" || start.ID == old {
			t.Fatalf("%+v", start)
		}
	})
	t.Run("a failed agent, without", func(t *testing.T) {
		a := worker()
		a.OnDead = runbook.Action{Kind: runbook.Fail}
		s := atWork(t, a)
		s.do(AgentExited{AgentID: s.agent(), Code: 9})
		s.do(Resume{Vars: map[string]string{"x": "5"}})
		if start := s.effect(StartAgent).Agent; start.Resume != "" || start.Prompt != "do 5" {
			t.Fatalf("%+v", start)
		}
	})
	t.Run("one that waits", func(t *testing.T) {
		s := asked(t, FromStop)
		s.do(Resume{Message: "mind the tests"})
		s.is("work", Running)
		if e := s.effect(SendAgent); e.Text != "mind the tests" {
			t.Fatalf("%+v", e)
		}
	})
	t.Run("one that runs", func(t *testing.T) {
		s := atWork(t, worker())
		if r := s.refused(Resume{}); r.Code != "conflict" || !strings.Contains(r.Why, "running") {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("one that is done", func(t *testing.T) {
		s := start(t, shells("a"))
		s.do(ShellExited{Key: s.o.Shell.Key})
		if r := s.refused(Resume{}); r.Code != "conflict" || !strings.Contains(r.Why, "done") {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("a run that failed", func(t *testing.T) {
		a := worker()
		a.OnDead = runbook.Action{Kind: runbook.Fail}
		s := startRun(t, a)
		s.do(AgentExited{AgentID: s.agent()})
		s.is(runbook.EndFailed, Ended)
		s.do(Resume{})
		s.is("work", Running)
	})
}

func TestStartsThatFail(t *testing.T) {
	s := start(t, shells("a"))
	s.do(EffectFailed{Key: s.o.Shell.Key, Why: "no such directory"})
	s.is(runbook.EndFailed, Ended)
	if s.o.Error != "cannot start the command: no such directory" {
		t.Fatalf("%q", s.o.Error)
	}
	s = start(t, work(worker()))
	s.do(EffectFailed{Key: s.effect(StartAgent).Key, Why: "no claude"})
	s.is(runbook.EndFailed, Ended)
	if s.o.Error != "cannot start the agent: no claude" {
		t.Fatalf("%q", s.o.Error)
	}
}

func TestNotifyTemplates(t *testing.T) {
	p := shells("a")
	p.Pipeline.Notify = runbook.Notify{OnStart: "${name} starts", OnDone: "${name} is done", OnFail: "${name}: ${error}"}
	s := start(t, p)
	if e := s.effect(NotifyPerson); e.Text != "fix starts" {
		t.Errorf("%q", e.Text)
	}
	s.do(ShellExited{Key: s.o.Shell.Key, Code: 2})
	if e := s.effect(NotifyPerson); e.Text != "fix: exit status 2" {
		t.Errorf("%q", e.Text)
	}
	a := worker()
	a.Notify = runbook.Notify{OnStart: "${agent} begins", OnDone: "${agent} ends", OnFail: "${agent}: ${error}"}
	a.OnDead = runbook.Action{Kind: runbook.Fail}
	s = startRun(t, a)
	if e := s.effect(NotifyPerson); e.Text != "worker begins" {
		t.Errorf("%q", e.Text)
	}
	s.do(AgentExited{AgentID: s.agent(), Code: 1})
	if e := s.effect(NotifyPerson); e.Text != "worker: The agent exited with status 1" {
		t.Errorf("%q", e.Text)
	}
}

func TestShellsGetValuesEscaped(t *testing.T) {
	p := shells("a")
	p.Pipeline.Steps[0].Run.Shell = `echo "${var.x} ${pipeline_id} ${unknown}"`
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Plan: p, Vars: map[string]string{"x": `"$(rm)`}})
	if got, want := s.effect(StartShell).Shell.Script, `echo "\"\$(rm) `+testOwner+` ${unknown}"`; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
}

// A local has one value from the start to the end, and what a variable holds is not taken for a
// template in it either.
func TestLocalsGetTheirValuesAtTheStart(t *testing.T) {
	p := shells("a")
	p.Pipeline.Locals = map[string]string{"title": "fix ${var.x}: ${name} ${invoke.dir}", "lib-1.title": "of the library"}
	p.Pipeline.Steps[0].Run.Shell = `echo "${local.title}" "${local.lib-1.title}"`
	p.Pipeline.Notify.OnStart = "${local.title}"
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "p", Cwd: "/w", Plan: p, Vars: map[string]string{"x": `"$(rm) ${name}${local.title}`}})
	if got, want := s.effect(StartShell).Shell.Script, `echo "fix \"\$(rm) \${name}\${local.title}: p /w" "of the library"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := s.effect(NotifyPerson).Text, `fix "$(rm) ${name}${local.title}: p /w`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCreateRefuses(t *testing.T) {
	good := Create{Owner: testOwner, Kind: Pipeline, Plan: shells("a")}
	tests := map[string]func(c *Create){
		"id":              func(c *Create) { c.Owner = "../../../../etc/x" },
		"kind":            func(c *Create) { c.Kind = "?" },
		"no steps":        func(c *Create) { c.Plan = runbook.Plan{} },
		"reserved name":   func(c *Create) { c.Plan = shells("done") },
		"twice":           func(c *Create) { c.Plan = shells("a", "a") },
		"nothing to run":  func(c *Create) { c.Plan.Pipeline.Steps = []runbook.Step{{Name: "a"}} },
		"unknown agent":   func(c *Create) { c.Plan.Pipeline.Steps = []runbook.Step{{Name: "a", Run: runbook.Run{Agent: "x"}}} },
		"unknown step":    func(c *Create) { c.Plan.Pipeline.OnFail = "x" },
		"nested pipeline": func(c *Create) { c.Plan.Pipeline.Steps = []runbook.Step{{Name: "a", Run: runbook.Run{Pipeline: "x"}}} },
		"too large":       func(c *Create) { c.Vars = map[string]string{"x": strings.Repeat("x", maxStep)} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			c := good
			change(&c)
			s := newStage(t, c.Owner)
			if r := s.refused(c); r.Code != "invalid" {
				t.Fatalf("%+v", r)
			}
		})
	}
}

func TestTheSameStartSentAgainIsOne(t *testing.T) {
	s := start(t, shells("a"))
	if s.do(Create{Owner: s.id, Kind: Pipeline, Plan: shells("b")}); s.facts() != "" {
		t.Fatalf("%s", s.facts())
	}
}

func TestACommandThatIsTooLargeFailsItsStep(t *testing.T) {
	p := shells("a", "b")
	p.Pipeline.Steps[1].Run.Shell = strings.Repeat("${var.x}", 100)
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Plan: p, Vars: map[string]string{"x": strings.Repeat("x", 4096)}})
	s.do(ShellExited{Key: s.o.Shell.Key})
	s.is(runbook.EndFailed, Ended)
}

func TestForget(t *testing.T) {
	s := start(t, shells("a"))
	if r := s.refused(Forget{}); r.Code != "conflict" {
		t.Fatalf("%+v", r)
	}
	s.do(ShellExited{Key: s.o.Shell.Key})
	s.carryOut()
	s.do(Forget{})
	state := NewState()
	state.Put(s.o)
	if state.Len() != 0 || !s.replay.Deleted {
		t.Fatal("it is not forgotten")
	}
}
