package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// asked is a pipeline that waits for a person, by what led there.
func asked(t testing.TB, source Source) *stage {
	t.Helper()
	a := worker()
	if source == FromGate {
		a.OnIdle = runbook.Action{Kind: runbook.Gate, Run: "check"}
	}
	if source == FromLost {
		a.OnIdle = runbook.Action{Kind: runbook.Nudge, Message: "on!"}
	}
	s := atWork(t, a, "next")
	switch source {
	case FromIdle:
		s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
	case FromStop:
		s.do(AgentStop{s.agent(), ""})
	case FromSignal:
		s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{SignalEscalate, "help"}})
	case FromDead:
		s.do(AgentExited{AgentID: s.agent(), Code: 1})
	case FromError:
		s.do(AgentError{AgentID: s.agent(), Kind: runbook.OtherError, Text: "500"})
	case FromPrompt:
		s.do(AgentPrompt{AgentID: s.agent(), Type: "permission", Text: "?"})
	case FromGate:
		s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
	case FromLost:
		s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
		key := s.effect(SendAgent).Key
		s.do(EffectStarted{key})
		s.do(EffectLost{key, "the daemon died"})
	}
	if s.o.Decision == nil || s.o.Decision.Source != source {
		t.Fatalf("%s", text(s.o))
	}
	return s
}

// Ruling 2.2: answering really moves the pipeline, whatever led to the question and
// whatever is chosen.
func TestRuling22AnsweringMovesTheOwner(t *testing.T) {
	talk := map[string]string{
		"nudge": "work running agent:send", "done": "next running agent:kill shell:start", "cancel": "cancelled ended agent:kill",
		"fail": "failed ended agent:kill", "words": "work running agent:send",
	}
	with := func(changes map[string]string) map[string]string {
		want := map[string]string{
			"retry": "work running agent:kill agent:start", "skip": "next running agent:kill shell:start",
			"fail": "failed ended agent:kill", "cancel": "cancelled ended agent:kill", "words": "work running agent:send",
		}
		for option, effects := range changes {
			want[option] = effects
		}
		return want
	}
	sources := map[Source]map[string]string{
		FromIdle: talk, FromStop: talk, FromSignal: talk, FromPrompt: talk,
		FromDead:  with(map[string]string{"words": "work running agent:kill agent:start"}),
		FromError: with(nil),
		FromGate:  with(map[string]string{"retry": "work running shell:start"}),
		FromLost:  with(map[string]string{"retry": "work running agent:send"}),
	}
	for source, want := range sources {
		for option, outcome := range want {
			t.Run(string(source)+"/"+option, func(t *testing.T) {
				s := asked(t, source)
				s.carryOut()
				id := s.o.Decision.ID
				answer := Answer{Decision: id, Option: option}
				if option == "words" {
					answer = Answer{Decision: id, Message: "use postgres"}
				}
				s.do(answer)
				got := strings.Join([]string{s.o.Step, string(s.o.Status), s.effects()}, " ")
				if got != outcome {
					t.Fatalf("%s, want %s", got, outcome)
				}
				if s.o.Settled[0].ID != id || s.o.Settled[0].Resolved.IsZero() || len(s.o.Attempts) > 0 && source != FromGate {
					t.Fatalf("%s", text(s.o))
				}
				if s.o.Agent != nil && s.o.Agent.Signal != nil {
					t.Fatal("what the agent said before still counts")
				}
				s.checkWords(t, source, option)
			})
		}
		t.Run(string(source)+"/options", func(t *testing.T) {
			s := asked(t, source)
			var names []string
			for _, o := range s.o.Decision.Options {
				names = append(names, o.Name)
				if o.Recommended != (len(names) == 1) || o.Description == "" {
					t.Errorf("%+v", o)
				}
			}
			for option := range want {
				if option != "words" && !slices.Contains(names, option) {
					t.Errorf("%q is not offered: %v", option, names)
				}
			}
			if len(names) != len(want)-1 {
				t.Errorf("offered: %v", names)
			}
		})
	}
}

