package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

var check = checktest.OK

// atWork is a pipeline whose agent works.
func atWork(t testing.TB, a runbook.Agent, then ...string) *stage {
	t.Helper()
	s := start(t, work(a, then...))
	s.carryOut()
	return s
}

func TestRuling24OwnerIsRecordedBeforeTheAgentStarts(t *testing.T) {
	s := start(t, work(worker()))
	e := s.effect(StartAgent)
	if s.o.Agent == nil || e.Agent.ID != s.agent() || e.Agent.Prompt != "do 1" || e.Agent.OnStop != runbook.StopSignal {
		t.Fatalf("%+v\n%s", e.Agent, text(s.o))
	}
	if open, _ := s.o.Effect(e.Key); open.Started {
		t.Fatal("it was started before it was on record")
	}
	state := NewState()
	state.Put(s.o)
	if _, given := state.Signal(s.agent()); given {
		t.Fatal("an agent that is about to start is nobody's")
	}
}

func TestRuling24Orphans(t *testing.T) {
	type answer struct {
		given bool
		Signal
	}
	tests := []struct {
		name  string
		stage *stage
		happy func(*stage)
		want  answer
	}{
		{"works", atWork(t, worker()), func(s *stage) {}, answer{}},
		{"escalated", atWork(t, worker()), func(s *stage) { s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalEscalate, "help"}}) }, answer{true, Signal{SignalEscalate, "help"}}},
		{"said continue", atWork(t, worker()), func(s *stage) { s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalContinue, ""}}) }, answer{}},
		{"pipeline moved on", atWork(t, worker(), "next"), func(s *stage) { s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}}) }, answer{given: true}},
		{"finished run", startRun(t, worker()), func(s *stage) { s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}}) }, answer{given: true}},
		{"cancelled", atWork(t, worker()), func(s *stage) { s.do(Cancel{}) }, answer{given: true}},
		{"replaced", atWork(t, worker()), func(s *stage) {
			s.do(AgentExited{AgentID: s.agent()})
			s.do(Answer{Decision: s.o.Decision.ID, Option: "retry", Message: ""})
		}, answer{given: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := test.stage.agent()
			test.happy(test.stage)
			state := NewState()
			state.Put(test.stage.o)
			signal, given := state.Signal(agent)
			if got := (answer{given, signal}); got != test.want {
				t.Fatalf("%+v, want %+v", got, test.want)
			}
		})
	}
	if _, given := NewState().Signal("nobody"); !given {
		t.Fatal("an agent that nobody knows may stop")
	}
}

func TestRuling23ContinueIsLoggedNotStored(t *testing.T) {
	s := atWork(t, worker())
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalContinue, "on it"}})
	if s.facts() != "agent:signal" || s.o.Agent.Signal != nil || s.effects() != "" {
		t.Fatalf("%s %s %v", s.facts(), s.effects(), s.o.Agent.Signal)
	}
}

func TestAgentStopEscalates(t *testing.T) {
	s := atWork(t, worker())
	s.do(AgentStop{s.agent(), "p1"})
	s.is("work", Waiting)
	if want := "agent:stop decision:created step:waiting"; s.facts() != want {
		t.Fatalf("%s, want %s", s.facts(), want)
	}
	e := s.effect(NotifyPerson)
	if e.Title != "Pipeline needs attention: fix" || e.Text != "Agent tried to stop without signaling completion" {
		t.Fatalf("%+v", e)
	}
	waiting := s.last.Facts[2].(StepWaiting)
	if waiting.Reason != "on_stop: escalate" || waiting.DecisionID != s.o.Decision.ID || s.o.Decision.Source != FromStop {
		t.Fatalf("%+v %+v", waiting, s.o.Decision)
	}
}

func TestAgentStopEscalatesAnAgentThatRunsAlone(t *testing.T) {
	s := startRun(t, worker())
	if on := s.effect(StartAgent).Agent.OnStop; on != runbook.StopEscalate {
		t.Fatalf("on_stop is %q where the runbook says nothing", on)
	}
	s.do(AgentStop{s.agent(), ""})
	s.is("work", Waiting)
	status := s.last.Facts[2].(AgentRunStatusChanged)
	if status != (AgentRunStatusChanged{"escalated", "on_stop: escalate", s.o.Decision.ID}) || s.effect(NotifyPerson).Title != "Agent needs attention: ask" {
		t.Fatalf("%+v %s", status, s.effect(NotifyPerson).Title)
	}
}

