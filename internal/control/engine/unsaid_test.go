package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// given are the words that the last step gives to the agent: typed, or as a prompt.
func (s *stage) given() string {
	var all []string
	for _, e := range s.last.Effects {
		switch e.Kind {
		case SendAgent:
			all = append(all, e.Target+": "+e.Text)
		case StartAgent:
			all = append(all, e.Agent.ID+": "+e.Agent.Prompt)
		}
	}
	return strings.Join(all, "; ")
}

// answered is a client that a person has said something to, which is under way.
func answered(t *testing.T, a runbook.Agent) (*stage, Effect) {
	t.Helper()
	s := ready(t, a)
	s.do(AgentStop{s.agent(), "p"})
	s.do(Answer{Decision: s.o.Decision.ID, Message: "use the blue one"})
	e := s.effect(SendAgent)
	s.do(EffectStarted{e.Key})
	return s, e
}

func resuming() runbook.Agent {
	a := clientAgent()
	a.OnDead = runbook.Action{Kind: runbook.Resume, Attempts: 3}
	return a
}

// A person who was told that the agent gets their words is not left out of it: what it says before
// it has them is no answer to them.
func TestWordsOfAPersonComeBeforeTheEnd(t *testing.T) {
	complete := func(s *stage) {
		s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalComplete, ""}})
		s.do(AgentRested{AgentID: s.agent(), Prompt: "p"})
	}
	for name, test := range map[string]struct {
		agent runbook.Agent
		does  func(s *stage)
	}{
		"complete":         {clientAgent(), complete},
		"idle":             {waiting(runbook.Done), func(s *stage) { s.do(AgentIdle{AgentID: s.agent(), Prompt: "p"}) }},
		"idle, and asked":  {clientAgent(), func(s *stage) { s.do(AgentIdle{AgentID: s.agent(), Prompt: "p"}) }},
		"stops once more":  {clientAgent(), func(s *stage) { s.do(AgentStop{s.agent(), "p"}) }},
		"complete, resaid": {clientAgent(), func(s *stage) { complete(s); complete(s) }},
	} {
		t.Run(name, func(t *testing.T) {
			s, e := answered(t, test.agent)
			test.does(s)
			s.is("work", Running)
			s.do(AgentWorking{AgentID: s.agent(), Prompt: "q", Ours: true})
			s.do(EffectDone{e.Key})
			s.do(AgentRested{AgentID: s.agent(), Prompt: "q"})
			s.is("work", Running)
			complete(s)
			s.is(runbook.EndDone, Ended)
		})
	}
	t.Run("they are not recognised in what it got", func(t *testing.T) {
		s, e := answered(t, clientAgent())
		complete(s)
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "q"})
		s.do(EffectDone{e.Key})
		s.is("work", Running)
		s.do(AgentRested{AgentID: s.agent(), Prompt: "q"})
		s.is(runbook.EndDone, Ended)
	})
	t.Run("they lead to no turn", func(t *testing.T) {
		s, e := answered(t, clientAgent())
		complete(s)
		s.do(EffectDone{e.Key})
		s.is(runbook.EndDone, Ended)
	})
	t.Run("they cannot be delivered", func(t *testing.T) {
		s, e := answered(t, clientAgent())
		complete(s)
		s.do(EffectFailed{Key: e.Key, Why: "a dialog is open"})
		s.is("work", Waiting)
	})
	t.Run("it ends first", func(t *testing.T) {
		s, _ := answered(t, clientAgent())
		complete(s)
		s.do(AgentExited{AgentID: s.agent()})
		if s.is("work", Waiting); s.o.Decision.Source != FromDead {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("a gate says that it is done", func(t *testing.T) {
		a := waiting(runbook.Gate)
		a.OnDead = runbook.Action{Kind: runbook.Resume, Attempts: 3}
		s, e := answered(t, a)
		s.do(AgentExited{AgentID: s.agent()})
		s.do(EffectDone{s.effect(StartAgent).Key})
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "q"})
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "q"})
		gate := s.effect(StartShell)
		s.do(EffectFailed{Key: e.Key, Why: "the agent is not running"})
		if s.o.Agent.Unsaid == nil {
			t.Fatalf("%s", text(s.o))
		}
		s.do(ShellExited{Key: gate.Key})
		s.is("work", Running)
		if s.given() != s.agent()+": use the blue one" {
			t.Fatal(s.given())
		}
	})
}

// waiting is a client of whose idleness a runbook says something.
func waiting(kind runbook.ActionKind) runbook.Agent {
	a := clientAgent()
	a.OnIdle = runbook.Action{Kind: kind, Run: "test"}
	return a
}

