package engine

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// limited is a pipeline with limits whose client has started.
func limited(t testing.TB, b runbook.Budget, then ...string) *stage {
	t.Helper()
	return limitedBy(t, work(clientAgent(), then...), b)
}

func limitedBy(t testing.TB, p runbook.Plan, b runbook.Budget) *stage {
	t.Helper()
	p.Pipeline.Budget = b
	s := start(t, p)
	s.carryOut()
	return s
}

func TestMoneyRunsOut(t *testing.T) {
	spent := func(t *testing.T) *stage {
		s := limited(t, runbook.Budget{USD: 2}, "next")
		s.do(AgentWorking{AgentID: s.agent()})
		s.do(AgentRested{AgentID: s.agent()})
		s.do(AgentSpent{s.agent(), 2, 1000})
		s.is("work", Running)
		s.do(AgentSpent{s.agent(), 2.5, 2000})
		s.is("work", Waiting)
		return s
	}
	t.Run("the agent is ended and a person asked", func(t *testing.T) {
		s := spent(t)
		if d := s.o.Decision; d.Source != FromBudget || d.names() != "extend, done, cancel" || d.Context != "The budget is used up: spent $2.50 of $2.00" {
			t.Fatalf("%s", text(d))
		}
		if s.effects() != "agent:kill notify" || s.o.Agent == nil {
			t.Fatalf("%s", s.effects())
		}
		decision := s.o.Decision.ID
		for _, what := range []Happening{
			AgentSpent{s.agent(), 3, 2500},
			AgentWorking{AgentID: s.agent()},
			AgentSignal{AgentID: s.agent(), Signal: Signal{SignalEscalate, "help"}},
			AgentIdle{AgentID: s.agent(), Prompt: "p"},
			AgentExited{AgentID: s.agent()},
		} {
			if s.do(what); s.effects() != "" || s.o.Decision == nil || s.o.Decision.ID != decision {
				t.Fatalf("%T: %s", what, text(s.o))
			}
		}
	})
	t.Run("extend", func(t *testing.T) {
		for _, exited := range []bool{false, true} {
			s := spent(t)
			session := s.agent()
			s.carryOut()
			if exited {
				s.do(AgentExited{AgentID: s.agent()})
			}
			s.do(Answer{Decision: s.o.Decision.ID, Option: "extend"})
			s.is("work", Running)
			if e := s.effect(StartAgent).Agent; e.Resume != session || e.Prompt != defaultNudge {
				t.Fatalf("%+v", e)
			}
			if b := s.o.Budget(); b.USD != 4.5 {
				t.Fatalf("$%.2f", b.USD)
			}
			s.carryOut()
			s.do(AgentSpent{s.agent(), 2, 0})
			s.is("work", Running)
			s.do(AgentSpent{s.agent(), 2.1, 0})
			s.is("work", Waiting)
		}
	})
	t.Run("extend with words", func(t *testing.T) {
		s := spent(t)
		s.refused(Answer{Decision: s.o.Decision.ID, Message: "hurry"}) // words alone allow nothing
		s.refused(Tell{s.agent(), "hurry"})
		s.do(Answer{Decision: s.o.Decision.ID, Option: "extend", Message: "hurry"})
		if e := s.effect(StartAgent).Agent; e.Prompt != "hurry" {
			t.Fatalf("%+v", e)
		}
	})
	t.Run("done", func(t *testing.T) {
		s := spent(t)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "done"})
		s.is("next", Running) // a command: it costs no money
	})
	t.Run("complete in a turn that is cut off", func(t *testing.T) {
		s := spent(t)
		decision := s.o.Decision.ID
		s.do(AgentWorking{AgentID: s.agent()})
		s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
		s.do(AgentExited{AgentID: s.agent()})
		if s.is("work", Waiting); s.o.Decision.ID != decision {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("complete", func(t *testing.T) {
		s := spent(t)
		s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
		s.is("work", Waiting) // the step is done, and the next is not entered
		if d := s.o.Decision; d.Source != FromBudget || d.Next != "next" || s.o.History[0].Outcome != "completed" {
			t.Fatalf("%s", text(s.o))
		}
		s.refused(Tell{s.agent(), "hello"})
		t.Run("extend", func(t *testing.T) {
			s := s.fork(t)
			s.do(Answer{Decision: s.o.Decision.ID, Option: "1"})
			s.is("next", Running)
		})
		t.Run("done", func(t *testing.T) {
			s := s.fork(t)
			s.do(Answer{Decision: s.o.Decision.ID, Option: "done"})
			s.is(runbook.EndDone, Ended)
		})
		t.Run("cancel", func(t *testing.T) {
			s := s.fork(t)
			s.do(Answer{Decision: s.o.Decision.ID, Option: "cancel"})
			s.is(runbook.EndCancelled, Ended)
		})
		t.Run("resume", func(t *testing.T) {
			s := s.fork(t)
			s.do(Resume{})
			s.is("next", Running)
		})
	})
	t.Run("no agent after it", func(t *testing.T) {
		p := work(clientAgent())
		p.Pipeline.Steps = append(p.Pipeline.Steps, runbook.Step{Name: "more", Run: p.Pipeline.Steps[0].Run})
		p.Pipeline.Steps[0].OnDone = "more"
		s := limitedBy(t, p, runbook.Budget{USD: 1})
		s.do(AgentSpent{s.agent(), 2, 0})
		s.do(Answer{Decision: s.o.Decision.ID, Option: "done"})
		s.is("work", Waiting)
		if s.o.Decision.Next != "more" {
			t.Fatalf("%s", text(s.o))
		}
		s.do(Answer{Decision: s.o.Decision.ID, Option: "extend"})
		s.is("more", Running)
		s.effect(StartAgent)
	})
	t.Run("another decision gives way", func(t *testing.T) {
		s := limited(t, runbook.Budget{USD: 1})
		s.do(asks(s.agent(), "r", colour))
		s.do(AgentSpent{s.agent(), 2, 0})
		if d := s.o.Decision; d.Source != FromBudget || !strings.Contains(d.Context, "Which colour?") || s.o.Settled[0].Closed != "the budget is used up" {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("a failed pipeline that is resumed", func(t *testing.T) {
		a := clientAgent()
		a.OnDead = runbook.Action{Kind: runbook.Fail}
		s := limitedBy(t, work(a), runbook.Budget{USD: 1})
		old := s.agent()
		s.do(AgentReady{old})
		s.do(AgentExited{AgentID: old})
		s.is(runbook.EndFailed, Ended)
		s.do(AgentSpent{old, 2, 0}) // it is known later
		s.do(Resume{Message: "again"})
		s.is("work", Waiting)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "extend"})
		if e := s.effect(StartAgent).Agent; e.Prompt != "again" || e.Resume != old {
			t.Fatalf("%+v", e)
		}
	})
}

func TestWhatAgentsCost(t *testing.T) {
	s := limited(t, runbook.Budget{})
	first := s.agent()
	s.do(AgentSpent{first, 1, 10})
	for _, odd := range []AgentSpent{{first, 0.5, 5}, {first, 1, 10}, {first, math.NaN(), 0}, {first, math.Inf(1), 0}, {first, -1, -1}, {"nobody", 1, 1}, {"", 1, 1}} {
		if s.do(odd); s.facts() != "" {
			t.Errorf("%+v: %s", odd, s.facts())
		}
	}
	for i := range 50 {
		s.do(AgentExited{AgentID: s.agent()})
		s.do(Answer{Decision: s.o.Decision.ID, Option: "retry"})
		s.carryOut()
		s.do(AgentSpent{s.agent(), 1, 10})
		if got, want := s.o.Cost(), (Spent{float64(i + 2), int64(10 * (i + 2))}); got != want || len(s.o.Spent) > keptSpent {
			t.Fatalf("%+v, want %+v, of %d", got, want, len(s.o.Spent))
		}
	}
}

func TestTimeRunsOut(t *testing.T) {
	t.Run("an agent's step", func(t *testing.T) {
		s := limited(t, runbook.Budget{Time: time.Hour})
		if due := s.o.Timers[budget]; due.Sub(s.o.Created) != time.Hour+time.Second { // since its agent was started
			t.Fatalf("due %s", due)
		}
		s.now = s.now.Add(20 * time.Minute)
		s.do(AgentStop{s.agent(), ""})
		if len(s.o.Timers) != 0 {
			t.Fatalf("waiting for a person counts: %v", s.o.Timers)
		}
		s.now = s.now.Add(24 * time.Hour)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "nudge"})
		if left := s.o.Timers[budget].Sub(s.now); left < 39*time.Minute || left > 40*time.Minute {
			t.Fatalf("%s are left", left)
		}
		s.elapse(budget)
		s.is("work", Waiting)
		if d := s.o.Decision; d.Source != FromBudget || d.Context != "The budget is used up: ran for 1h0m0s of 1h0m0s" || s.effect(KillAgent).Target != s.agent() {
			t.Fatalf("%s", text(d))
		}
		s.do(Answer{Decision: s.o.Decision.ID, Option: "extend"})
		s.carryOut()
		if left := s.o.Timers[budget].Sub(s.now); left < 59*time.Minute || left > time.Hour {
			t.Fatalf("%s more", left)
		}
	})
	t.Run("a command is ended", func(t *testing.T) {
		s := limitedBy(t, shells("build", "test"), runbook.Budget{Time: time.Minute})
		first := s.o.Shell.Key
		s.elapse(budget)
		s.is("build", Waiting)
		if d := s.o.Decision; d.Source != FromBudget || s.effect(KillShell).Target != first || s.o.Shell != nil {
			t.Fatalf("%s", text(d))
		}
		s.do(Answer{Decision: s.o.Decision.ID, Option: "extend"})
		s.is("build", Running)
		if left := s.o.Timers[budget].Sub(s.now); left != time.Minute || s.o.Shell.Key == first {
			t.Fatalf("%s more", left)
		}
		s.do(ShellExited{Key: first, Code: 143})
		s.is("build", Running) // its own command's end, not that of the first
		s.do(ShellExited{Key: s.o.Shell.Key})
		s.is("test", Running)
	})
	t.Run("a command that is done by decision", func(t *testing.T) {
		s := limitedBy(t, shells("build", "test"), runbook.Budget{Time: time.Minute})
		s.elapse(budget)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "done"})
		s.is("test", Running)
	})
	t.Run("on_cancel has no budget", func(t *testing.T) {
		p := work(clientAgent(), "clean")
		p.Pipeline.OnCancel = "clean"
		s := limitedBy(t, p, runbook.Budget{Time: time.Minute, USD: 1})
		s.do(AgentSpent{s.agent(), 2, 0})
		s.do(Cancel{})
		s.is("clean", Running)
		if _, set := s.o.Timers[budget]; set {
			t.Fatalf("%v", s.o.Timers)
		}
	})
	t.Run("a clock that is put back", func(t *testing.T) {
		s := limited(t, runbook.Budget{Time: time.Hour})
		s.now = s.now.Add(30 * time.Minute)
		s.do(AgentWorking{AgentID: s.agent()})
		s.now = s.now.Add(-24 * time.Hour)
		s.do(AgentWorking{AgentID: s.agent()})
		if left := s.o.Timers[budget].Sub(s.now); left < 29*time.Minute || left > 30*time.Minute {
			t.Fatalf("%s are left", left)
		}
	})
	t.Run("what was found late is not waited with", func(t *testing.T) {
		s := limited(t, runbook.Budget{Time: time.Hour})
		s.late(AgentIdle{AgentID: s.agent(), Prompt: "p"})
		s.do(CaughtUp{})
		s.is("work", Waiting)
	})
	t.Run("an agent that dies when it is over", func(t *testing.T) {
		a := clientAgent()
		a.OnDead = runbook.Action{Kind: runbook.Resume}
		s := limitedBy(t, work(a), runbook.Budget{Time: time.Minute})
		s.now = s.now.Add(time.Hour)
		s.do(AgentExited{AgentID: s.agent()})
		s.is("work", Waiting)
		if s.o.Decision.Source != FromBudget || s.effects() != "notify" {
			t.Fatalf("%s", s.effects())
		}
	})
	t.Run("a nudge that comes too late reaches the agent later", func(t *testing.T) {
		s := limited(t, runbook.Budget{Time: time.Minute})
		s.do(AgentReady{s.agent()})
		s.now = s.now.Add(time.Hour)
		s.do(AgentStop{s.agent(), ""})
		s.do(Answer{Decision: s.o.Decision.ID, Message: "use postgres"})
		s.is("work", Waiting)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "extend"})
		if e := s.effect(StartAgent).Agent; e.Prompt != "use postgres" {
			t.Fatalf("%+v", e)
		}
	})
	t.Run("an agent alone", func(t *testing.T) {
		a := clientAgent()
		a.Budget.Time = time.Minute
		s := startRun(t, a)
		s.carryOut()
		s.elapse(budget)
		s.is("work", Waiting)
	})
}