func TestEscalationIsIdempotent(t *testing.T) {
	s := atWork(t, worker())
	s.do(AgentStop{s.agent(), "p1"})
	decision := s.o.Decision.ID
	for range 3 {
		s.do(AgentStop{s.agent(), "p1"})
		if s.effects() != "" || s.o.Decision.ID != decision {
			t.Fatalf("%s: %s", s.effects(), text(s.o.Decision))
		}
	}
}

func TestRuling27NothingNewWhileAPersonIsAsked(t *testing.T) {
	for name, what := range map[string]func(agent string) Happening{
		"idle":   func(a string) Happening { return AgentIdle{AgentID: a, Prompt: "p9"} },
		"stop":   func(a string) Happening { return AgentStop{a, "p9"} },
		"prompt": func(a string) Happening { return AgentPrompt{AgentID: a, Type: "permission", Text: "?"} },
		"error":  func(a string) Happening { return AgentError{AgentID: a, Kind: runbook.RateLimited, Text: ""} },
		"exit":   func(a string) Happening { return AgentExited{AgentID: a, Code: 1} },
	} {
		t.Run(name, func(t *testing.T) {
			a := worker()
			a.OnIdle = runbook.Action{Kind: runbook.Nudge}
			a.OnDead = runbook.Action{Kind: runbook.Resume}
			s := atWork(t, a)
			s.do(AgentStop{s.agent(), "p1"})
			decision := text(s.o.Decision)
			s.do(what(s.agent()))
			s.is("work", Waiting)
			if s.effects() != "" || text(s.o.Decision) != decision || len(s.o.Attempts) != 0 {
				t.Fatalf("%s\n%s", s.effects(), text(s.o))
			}
			if s.o.Agent.Exited != (name == "exit") {
				t.Fatal("the exit must be on record")
			}
		})
	}
}

func TestRuling28OneIdleOneAttempt(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: 3}
	s := atWork(t, a)
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
	if n := s.o.Attempts["idle"]; n != 1 {
		t.Fatalf("%d attempts for one idle", n)
	}
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
	s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
	if n := s.o.Attempts["idle"]; n != 3 {
		t.Fatalf("%d attempts for three idles", n)
	}
}

// An agent that said it would continue, and is idle after that, must not be forgotten.
func TestIdleAfterContinueCounts(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: 5, Cooldown: time.Hour}
	s := atWork(t, a)
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalContinue, ""}})
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
	if len(s.o.Timers) != 1 {
		t.Fatalf("nothing is to be done about it: %s", text(s.o))
	}
}

func TestInputsOfTheJournalCountOnce(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: runbook.Forever}
	s := atWork(t, a)
	in := Input{ID: "call", Journal: true, Time: s.now, What: AgentIdle{AgentID: s.agent(), Prompt: ""}}
	s.tell(in)
	s.crash()
	if s.tell(in); s.effects() != "" || s.o.Attempts["idle"] != 1 {
		t.Fatalf("%s, %d attempts", s.effects(), s.o.Attempts["idle"])
	}
}

// What the journal said while nothing could come of it says nothing new later.
func TestOldWordsAreNotHeardAgain(t *testing.T) {
	s := atWork(t, worker())
	worked := Input{ID: "call", Journal: true, Time: s.now, What: AgentWorking{AgentID: s.agent(), Prompt: "p0"}}
	s.tell(worked)
	s.do(AgentStop{s.agent(), "p0"})
	s.tell(worked)
	s.is("work", Waiting)
}