// Where the runbook wants no agent after this one, the person is told.
func TestWordsOfAPersonThatNobodyGets(t *testing.T) {
	for _, kind := range []runbook.ActionKind{runbook.Done, runbook.Fail} {
		a := clientAgent()
		a.OnDead = runbook.Action{Kind: kind}
		s := ready(t, a)
		s.do(AgentStop{s.agent(), "p"})
		s.do(Answer{Decision: s.o.Decision.ID, Message: "use the blue one"})
		typed := s.fork(t)
		s.do(AgentExited{AgentID: s.agent()})
		if !s.saysLost() {
			t.Errorf("%s: %s", kind, text(s.last.Effects))
		}
		e := typed.o.Effects[0]
		typed.do(EffectStarted{e.Key})
		typed.do(AgentExited{AgentID: typed.agent()})
		if typed.saysLost() {
			t.Errorf("%s: it may have arrived: %s", kind, text(typed.last.Effects))
		}
		if typed.do(EffectFailed{Key: e.Key, Why: "the agent is not running"}); !typed.saysLost() {
			t.Errorf("%s, when it was being typed: %s", kind, text(typed.last.Effects))
		}
	}
}

// saysLost reports whether the last step tells a person that their words have not arrived.
func (s *stage) saysLost() bool {
	return slices.ContainsFunc(s.last.Effects, func(e Effect) bool {
		return e.Kind == NotifyPerson && strings.HasPrefix(e.Title, "A message was not delivered") && strings.HasSuffix(e.Text, "use the blue one")
	})
}

// A person who was told that the agent gets their words need not look whether it has them.
func TestWordsOfAPersonOutliveTheAgent(t *testing.T) {
	const words = "use the blue one"
	t.Run("it dies before it has them", func(t *testing.T) {
		s, e := answered(t, resuming())
		s.do(AgentExited{AgentID: e.Target, Code: 137})
		if s.given() != s.agent()+": "+defaultNudge || s.agent() == e.Target {
			t.Fatal(s.given())
		}
		s.do(EffectFailed{Key: e.Key, Why: "the agent is not running"})
		if s.given() != s.agent()+": "+words || s.o.Agent.Unsaid != nil {
			t.Fatalf("%q\n%s", s.given(), text(s.o))
		}
		s.is("work", Running)
	})
	t.Run("and its successor too", func(t *testing.T) {
		s, e := answered(t, resuming())
		s.do(AgentExited{AgentID: e.Target, Code: 137})
		s.do(Kill{s.agent()}) // it is not started yet
		if slices.Contains([]string{e.Target, s.o.Agent.Before[1]}, s.agent()) {
			t.Fatalf("%s", text(s.o))
		}
		s.do(EffectFailed{Key: e.Key, Why: "the agent is not running"})
		if s.given() != s.agent()+": "+words {
			t.Fatalf("%q\n%s", s.given(), text(s.o))
		}
	})
	t.Run("it has them, and that is told late", func(t *testing.T) {
		s, e := answered(t, resuming())
		s.do(AgentExited{AgentID: e.Target, Code: 137})
		s.do(EffectDone{e.Key})
		if s.given() != "" || s.o.Agent.Unsaid != nil {
			t.Fatalf("%q\n%s", s.given(), text(s.o))
		}
	})
	t.Run("nobody knows whether it has them", func(t *testing.T) {
		s, e := answered(t, resuming())
		s.do(AgentExited{AgentID: e.Target, Code: 137})
		s.do(EffectLost{e.Key, "it ended before it confirmed it"})
		if tell := s.effect(NotifyPerson); !strings.Contains(tell.Text, words) || s.given() != "" {
			t.Fatalf("%+v", tell)
		}
		s, e = answered(t, resuming())
		s.do(EffectLost{e.Key, "its queue file is gone"})
		if s.is("work", Waiting); s.effects() != "notify" || s.o.Decision.Undone != words {
			t.Fatalf("%s: %s", s.effects(), text(s.o.Decision))
		}
	})
	t.Run("nobody has begun to say them", func(t *testing.T) {
		s := ready(t, resuming())
		s.do(Tell{s.agent(), words})
		s.do(AgentExited{AgentID: s.agent(), Code: 137})
		s.do(EffectStarted{s.o.Effects[0].Key})
		if s.given() != s.agent()+": "+words {
			t.Fatalf("%q\n%s", s.given(), text(s.o))
		}
	})
	t.Run("a person ends it", func(t *testing.T) {
		s, e := answered(t, resuming())
		s.do(Kill{s.agent()})
		s.do(EffectFailed{Key: e.Key, Why: "it was withdrawn"})
		s.is("work", Running) // nobody is asked: on_dead follows
		s.carryOut()
		if s.given() != "" {
			t.Fatalf("%q is said to who is being ended", s.given())
		}
		s.do(AgentExited{AgentID: e.Target, Code: 143})
		if s.given() != s.agent()+": "+words {
			t.Fatalf("%q\n%s", s.given(), text(s.o))
		}
	})
	t.Run("a runbook's words", func(t *testing.T) {
		a := resuming()
		a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: 3, Message: "hurry"}
		s := ready(t, a)
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "p"})
		e := s.effect(SendAgent)
		s.do(EffectStarted{e.Key})
		s.do(AgentExited{AgentID: e.Target, Code: 137})
		s.do(EffectFailed{Key: e.Key, Why: "the agent is not running"})
		if s.given() != "" { // it is said again when the successor is idle
			t.Fatal(s.given())
		}
	})
}