// checkWords checks that a person's words, or the lost ones, reach the agent.
func (s *stage) checkWords(t *testing.T, source Source, option string) {
	t.Helper()
	var said string
	for _, e := range s.last.Effects {
		switch e.Kind {
		case SendAgent:
			said = e.Text
		case StartAgent:
			said = e.Agent.Prompt
			if e.Agent.Resume == "" {
				t.Error("the conversation is lost")
			}
		}
	}
	want := ""
	switch {
	case option == "words":
		want = "use postgres"
	case option == "nudge", option == "retry" && (source == FromDead || source == FromError):
		want = defaultNudge
	case option == "retry" && source == FromLost:
		want = "on!"
	}
	if said != want {
		t.Errorf("the agent hears %q, want %q", said, want)
	}
}

func TestAnswersThatCannotBe(t *testing.T) {
	s := asked(t, FromStop)
	id := s.o.Decision.ID
	for _, test := range []struct {
		answer Answer
		code   string
		says   string
	}{
		{Answer{Decision: id, Option: "retry", Message: ""}, "invalid", "nudge, done, fail, cancel"},
		{Answer{Decision: id, Option: "7", Message: ""}, "invalid", "nudge, done, fail, cancel"},
		{Answer{Decision: id, Option: "", Message: ""}, "invalid", "or give a message"},
		{Answer{Decision: id, Option: "", Message: " \n"}, "invalid", "or give a message"},
		{Answer{Decision: "nothing", Option: "done", Message: ""}, "not_found", "nothing"},
		{Answer{Decision: id, Option: "", Message: strings.Repeat("x", maxAsked+1)}, "invalid", "at most"},
	} {
		if r := s.refused(test.answer); r.Code != test.code || !strings.Contains(r.Why, test.says) {
			t.Errorf("%.80v: %+v", test.answer, r)
		}
	}
	s.is("work", Waiting)
	s.do(Answer{Decision: id, Option: "1", Message: ""})
	if r := s.refused(Answer{Decision: id, Option: "done", Message: ""}); r.Code != "conflict" || !strings.Contains(r.Why, `answered with "nudge"`) {
		t.Errorf("%+v", r)
	}
	s.do(AgentStop{s.agent(), ""})
	id = s.o.Decision.ID
	s.do(AgentWorking{AgentID: s.agent(), Prompt: ""})
	if r := s.refused(Answer{Decision: id, Option: "done", Message: ""}); r.Code != "conflict" || !strings.Contains(r.Why, "typed into the session") {
		t.Errorf("%+v", r)
	}
}

func TestTheSameAnswerSentAgainIsOne(t *testing.T) {
	s := asked(t, FromStop)
	in := s.input(Answer{Decision: s.o.Decision.ID, Option: "nudge", Message: "go"})
	s.tell(in)
	if s.tell(in); s.effects() != "" {
		t.Fatalf("%s", s.effects())
	}
}

func TestAGateThatAPersonRetriesIsAnAttempt(t *testing.T) {
	s := asked(t, FromGate)
	s.do(Answer{Decision: s.o.Decision.ID, Option: "retry", Message: ""})
	s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
	s.is("work", Waiting)
}

func TestLostShellIsAPersonsToDecide(t *testing.T) {
	for option, want := range map[string]string{"retry": "build running", "skip": "test running", "cancel": "cancelled ended"} {
		s := start(t, shells("build", "test"))
		s.carryOut()
		old := s.o.Shell.Key
		s.do(ShellExited{Key: old, Lost: true})
		s.is("build", Waiting)
		if r := s.refused(Answer{Decision: s.o.Decision.ID, Option: "", Message: "hello"}); r.Code != "invalid" {
			t.Errorf("words to a command: %+v", r)
		}
		s.do(Answer{Decision: s.o.Decision.ID, Option: option, Message: ""})
		if got := s.o.Step + " " + string(s.o.Status); got != want {
			t.Errorf("%s: %s, want %s", option, got, want)
		}
		if s.o.Shell != nil && s.o.Shell.Key == old {
			t.Error("the same key again would not run anything")
		}
	}
}

func TestSendThatFailsIsAPersonsToDecide(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge}
	s := atWork(t, a)
	s.do(AgentIdle{AgentID: s.agent(), Prompt: ""})
	s.do(EffectFailed{Key: s.effect(SendAgent).Key, Why: "no terminal"})
	s.is("work", Waiting)
	if s.o.Decision.Source != FromLost || !strings.Contains(s.o.Decision.Context, "no terminal") {
		t.Fatalf("%+v", s.o.Decision)
	}
}