func TestStaleAgentsChangeNothing(t *testing.T) {
	s := atWork(t, worker())
	old := s.agent()
	s.do(AgentExited{AgentID: old})
	s.do(Answer{Decision: s.o.Decision.ID, Option: "retry", Message: ""})
	if s.effects() != "agent:kill agent:start" || s.agent() == old {
		t.Fatalf("%s, agent %s", s.effects(), s.agent())
	}
	for _, what := range []Happening{
		AgentIdle{AgentID: old, Prompt: "p"},
		AgentStop{old, "p"},
		AgentPrompt{AgentID: old, Type: "", Text: ""},
		AgentSignal{AgentID: old, Signal: Signal{SignalComplete, ""}},
		AgentError{AgentID: old, Kind: runbook.OtherError, Text: ""},
		AgentExited{AgentID: old},
		AgentWorking{AgentID: old, Prompt: "p"},
		AgentIdle{AgentID: "", Prompt: "p"},
	} {
		s.do(what)
		if s.facts() != "" || s.effects() != "" {
			t.Fatalf("%T of a stale agent: %s %s", what, s.facts(), s.effects())
		}
	}
}

// The matrix of states and events (reference 5.7).
func TestStatesAndEvents(t *testing.T) {
	nudging := worker()
	nudging.OnIdle = runbook.Action{Kind: runbook.Nudge}
	events := []struct {
		name string
		what func(agent string) Happening
	}{
		{"idle", func(a string) Happening { return AgentIdle{AgentID: a, Prompt: "p5"} }},
		{"stop", func(a string) Happening { return AgentStop{a, "p5"} }},
		{"complete", func(a string) Happening { return AgentSignal{AgentID: a, Signal: Signal{SignalComplete, ""}} }},
		{"escalate", func(a string) Happening { return AgentSignal{AgentID: a, Signal: Signal{SignalEscalate, "help"}} }},
		{"exit", func(a string) Happening { return AgentExited{AgentID: a, Code: 1} }},
	}
	states := []struct {
		name  string
		enter func(*stage)
		want  map[string]string // the owner's step, status and decision's source
	}{
		{"Running", func(s *stage) {}, map[string]string{
			"idle": "work running ", "stop": "work waiting stop", "complete": "next running ",
			"escalate": "work waiting signal", "exit": "work waiting dead",
		}},
		{"Waiting", func(s *stage) { s.do(AgentStop{s.agent(), ""}) }, map[string]string{
			"idle": "work waiting stop", "stop": "work waiting stop", "complete": "next running ",
			"escalate": "work waiting signal", "exit": "work waiting stop",
		}},
		{"stale", func(s *stage) { s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}}) }, map[string]string{
			"idle": "next running ", "stop": "next running ", "complete": "next running ", "escalate": "next running ", "exit": "next running ",
		}},
		{"terminal", func(s *stage) { s.do(Cancel{}) }, map[string]string{
			"idle": "cancelled ended ", "stop": "cancelled ended ", "complete": "cancelled ended ", "escalate": "cancelled ended ", "exit": "cancelled ended ",
		}},
	}
	for _, state := range states {
		for _, event := range events {
			t.Run(state.name+"/"+event.name, func(t *testing.T) {
				s := atWork(t, nudging, "next")
				agent := s.agent()
				state.enter(s)
				s.do(event.what(agent))
				source := Source("")
				if s.o.Decision != nil {
					source = s.o.Decision.Source
				}
				if got := strings.Join([]string{s.o.Step, string(s.o.Status), string(source)}, " "); got != state.want[event.name] {
					t.Fatalf("%s, want %s", got, state.want[event.name])
				}
			})
		}
	}
}

func TestCompleteOverridesWaiting(t *testing.T) {
	s := atWork(t, worker(), "next")
	s.do(AgentStop{s.agent(), ""})
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
	s.is("next", Running)
	if closed := s.o.Settled[0].Closed; closed != "the agent completed" {
		t.Fatalf("%q", closed)
	}
	if s.effects() != "agent:kill shell:start" {
		t.Fatalf("%s", s.effects())
	}
}

func TestEscalateReplacesTheOpenDecision(t *testing.T) {
	s := atWork(t, worker())
	s.do(AgentStop{s.agent(), ""})
	first := s.o.Decision.ID
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalEscalate, "which database?"}})
	if s.o.Decision.ID == first || s.o.Decision.Context != "which database?" || s.o.Settled[0].ID != first {
		t.Fatalf("%s", text(s.o))
	}
}