func TestWordsOfAPersonOutliveDecisions(t *testing.T) {
	const words = "use the blue one"
	t.Run("the budget", func(t *testing.T) {
		for _, started := range []bool{false, true} {
			for extra, want := range map[string]string{"": words, "hurry": "hurry"} {
				s := limited(t, runbook.Budget{USD: 1})
				s.do(AgentWorking{AgentID: s.agent()})
				s.do(Tell{s.agent(), words})
				e := s.effect(SendAgent)
				if started {
					s.do(EffectStarted{e.Key})
				}
				s.do(AgentSpent{s.agent(), 2, 100})
				if started {
					s.do(EffectFailed{Key: e.Key, Why: "it was withdrawn"})
				}
				s.carryOut()
				s.do(AgentExited{AgentID: e.Target, Code: 143})
				s.do(Answer{Decision: s.o.Decision.ID, Option: "extend", Message: extra})
				if s.given() != s.agent()+": "+want {
					t.Fatalf("%q\n%s", s.given(), text(s.o))
				}
				if extra != "" { // then the others
					s.do(EffectStarted{s.effect(StartAgent).Key})
					if s.given() != s.agent()+": "+words {
						t.Fatalf("%q\n%s", s.given(), text(s.o))
					}
				}
			}
		}
	})
	t.Run("words, and more words with the budget", func(t *testing.T) {
		s := limited(t, runbook.Budget{Time: time.Minute})
		s.do(AgentReady{s.agent()})
		s.do(AgentStop{s.agent(), ""})
		s.o.Ran = time.Hour
		s.replay.Ran = time.Hour
		s.do(Answer{Decision: s.o.Decision.ID, Message: words})
		s.do(Answer{Decision: s.o.Decision.ID, Option: "extend", Message: "hurry"})
		if s.given() != s.agent()+": "+words+"\n\nhurry" {
			t.Fatal(s.given())
		}
	})
	t.Run("a question", func(t *testing.T) {
		for name, settle := range map[string]func(s *stage){
			"answered":  func(s *stage) { s.do(Answer{Decision: s.o.Decision.ID, Option: "approve"}) },
			"withdrawn": func(s *stage) { s.do(AgentPromptOver{s.agent(), "r"}) },
		} {
			s, e := answered(t, clientAgent())
			s.do(permission(s.agent(), "r"))
			s.do(EffectFailed{Key: e.Key, Why: "something else was typed into Claude Code first"})
			if s.given() != "" {
				t.Fatal(s.given())
			}
			if settle(s); s.given() != s.agent()+": "+words {
				t.Fatalf("%s: %q\n%s", name, s.given(), text(s.o))
			}
		}
	})
	t.Run("a nudge", func(t *testing.T) {
		s, e := answered(t, clientAgent())
		s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalEscalate, "help"}})
		s.do(EffectFailed{Key: e.Key, Why: "it was cancelled"})
		s.do(Answer{Decision: s.o.Decision.ID, Option: "nudge"})
		if s.given() != s.agent()+": "+words {
			t.Fatalf("%q", s.given())
		}
	})
}

// A subagent in the background waits on, whatever its agent is told.
func TestSubagentsWaitOn(t *testing.T) {
	s := ready(t, clientAgent())
	asks := permission(s.agent(), "call-sub")
	asks.Subagent = true
	s.do(asks)
	decision := s.o.Decision.ID
	for _, what := range []Happening{
		AgentWorking{AgentID: s.agent(), Prompt: "p2"},
		AgentStop{s.agent(), "p2"},
		AgentIdle{AgentID: s.agent(), Prompt: "p2"},
	} {
		if s.do(what); s.o.Decision == nil || s.o.Decision.ID != decision || s.replied("call-sub").State != ReplyOpen {
			t.Fatalf("%T: %s", what, text(s.o))
		}
	}
	s.do(Answer{Decision: decision, Option: "approve"})
	if s.replied("call-sub").State != ReplyAnswered {
		t.Fatalf("%s", text(s.o))
	}
}