func TestExpiry(t *testing.T) {
	const words = "No answer in time: decide yourself."
	lead := map[string]func(s *stage){
		"stop":     func(s *stage) { s.do(AgentStop{s.agent(), ""}) },
		"dead":     func(s *stage) { s.do(AgentExited{AgentID: s.agent()}) },
		"question": func(s *stage) { s.do(asks(s.agent(), "r", colour, fruits)) },
		"plan":     func(s *stage) { s.do(plan(s.agent(), "r")) },
		"approval": func(s *stage) { s.do(permission(s.agent(), "r")) },
		"dialog":   func(s *stage) { s.do(AgentPrompt{AgentID: s.agent(), Type: typePermission}) },
		"budget":   func(s *stage) { s.do(AgentSpent{s.agent(), 99, 0}) },
	}
	const (
		cancelled = "cancelled ended cancel"
		done      = "next running done"
	)
	want := map[string]map[runbook.Default]string{
		"stop":     {runbook.DefaultGoOn: "work running nudge", runbook.DefaultDone: done},
		"dead":     {runbook.DefaultGoOn: "work running retry", runbook.DefaultDone: "next running skip"},
		"question": {runbook.DefaultGoOn: "work running ", runbook.DefaultDone: done},
		"plan":     {runbook.DefaultGoOn: "work running accept", runbook.DefaultDone: done},
		"approval": {runbook.DefaultGoOn: "work running deny", runbook.DefaultDone: done},
		"dialog":   {runbook.DefaultGoOn: cancelled, runbook.DefaultDone: done},
		"budget":   {runbook.DefaultGoOn: cancelled, runbook.DefaultDone: done},
	}
	for name, come := range lead {
		for _, answer := range []runbook.Default{runbook.DefaultGoOn, runbook.DefaultDone, runbook.DefaultCancel} {
			t.Run(fmt.Sprint(name, "/", answer), func(t *testing.T) {
				p := work(clientAgent(), "next")
				p.Pipeline.Expire = runbook.Expire{After: time.Hour, Answer: answer}
				s := limitedBy(t, p, runbook.Budget{USD: 50})
				s.do(AgentReady{s.agent()})
				come(s)
				id := s.o.Decision.ID
				if d := s.o.Decision; !d.Expires.Equal(s.o.Timers[expire]) || d.Expires.Sub(d.Created) != time.Hour {
					t.Fatalf("%s", text(s.o))
				}
				s.carryOut()
				s.elapse(expire)
				d := s.o.Settled[len(s.o.Settled)-1]
				expected := want[name][answer]
				if answer == runbook.DefaultCancel {
					expected = cancelled
				}
				if got := strings.Join([]string{s.o.Step, string(s.o.Status), d.Chosen}, " "); got != expected {
					t.Fatalf("%s, want %s", got, expected)
				}
				if told := s.effect(NotifyPerson); !strings.HasPrefix(told.Title, "Decision expired") || !strings.Contains(told.Text, unanswered) {
					t.Errorf("%+v", told)
				}
				if !d.Expired || d.Message != unanswered || !s.o.Timers[expire].IsZero() {
					t.Fatalf("%s", text(s.o))
				}
				if name == "question" && answer == runbook.DefaultGoOn && text(s.replied("r").Answers) != text([]string{words, words}) {
					t.Errorf("%+v", s.replied("r"))
				}
				if name == "stop" && answer == runbook.DefaultGoOn && s.effect(SendAgent).Text != defaultNudge {
					t.Errorf("%+v", s.last)
				}
				if r := s.refused(Answer{Decision: id, Option: "1"}); r.Code != "conflict" || !strings.Contains(r.Why, "by default: no answer in time") {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

func TestExpiryIsOfOneDecision(t *testing.T) {
	p := work(clientAgent())
	p.Pipeline.Expire = runbook.Expire{After: time.Hour, Answer: runbook.DefaultCancel}
	t.Run("answered before", func(t *testing.T) {
		s := start(t, p)
		s.do(AgentStop{s.agent(), ""})
		due := s.o.Timers[expire]
		s.do(Answer{Decision: s.o.Decision.ID, Option: "nudge"})
		if len(s.o.Timers) != 0 {
			t.Fatalf("%v", s.o.Timers)
		}
		s.now = s.now.Add(time.Minute)
		s.do(AgentStop{s.agent(), ""})
		if s.do(TimerFired{expire, due}); s.facts() != "" || s.o.Decision.Expires.Equal(due) {
			t.Fatalf("%s", s.facts())
		}
	})
	t.Run("found late", func(t *testing.T) {
		s := start(t, p)
		s.carryOut()
		s.late(AgentStop{s.agent(), ""})
		if len(s.o.Timers) != 0 {
			t.Fatal("nobody could know of it yet")
		}
		s.now = s.now.Add(5 * time.Hour)
		s.do(CaughtUp{})
		if left := s.o.Decision.Expires.Sub(s.now); left != time.Hour {
			t.Fatalf("%s", left)
		}
		if s.do(CaughtUp{}); s.facts() != "" {
			t.Fatalf("%s", s.facts())
		}
	})
	t.Run("an agent alone", func(t *testing.T) {
		a := clientAgent()
		a.Expire = p.Pipeline.Expire
		s := startRun(t, a)
		s.do(AgentStop{s.agent(), ""})
		s.elapse(expire)
		s.is(runbook.EndCancelled, Ended)
	})
}