func TestSomebodyTypesInsteadOfAnswering(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge}
	s := atWork(t, a)
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalEscalate, "help"}})
	s.do(AgentWorking{AgentID: s.agent(), Prompt: "p2"})
	s.is("work", Running)
	if s.o.Settled[0].Closed != "a prompt was typed into the session" || s.o.Agent.Signal != nil || len(s.o.Attempts) != 0 {
		t.Fatalf("%s", text(s.o))
	}
}

func TestAgentsAreFoundByTheirSession(t *testing.T) {
	s := atWork(t, worker())
	s.do(AgentSession{s.agent(), "other"})
	state := NewState()
	state.Put(s.o)
	if o := state.OwnerOf("other"); o == nil || o.ID != s.id {
		t.Fatal("the session is not found")
	}
}

func TestLateWordsNeitherTypeNorNotify(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Message: "on!"}
	t.Run("idle is acted on after the catch-up", func(t *testing.T) {
		s := atWork(t, a)
		s.late(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
		if s.o.Agent.Pending != "idle" || s.effects() != "" {
			t.Fatalf("%s", text(s.o))
		}
		s.do(CaughtUp{})
		if s.effect(SendAgent).Text != "on!" || s.o.Agent.Pending != "" {
			t.Fatalf("%s", text(s.o))
		}
		if s.do(CaughtUp{}); s.effects() != "" {
			t.Fatalf("again: %s", s.effects())
		}
	})
	t.Run("unless the agent did something since", func(t *testing.T) {
		s := atWork(t, a)
		s.late(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
		s.late(AgentWorking{AgentID: s.agent(), Prompt: "p2"})
		if s.do(CaughtUp{}); s.effects() != "" {
			t.Fatalf("%s", s.effects())
		}
	})
	t.Run("whatever is to be done about it", func(t *testing.T) {
		for _, kind := range []runbook.ActionKind{runbook.Resume, runbook.Fail, runbook.Gate, runbook.Escalate, runbook.Done} {
			a := worker()
			act := runbook.Action{Kind: kind, Run: "check"}
			a.OnError, a.OnPrompt = []runbook.ErrorAction{{Action: act}}, act
			for _, what := range []Happening{AgentError{AgentID: "", Kind: runbook.RateLimited, Text: "529"}, AgentPrompt{AgentID: "", Type: "permission", Text: "?"}} {
				name := string(kind) + " " + what.EventType()
				s := atWork(t, a, "next")
				fired := func() {
					switch w := what.(type) {
					case AgentError:
						w.AgentID = s.agent()
						s.late(w)
					case AgentPrompt:
						w.AgentID = s.agent()
						s.late(w)
					}
				}
				fired()
				if s.is("work", Running); s.o.Agent.Pending == "" || s.effects() != "" {
					t.Fatalf("%s: %s", name, text(s.o))
				}
				// It went on by itself: what it said last counts.
				s.late(AgentWorking{AgentID: s.agent(), Prompt: "p2"})
				if s.o.Agent.Pending != "" {
					t.Fatalf("%s: it worked, and %s", name, text(s.o))
				}
				fired()
				s.late(AgentSignal{AgentID: s.agent(), Signal: Signal{Kind: SignalComplete}})
				s.is("next", Running)
				// It did not.
				s = atWork(t, a)
				fired()
				s.do(CaughtUp{})
				if s.elapse(cooldown); s.effects() == "" || s.o.Agent != nil && s.o.Agent.Pending != "" {
					t.Fatalf("%s: nothing came of it: %s", name, text(s.o))
				}
			}
		}
	})
	t.Run("an end is not waited with", func(t *testing.T) {
		a := worker()
		a.OnDead = runbook.Action{Kind: runbook.Fail}
		s := atWork(t, a)
		s.late(AgentExited{AgentID: s.agent(), Code: 1})
		s.is(runbook.EndFailed, Ended)
	})
	t.Run("a stop is a decision that nobody is told of", func(t *testing.T) {
		s := atWork(t, worker())
		s.late(AgentStop{s.agent(), ""})
		s.is("work", Waiting)
		if s.effects() != "" {
			t.Fatalf("%s", s.effects())
		}
	})
	t.Run("a signal moves", func(t *testing.T) {
		s := atWork(t, worker(), "next")
		s.late(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
		s.is("next", Running)
	})
}

func TestActions(t *testing.T) {
	tests := []struct {
		name    string
		action  runbook.Action
		effects string
		step    string
		status  Status
	}{
		{"nudge", runbook.Action{Kind: runbook.Nudge}, "agent:send", "work", Running},
		{"done", runbook.Action{Kind: runbook.Done}, "agent:kill shell:start", "next", Running},
		{"fail", runbook.Action{Kind: runbook.Fail}, "agent:kill", runbook.EndFailed, Ended},
		{"resume", runbook.Action{Kind: runbook.Resume}, "agent:kill agent:start", "work", Running},
		{"escalate", runbook.Action{Kind: runbook.Escalate}, "notify", "work", Waiting},
		{"gate", runbook.Action{Kind: runbook.Gate, Run: "check ${var.x}"}, "shell:start", "work", Running},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := worker()
			a.OnIdle = test.action
			s := atWork(t, a, "next")
			s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
			s.is(test.step, test.status)
			if s.effects() != test.effects {
				t.Fatalf("%s, want %s", s.effects(), test.effects)
			}
			switch test.name {
			case "nudge":
				if s.effect(SendAgent).Text != defaultNudge {
					t.Fatalf("%+v", s.effect(SendAgent))
				}
			case "fail":
				if s.o.Error != "The agent is idle" {
					t.Fatalf("%q", s.o.Error)
				}
			case "gate":
				if s.effect(StartShell).Shell.Script != "check 1" || s.o.Shell.Gate != "idle" {
					t.Fatalf("%s", text(s.o))
				}
			}
		})
	}
}