// Time passes only for those who work.
func TestTimeThatDoesNotCount(t *testing.T) {
	t.Run("while there is no room", func(t *testing.T) {
		p := work(clientAgent())
		p.Pipeline.Budget = runbook.Budget{Time: time.Hour}
		s := start(t, p)
		if len(s.o.Timers) != 0 {
			t.Fatalf("%v", s.o.Timers)
		}
		s.now = s.now.Add(5 * time.Hour)
		s.carryOut()
		if s.o.Ran > time.Second || s.o.Timers[budget].Sub(s.now) < 59*time.Minute {
			t.Fatalf("ran %s, %v", s.o.Ran, s.o.Timers)
		}
	})
	t.Run("while the agent is parked", func(t *testing.T) {
		a := clientAgent()
		a.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Resume, Attempts: 3}}}
		s := limitedBy(t, work(a), runbook.Budget{Time: time.Hour})
		s.do(AgentReady{s.agent()})
		s.do(AgentError{AgentID: s.agent(), Kind: runbook.RateLimited, Reset: s.now.Add(5 * time.Hour)})
		if _, set := s.o.Timers[budget]; set || len(s.o.Timers) != 1 {
			t.Fatalf("%v", s.o.Timers)
		}
		s.elapse(cooldown)
		s.carryOut()
		s.is("work", Running)
		if s.o.Ran > time.Minute || s.o.Timers[budget].Sub(s.now) < 59*time.Minute {
			t.Fatalf("ran %s, %v", s.o.Ran, s.o.Timers)
		}
	})
}

// What the API failed at is not forgotten over a question.
func TestErrorsWhileSomethingIsAsked(t *testing.T) {
	for name, settle := range map[string]func(s *stage){
		"answered":  func(s *stage) { s.do(Answer{Decision: s.o.Decision.ID, Option: "approve"}) },
		"withdrawn": func(s *stage) { s.do(AgentPromptOver{s.agent(), "r"}) },
		"late": func(s *stage) {
			s.late(AgentPromptOver{s.agent(), "r"})
			s.do(CaughtUp{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := clientAgent()
			a.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Resume, Attempts: 3}}}
			s := ready(t, a)
			old := s.agent()
			asks := permission(s.agent(), "r")
			asks.Subagent = true
			s.do(asks)
			s.do(AgentError{AgentID: s.agent(), Kind: runbook.RateLimited, Prompt: "p"})
			s.is("work", Waiting)
			settle(s)
			s.is("work", Running)
			if s.elapse(cooldown); s.agent() == old || s.effect(StartAgent).Agent.Resume != old {
				t.Fatalf("%s", text(s.o))
			}
		})
	}
	t.Run("it goes on by itself", func(t *testing.T) {
		s := ready(t, clientAgent())
		asks := permission(s.agent(), "r")
		asks.Subagent = true
		s.do(asks)
		s.do(AgentError{AgentID: s.agent(), Kind: runbook.RateLimited, Prompt: "p"})
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "p2"})
		s.do(Answer{Decision: s.o.Decision.ID, Option: "approve"})
		s.is("work", Running)
		if s.o.Agent.Pending != "" {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("a subagent asks", func(t *testing.T) {
		a := clientAgent()
		a.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Resume, Attempts: 3}}}
		s := ready(t, a)
		old := s.agent()
		s.do(AgentError{AgentID: s.agent(), Kind: runbook.RateLimited, Prompt: "p"})
		asks := permission(s.agent(), "r")
		asks.Subagent = true
		s.do(asks)
		if s.elapse(cooldown); s.agent() == old {
			t.Fatalf("%s", text(s.o))
		}
	})
}

// Each word that is heard is on record, also where nothing comes of it.
func TestTooMuchIsAsked(t *testing.T) {
	s := ready(t, clientAgent())
	for i := range maxAsking + 1 { // the first is asked at once
		s.do(permission(s.agent(), "r"+string(rune('a'+i))))
	}
	s.do(permission(s.agent(), "more"))
	if s.facts() != "agent:prompt_over" || s.replied("more").State != ReplyNone || len(s.o.Agent.Asking) != maxAsking {
		t.Fatalf("%s\n%s", s.facts(), text(s.o))
	}
}