func TestResumeReplacesThePromptOrGoesOn(t *testing.T) {
	tests := []struct {
		name            string
		action          runbook.Action
		prompt          string
		inTheOldSession bool
	}{
		{"no message", runbook.Action{Kind: runbook.Resume}, defaultNudge, true},
		{"message", runbook.Action{Kind: runbook.Resume, Message: "again ${var.x}"}, "again 1", false},
		{"append", runbook.Action{Kind: runbook.Resume, Message: "again", Append: true}, "again", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := worker()
			a.OnDead = test.action
			s := atWork(t, a)
			s.do(AgentSession{s.agent(), "old session"})
			old := s.agent()
			s.do(AgentExited{AgentID: old, Code: 2})
			start := s.effect(StartAgent).Agent
			if s.effect(KillAgent).Target != old || start.ID == old || start.ID != s.agent() || start.Prompt != test.prompt || (start.Resume == "old session") != test.inTheOldSession {
				t.Fatalf("%+v", start)
			}
			if len(s.o.History) != 1 || s.o.History[0].AgentID != s.agent() {
				t.Fatalf("%+v", s.o.History)
			}
		})
	}
}

// Each action is taken as often as the runbook says, and then a person is asked.
func TestAttempts(t *testing.T) {
	act := map[runbook.ActionKind]func(s *stage, i int){
		runbook.Nudge:  func(s *stage, i int) { s.do(AgentIdle{AgentID: s.agent(), Prompt: ""}) },
		runbook.Resume: func(s *stage, i int) { s.do(AgentExited{AgentID: s.agent(), Code: 1}) },
		runbook.Gate: func(s *stage, i int) {
			if i == 0 {
				s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
				return
			}
			s.do(ShellExited{Key: s.o.Shell.Key, Code: 1, Tail: "two\nlines"})
		},
	}
	for kind, again := range act {
		for _, attempts := range []int{0, 1, 2, 3} {
			for _, pause := range []time.Duration{0, time.Minute} {
				t.Run(string(kind)+"/"+plain.Count(attempts, "attempt")+"/"+pause.String(), func(t *testing.T) {
					a := worker()
					a.OnIdle = runbook.Action{Kind: kind, Run: "check", Attempts: attempts, Cooldown: pause}
					a.OnDead = a.OnIdle
					s := atWork(t, a)
					n := max(attempts, 1)
					for i := range n {
						again(s, i)
						if due, cooling := s.o.Timers[cooldown]; cooling != (i > 0 && pause > 0) {
							t.Fatalf("attempt %d: timers %v", i+1, s.o.Timers)
						} else if cooling {
							if s.effects() != "" {
								t.Fatalf("attempt %d in the cooldown: %s", i+1, s.effects())
							}
							s.now = due
							s.do(TimerFired{cooldown, due})
						}
						if s.effects() == "" || s.o.Status != Running {
							t.Fatalf("attempt %d was not made", i+1)
						}
						s.carryOut()
					}
					again(s, n)
					s.is("work", Waiting)
					if want := plain.Count(n, "attempt") + " did not help"; !strings.HasSuffix(s.o.Decision.Context, want) {
						t.Fatalf("%q, want %q", s.o.Decision.Context, want)
					}
				})
			}
		}
	}
}

func TestForeverNeverAsks(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: runbook.Forever}
	a.OnDead = runbook.Action{Kind: runbook.Resume, Attempts: runbook.Forever}
	s := atWork(t, a)
	for range 50 {
		s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
		if s.effect(SendAgent); s.o.Status != Running {
			t.Fatal("a person was asked")
		}
		s.carryOut()
	}
	for i := range 5 {
		s.do(AgentExited{AgentID: s.agent()})
		if due, rests := s.o.Timers[cooldown]; rests != (i > 0) {
			t.Fatalf("start %d: an agent that dies at once must not be started without pause", i)
		} else if rests {
			s.now = due
			s.do(TimerFired{cooldown, due})
		}
		s.effect(StartAgent)
	}
}

func TestCooldownIsCancelled(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: 5, Cooldown: time.Hour}
	for name, what := range map[string]func(agent string) Happening{
		"works":   func(a string) Happening { return AgentWorking{AgentID: a, Prompt: "p"} },
		"signals": func(a string) Happening { return AgentSignal{AgentID: a, Signal: Signal{SignalContinue, ""}} },
		"exits":   func(a string) Happening { return AgentExited{AgentID: a} },
		"stops":   func(a string) Happening { return AgentStop{a, ""} },
	} {
		t.Run(name, func(t *testing.T) {
			s := atWork(t, a)
			s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
			s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
			due := s.o.Timers[cooldown]
			if want := s.o.Acted["idle"].Add(time.Hour); !due.Equal(want) || s.o.Attempts["idle"] != 1 {
				t.Fatalf("due %s, want %s", due, want)
			}
			if s.do(TimerFired{cooldown, due.Add(-time.Minute)}); s.facts() != "" {
				t.Fatalf("an older timer fired: %s", s.facts())
			}
			s.do(what(s.agent()))
			if len(s.o.Timers) != 0 || s.o.Agent.Pending != "" {
				t.Fatalf("%s", text(s.o))
			}
			if s.do(TimerFired{cooldown, due}); s.facts() != "" {
				t.Fatalf("a cancelled timer fired: %s", s.facts())
			}
		})
	}
}

func TestClockThatIsPutBackDoesNotLengthenTheCooldown(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: 5, Cooldown: time.Minute}
	s := atWork(t, a)
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
	s.now = s.now.Add(-24 * time.Hour)
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
	if due := s.o.Timers[cooldown]; due.Sub(s.now) != time.Minute {
		t.Fatalf("it waits %s", due.Sub(s.now))
	}
}

// A timer that fires when the clock says that it is not due yet acts all the same: set
// again for the same time, it would be the same timer, which has fired.
func TestTimerThatFiresTooEarly(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: 5, Cooldown: time.Minute}
	s := atWork(t, a)
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
	due := s.o.Timers[cooldown]
	if !due.After(s.now.Add(time.Second)) {
		t.Fatalf("due %s, now %s", due, s.now)
	}
	s.do(TimerFired{cooldown, due})
	if s.effect(SendAgent); len(s.o.Timers) != 0 || !s.o.Acted["idle"].Equal(due) {
		t.Fatalf("%s", text(s.o))
	}
}

func TestErrorsByKind(t *testing.T) {
	a := worker()
	a.OnError = []runbook.ErrorAction{
		{Match: runbook.RateLimited, Action: runbook.Action{Kind: runbook.Resume, Attempts: 2}},
		{Match: runbook.NoInternet, Action: runbook.Action{Kind: runbook.Fail}},
	}
	t.Run("the first that matches", func(t *testing.T) {
		s := atWork(t, a)
		s.do(AgentError{AgentID: s.agent(), Kind: runbook.RateLimited, Text: "429"})
		if due := s.o.Timers[cooldown]; due.Sub(s.now) != time.Minute || s.effects() != "" {
			t.Fatalf("due %s: %s", due, s.effects())
		}
		s.elapse(cooldown)
		if s.effects() != "agent:kill agent:start" || s.o.Attempts["error:rate_limited"] != 1 {
			t.Fatalf("%s %v", s.effects(), s.o.Attempts)
		}
	})
	t.Run("another", func(t *testing.T) {
		s := atWork(t, a)
		s.do(AgentError{AgentID: s.agent(), Kind: runbook.NoInternet, Text: "offline"})
		s.is(runbook.EndFailed, Ended)
	})
	t.Run("none", func(t *testing.T) {
		s := atWork(t, a)
		s.do(AgentError{AgentID: s.agent(), Kind: runbook.Unauthorized, Text: "401"})
		s.is("work", Waiting)
		if s.o.Decision.Source != FromError || !strings.HasSuffix(s.o.Decision.Context, "401") {
			t.Fatalf("%s", text(s.o.Decision))
		}
	})
	t.Run("texts that vary exhaust the attempts", func(t *testing.T) {
		s := atWork(t, a)
		for _, words := range []string{"429 a", "429 b", "429 c"} {
			s.do(AgentError{AgentID: s.agent(), Kind: runbook.RateLimited, Text: words})
			s.elapse(cooldown)
			s.carryOut()
		}
		s.is("work", Waiting)
	})
}

func TestGate(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Gate, Run: "check"}
	gated := func(t *testing.T) *stage {
		s := atWork(t, a, "next")
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
		s.carryOut()
		return s
	}
	t.Run("yes", func(t *testing.T) {
		s := gated(t)
		s.do(ShellExited{Key: s.o.Shell.Key})
		s.is("next", Running)
	})
	t.Run("no", func(t *testing.T) {
		s := gated(t)
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 7, Tail: "line one\nline two"})
		s.is("work", Waiting)
		for _, part := range []string{`"check"`, "exit status 7", "line one", "line two"} {
			if !strings.Contains(s.o.Decision.Context, part) {
				t.Errorf("%q is not in %q", part, s.o.Decision.Context)
			}
		}
		if s.o.Decision.Source != FromGate {
			t.Errorf("source %s", s.o.Decision.Source)
		}
	})
	t.Run("cannot be run", func(t *testing.T) {
		s := atWork(t, a)
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
		s.do(EffectFailed{Key: s.o.Shell.Key, Why: "no sh"})
		s.is("work", Waiting)
		if s.o.Decision.Source != FromGate || !strings.Contains(s.o.Decision.Context, "no sh") {
			t.Errorf("%+v", s.o.Decision)
		}
	})
	t.Run("idle meanwhile is the same idle", func(t *testing.T) {
		s := gated(t)
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
		if s.effects() != "" || s.o.Attempts["idle"] != 1 || s.o.Agent.Idle != "p1" {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("the agent works again: no is no answer", func(t *testing.T) {
		s := gated(t)
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "p2"})
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		s.is("work", Running)
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
		s.is("work", Waiting)
	})
	t.Run("the agent works and is idle again: no counts", func(t *testing.T) {
		s := gated(t)
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "p2"})
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "p2"})
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		s.is("work", Waiting)
	})
	t.Run("the agent exits: no means dead", func(t *testing.T) {
		s := gated(t)
		s.do(AgentExited{AgentID: s.agent(), Code: 4})
		s.is("work", Running)
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		s.is("work", Waiting)
		if s.o.Decision.Source != FromDead {
			t.Fatalf("%s", s.o.Decision.Source)
		}
	})
	t.Run("a stop ends the gate", func(t *testing.T) {
		s := gated(t)
		key := s.o.Shell.Key
		s.do(AgentStop{s.agent(), ""})
		s.is("work", Waiting)
		if s.effect(KillShell).Target != key || s.o.Shell != nil {
			t.Fatalf("%s", text(s.o))
		}
	})
}

// Attempts are kept over on_fail cycles, and cleared when a step is completed.
func TestAttemptsOverCycles(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: 2}
	a.OnDead = runbook.Action{Kind: runbook.Fail}
	p := work(a, "next")
	p.Pipeline.Steps[0].OnFail = "work"
	p.Pipeline.Steps[1].OnDone = "work"
	s := start(t, p)
	s.carryOut()
	s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
	s.do(AgentExited{AgentID: s.agent()})
	s.is("work", Running)
	if s.o.Attempts["idle"] != 1 {
		t.Fatalf("%v after on_fail", s.o.Attempts)
	}
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
	if len(s.o.Attempts) != 0 {
		t.Fatalf("%v after success", s.o.Attempts)
	}
}

// What an agent in a turn says is complete counts when nobody objects to its stop: the
// project's gates come first. An agent that is in no turn says it once and for all.
// One that ends in another way than by a stop was seen by nobody, and is what it always is.
func TestSignalCountsAtTheEndOfTheTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		end   func(agent string) Happening
		asked Source // none: the step is completed
	}{
		"stop":              {end: func(a string) Happening { return AgentRested{AgentID: a, Prompt: "p"} }},
		"let go, not fixed": {func(a string) Happening { return AgentRested{a, "p", "gates: red"} }, FromSignal},
		"idle":              {func(a string) Happening { return AgentIdle{AgentID: a, Prompt: "p"} }, FromIdle},
		"error":             {func(a string) Happening { return AgentError{AgentID: a, Kind: runbook.RateLimited} }, FromError},
		"exit":              {func(a string) Happening { return AgentExited{AgentID: a, Code: 1} }, FromDead},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready(t, clientAgent())
			s.do(AgentStop{s.agent(), "p"})
			s.do(AgentWorking{AgentID: s.agent(), Prompt: "p"})
			s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
			if s.o.Terminal() || s.o.Decision != nil || s.effects() != "" {
				t.Fatalf("%s", text(s.o))
			}
			s.do(tt.end(s.agent()))
			switch {
			case tt.asked == "" && s.o.Step != runbook.EndDone:
				t.Fatalf("%s", text(s.o))
			case tt.asked != "" && (s.o.Decision == nil || s.o.Decision.Source != tt.asked):
				t.Fatalf("%s", text(s.o))
			}
		})
	}
	patient := clientAgent()
	patient.OnIdle = runbook.Action{Kind: runbook.Gate, Run: "test"}
	patient.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Nudge}}}
	type by func(agent string) Happening
	for name, then := range map[string]by{
		"idle":   func(a string) Happening { return AgentIdle{AgentID: a, Prompt: "q"} },
		"exit":   func(a string) Happening { return AgentExited{AgentID: a, Code: 1} },
		"signal": func(a string) Happening { return AgentSignal{AgentID: a, Signal: Signal{SignalComplete, ""}} },
	} {
		for _, unseen := range []by{
			func(a string) Happening { return AgentIdle{AgentID: a, Prompt: "p"} },
			func(a string) Happening { return AgentError{AgentID: a, Kind: runbook.RateLimited, Prompt: "p"} },
		} {
			t.Run(name+" after an end that nobody saw", func(t *testing.T) {
				s := ready(t, patient)
				s.do(AgentWorking{AgentID: s.agent(), Prompt: "p"})
				s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
				s.do(unseen(s.agent()))
				if s.do(then(s.agent())); s.o.Step == runbook.EndDone {
					t.Fatalf("%s", text(s.o))
				}
			})
		}
	}
	s := ready(t, clientAgent())
	s.do(AgentWorking{AgentID: s.agent(), Prompt: "p"})
	s.do(AgentRested{AgentID: s.agent(), Prompt: "p"})
	if s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}}); s.o.Step != runbook.EndDone {
		t.Fatalf("%s", text(s.o))
	}
	s = ready(t, clientAgent())
	s.do(AgentWorking{AgentID: s.agent(), Prompt: "p"})
	s.do(AgentRested{s.agent(), "p", "gates: red"})
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
	if d := s.o.Decision; d == nil || d.Source != FromSignal || !strings.Contains(d.Context, "gates: red") {
		t.Fatalf("%s", text(s.o))
	}
}
