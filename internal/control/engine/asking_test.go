package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// clientAgent is a worker that is a client in a terminal.
func clientAgent() runbook.Agent {
	a := worker()
	a.ClaudeCode = true
	return a
}

// ready is a pipeline whose client has started, and rests after its first turn.
func ready(t testing.TB, a runbook.Agent, then ...string) *stage {
	t.Helper()
	s := atWork(t, a, then...)
	s.do(AgentReady{s.agent()})
	s.do(AgentWorking{AgentID: s.agent(), Prompt: "first"})
	s.do(AgentRested{AgentID: s.agent(), Prompt: "first"})
	return s
}

// replied is what the agent's hook is told.
func (s *stage) replied(ref string) Reply {
	state := NewState()
	state.Put(s.o)
	if s.o.Agent == nil {
		return Reply{State: ReplyNone}
	}
	return state.Reply(s.agent(), ref)
}

var (
	colour = Question{Question: "Which colour?", Header: "Colour", Options: []Choice{{Label: "Red", Description: "warm"}, {Label: "Blue", Description: "cold"}}}
	fruits = Question{Question: "Which fruits?", Options: []Choice{{Label: "Apple"}, {Label: "Plum, ripe"}, {Label: "Pear"}}, Multi: true}
)

func asks(agent, ref string, questions ...Question) AgentPrompt {
	return AgentPrompt{AgentID: agent, Type: typeQuestion, Ref: ref, Ask: Ask{Tool: "AskUserQuestion", Questions: questions}}
}

func plan(agent, ref string) AgentPrompt {
	return AgentPrompt{AgentID: agent, Type: typePlan, Ref: ref, Ask: Ask{Tool: "ExitPlanMode", Plan: "# Two steps\n1. a"}}
}

func permission(agent, ref string) AgentPrompt {
	return AgentPrompt{AgentID: agent, Type: typePermission, Ref: ref, Ask: Ask{Tool: "Bash", Input: "rm -r x"}}
}

func TestAnswersToQuestions(t *testing.T) {
	one, two, none := []Question{colour}, []Question{colour, fruits}, []Question(nil)
	many := []Question{fruits}
	numbers := []Question{{Question: "How many?", Options: []Choice{{Label: "3"}, {Label: "2"}, {Label: "cancel"}}}}
	for name, test := range map[string]struct {
		questions []Question
		answer    Answer
		want      Reply
	}{
		"a label":               {one, Answer{Option: "Blue"}, Reply{Option: "Blue", Answers: []string{"Blue"}}},
		"a number":              {one, Answer{Option: "2"}, Reply{Option: "Blue", Answers: []string{"Blue"}}},
		"as one of the answers": {one, Answer{Answers: []string{"red"}}, Reply{Option: "Red", Answers: []string{"Red"}}},
		"words":                 {one, Answer{Message: " a dark green\n"}, Reply{Message: "a dark green", Answers: []string{"a dark green"}}},
		"a label and words":     {one, Answer{Option: "Red", Message: "but dark"}, Reply{Option: "Red", Message: "but dark", Answers: []string{"Red: but dark"}}},
		"several labels":        {many, Answer{Option: "Apple,3"}, Reply{Option: "Apple, Pear", Answers: []string{"Apple, Pear"}}},
		"a label with a comma":  {many, Answer{Option: "plum, ripe"}, Reply{Option: "Plum, ripe", Answers: []string{"Plum, ripe"}}},
		"it among others":       {many, Answer{Option: "3,Plum, ripe,apple"}, Reply{Option: "Pear, Plum, ripe, Apple", Answers: []string{"Pear, Plum, ripe, Apple"}}},
		"one label twice":       {many, Answer{Option: "Pear, pear"}, Reply{Option: "Pear", Answers: []string{"Pear"}}},
		"one by one":            {two, Answer{Answers: []string{"1", "Apple, 3"}}, Reply{Answers: []string{"Red", "Apple, Pear"}}},
		"words one by one":      {two, Answer{Answers: []string{"none of them", ""}}, Reply{Answers: []string{"none of them", ""}}},
		"a label is a number":   {numbers, Answer{Option: "2"}, Reply{Option: "2", Answers: []string{"2"}}},
		"no questions":          {none, Answer{Message: "yes"}, Reply{Message: "yes", Answers: []string{"yes"}}},
		"a label is cancel":     {numbers, Answer{Option: "cancel"}, Reply{Option: "cancel", Answers: []string{"cancel"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready(t, clientAgent())
			s.do(asks(s.agent(), "r", test.questions...))
			s.is("work", Waiting)
			if got := s.replied("r"); got.State != ReplyOpen || s.o.Decision.Source != FromQuestion || s.o.Decision.Ref != "r" {
				t.Fatalf("%+v\n%s", got, text(s.o.Decision))
			}
			test.answer.Decision = s.o.Decision.ID
			s.carryOut()
			s.do(test.answer)
			s.is("work", Running)
			test.want.State = ReplyAnswered
			if diff := cmp.Diff(test.want, s.replied("r")); diff != "" || s.effects() != "" {
				t.Fatalf("%s: %s", s.effects(), diff)
			}
			if s.o.Settled[0].Ask != nil {
				t.Error("a settled decision needs no question")
			}
		})
	}
}

func TestAnswersToQuestionsThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		questions []Question
		answer    Answer
		says      string
	}{
		"no option":            {[]Question{colour}, Answer{Option: "Green"}, "choose one of Red, Blue, cancel, or answer in free text"},
		"a number too high":    {[]Question{colour}, Answer{Option: "4"}, "unknown option"},
		"nothing":              {[]Question{colour}, Answer{}, "or give a message"},
		"two answers to one":   {[]Question{colour}, Answer{Answers: []string{"Red", "Blue"}}, "there is one question"},
		"one answer to two":    {[]Question{colour, fruits}, Answer{Option: "1"}, "there are 2 questions"},
		"words to two":         {[]Question{colour, fruits}, Answer{Message: "yes"}, "there are 2 questions"},
		"two times nothing":    {[]Question{colour, fruits}, Answer{Answers: []string{"", " "}}, "the answers are missing"},
		"several where one is": {[]Question{colour}, Answer{Option: "Red, Blue"}, "unknown option"},
		"too much":             {[]Question{colour, fruits}, Answer{Answers: []string{strings.Repeat("x", maxAsked/2), strings.Repeat("x", maxAsked/2)}}, "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready(t, clientAgent())
			s.do(asks(s.agent(), "r", test.questions...))
			test.answer.Decision = s.o.Decision.ID
			if r := s.refused(test.answer); r.Code != "invalid" || !strings.Contains(r.Why, test.says) {
				t.Errorf("%+v", r)
			}
			s.is("work", Waiting)
		})
	}
}

func TestQuestionsCanBeCancelled(t *testing.T) {
	numbers := Question{Question: "How?", Options: []Choice{{Label: "cancel"}}}
	for name, test := range map[string]struct {
		questions []Question
		answer    Answer
	}{
		"by name":               {[]Question{colour}, Answer{Option: "cancel"}},
		"by number":             {[]Question{colour}, Answer{Option: "3"}},
		"of several":            {[]Question{colour, fruits}, Answer{Answers: []string{"cancel"}}},
		"beside a label":        {[]Question{numbers}, Answer{Option: "cancel it"}},
		"beside a label, by no": {[]Question{numbers}, Answer{Option: "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready(t, clientAgent())
			s.do(asks(s.agent(), "r", test.questions...))
			test.answer.Decision = s.o.Decision.ID
			s.do(test.answer)
			s.is(runbook.EndCancelled, Ended)
		})
	}
}

func TestPlansAndPermissions(t *testing.T) {
	for name, test := range map[string]struct {
		prompt func(agent, ref string) AgentPrompt
		answer Answer
		want   Reply
	}{
		"accept":            {plan, Answer{Option: "accept"}, Reply{Option: "accept"}},
		"revise":            {plan, Answer{Option: "revise", Message: "smaller"}, Reply{Option: "revise", Message: "smaller"}},
		"words on a plan":   {plan, Answer{Message: "smaller"}, Reply{Option: "revise", Message: "smaller"}},
		"approve":           {permission, Answer{Option: "approve"}, Reply{Option: "approve"}},
		"approve by number": {permission, Answer{Answers: []string{"1"}}, Reply{Option: "approve"}},
		"deny":              {permission, Answer{Option: "deny", Message: "no!"}, Reply{Option: "deny", Message: "no!"}},
		"words":             {permission, Answer{Message: "use the Makefile"}, Reply{Option: "deny", Message: "use the Makefile"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startRun(t, clientAgent())
			s.carryOut()
			s.do(test.prompt(s.agent(), "r"))
			s.is("work", Waiting)
			test.answer.Decision = s.o.Decision.ID
			s.do(test.answer)
			s.is("work", Running)
			test.want.State = ReplyAnswered
			if diff := cmp.Diff(test.want, s.replied("r")); diff != "" || s.effects() != "" {
				t.Fatalf("%s: %s", s.effects(), diff)
			}
		})
	}
	s := ready(t, clientAgent())
	s.do(plan(s.agent(), "r"))
	if r := s.refused(Answer{Decision: s.o.Decision.ID, Option: "accept", Message: "but"}); !strings.Contains(r.Why, "takes no message") {
		t.Errorf("%+v", r)
	}
	if r := s.refused(Resume{}); r.Code != "conflict" || !strings.Contains(r.Why, s.o.Decision.ID) {
		t.Errorf("nobody accepts a plan by resuming: %+v", r)
	}
}

func TestWhatIsAskedIsSaidInOneSentence(t *testing.T) {
	for want, what := range map[string]AgentPrompt{
		"The agent asks: Which colour?":                                    asks("", "r", colour),
		"The agent asks 2 questions: Which colour? / Which fruits?":        asks("", "r", colour, fruits),
		"The agent asks you to approve its plan: # Two steps":              plan("", "r"),
		"The agent asks for permission to use Bash: rm -r x":               permission("", "r"),
		"The agent waits for an answer (permission): Claude needs your ok": {Type: "permission", Text: "Claude needs your ok"},
	} {
		s := ready(t, clientAgent())
		what.AgentID = s.agent()
		s.do(what)
		if e := s.effect(NotifyPerson); e.Text != want || e.Decision != s.o.Decision.ID {
			t.Errorf("%+v, want %q", e, want)
		}
	}
}

// Tools that are used at once ask at once: one thing is asked at a time, and nothing is
// lost.
func TestTwoThingsAsked(t *testing.T) {
	s := ready(t, clientAgent())
	s.do(asks(s.agent(), "r1", colour))
	first := s.o.Decision.ID
	s.do(permission(s.agent(), "r2"))
	s.do(permission(s.agent(), "r2"))
	s.do(permission(s.agent(), "r3"))
	if s.o.Decision.ID != first || s.effects() != "" || len(s.o.Agent.Asking) != 2 || s.replied("r2").State != ReplyOpen {
		t.Fatalf("%s", text(s.o))
	}
	s.do(Answer{Decision: first, Option: "Red"})
	s.is("work", Waiting)
	if s.o.Decision.Ref != "r2" || s.o.Decision.Source != FromApproval || s.effects() != "notify" || s.replied("r1").State != ReplyAnswered {
		t.Fatalf("%s", text(s.o))
	}
	s.do(AgentPromptOver{s.agent(), "r3"})
	if s.o.Decision.Ref != "r2" || s.replied("r3").State != ReplyNone {
		t.Fatalf("%s", text(s.o))
	}
	s.do(Answer{Decision: s.o.Decision.ID, Option: "deny"})
	s.is("work", Running)
	if len(s.o.Agent.Asking) != 0 {
		t.Fatalf("%s", text(s.o))
	}
}

// What an agent asks while something else is open is asked after it.
func TestAskedWhileSomethingElseIsOpen(t *testing.T) {
	s := ready(t, clientAgent())
	s.do(AgentStop{s.agent(), ""})
	s.do(permission(s.agent(), "r"))
	if s.o.Decision.Source != FromStop {
		t.Fatalf("%s", text(s.o))
	}
	s.do(Answer{Decision: s.o.Decision.ID, Option: "nudge"})
	if s.o.Decision == nil || s.o.Decision.Ref != "r" {
		t.Fatalf("%s", text(s.o))
	}
}

func TestPromptOver(t *testing.T) {
	t.Run("closes the decision", func(t *testing.T) {
		s := startRun(t, clientAgent())
		s.carryOut()
		s.do(permission(s.agent(), "r"))
		id := s.o.Decision.ID
		s.do(AgentPromptOver{s.agent(), "r"})
		s.is("work", Running)
		if closed := s.o.Settled[0].Closed; closed != "answered or withdrawn in Claude Code" || s.replied("r").State != ReplyNone || !s.replied("r").Over {
			t.Fatalf("%q, %+v", closed, s.replied("r"))
		}
		if r := s.refused(Answer{Decision: id, Option: "approve"}); r.Code != "conflict" || !strings.Contains(r.Why, "withdrawn") {
			t.Errorf("%+v", r)
		}
		if len(s.o.Effects) != 0 {
			t.Errorf("people are told of what is over: %s", text(s.o.Effects))
		}
	})
	t.Run("read before what is over", func(t *testing.T) {
		s := ready(t, clientAgent())
		s.do(AgentPromptOver{s.agent(), "r"})
		s.do(permission(s.agent(), "r"))
		s.is("work", Running)
	})
	t.Run("of what was answered", func(t *testing.T) {
		s := ready(t, clientAgent())
		s.do(permission(s.agent(), "r"))
		s.do(Answer{Decision: s.o.Decision.ID, Option: "approve"})
		if s.do(AgentPromptOver{s.agent(), "r"}); s.facts() != "" || s.replied("r").Option != "approve" {
			t.Fatalf("%s", s.facts())
		}
	})
	t.Run("of another", func(t *testing.T) {
		s := ready(t, clientAgent())
		s.do(permission(s.agent(), "r"))
		s.do(AgentPromptOver{s.agent(), "other"})
		s.is("work", Waiting)
	})
}

// What was asked while the daemon was away is asked after the catch-up: the hook waits.
func TestAskedLate(t *testing.T) {
	s := ready(t, clientAgent())
	s.late(asks(s.agent(), "r1", colour))
	s.late(permission(s.agent(), "r2"))
	s.late(AgentPromptOver{s.agent(), "r1"})
	s.is("work", Running)
	if s.replied("r2").State != ReplyOpen || s.replied("r1").State != ReplyNone {
		t.Fatalf("%s", text(s.o))
	}
	s.do(CaughtUp{})
	s.is("work", Waiting)
	if s.o.Decision.Ref != "r2" || s.effects() != "notify" || s.o.Decision.Context != "The agent asks for permission to use Bash: rm -r x" {
		t.Fatalf("%s", text(s.o))
	}
}

// An agent that asks is not parked, and not silent.
func TestAskedWhileParked(t *testing.T) {
	a := clientAgent()
	a.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Resume}}}
	s := ready(t, a)
	s.do(AgentError{AgentID: s.agent(), Kind: runbook.RateLimited})
	s.do(permission(s.agent(), "r"))
	s.is("work", Waiting)
	if len(s.o.Timers) != 0 {
		t.Fatalf("%s", text(s.o))
	}
}

// The client's notification comes after the request, also when that is over.
func TestNotificationOfARequestWithAHook(t *testing.T) {
	told := func(s *stage) { s.do(AgentPrompt{AgentID: s.agent(), Type: typePermission, Notice: true}) }
	s := ready(t, clientAgent())
	s.do(permission(s.agent(), "r"))
	told(s)
	if s.o.Decision.Ref != "r" || s.effects() != "" {
		t.Fatalf("%s", text(s.o))
	}
	s.do(Answer{Decision: s.o.Decision.ID, Option: "deny"})
	told(s)
	s.is("work", Running)
	s.now = s.now.Add(time.Minute)
	told(s)
	s.is("work", Waiting)
	if got := s.o.Decision.names(); got != "done, fail, cancel" || !strings.Contains(s.o.Decision.Context, "stopgate agent attach "+s.agent()) {
		t.Fatalf("%s: %s", got, s.o.Decision.Context)
	}
	for _, what := range []Happening{Answer{Decision: s.o.Decision.ID, Message: "yes"}, Tell{s.agent(), "yes"}, Resume{}} {
		s.refused(what) // words would not reach the dialog
	}
	s.do(Answer{Decision: s.o.Decision.ID, Option: "done"})
	s.is(runbook.EndDone, Ended)
}

// What is on the screen is told at once where it is not that notification: a dialog of
// another kind, or one whose hook can wait no longer.
func TestDialogAfterARequestWithAHook(t *testing.T) {
	for _, kind := range []string{"other", typePermission} {
		s := ready(t, clientAgent())
		s.do(permission(s.agent(), "r"))
		s.do(AgentPromptOver{AgentID: s.agent(), Ref: "r"})
		s.is("work", Running)
		s.do(AgentPrompt{AgentID: s.agent(), Type: kind})
		s.is("work", Waiting)
		if s.o.Decision.Source != FromPrompt || !strings.Contains(s.o.Decision.Context, "stopgate agent attach") {
			t.Errorf("%s: %s", kind, text(s.o))
		}
	}
}

// A dialog that no hook waits for, as when too much is asked at once, is told of after
// everything that can be answered: the client shows them one after the other.
func TestDialogWhileSomethingIsAsked(t *testing.T) {
	dialog := func(t *testing.T) *stage {
		s := ready(t, clientAgent())
		s.do(permission(s.agent(), "r1"))
		s.do(permission(s.agent(), "r2"))
		s.do(AgentPrompt{AgentID: s.agent(), Type: typePermission})
		s.do(AgentPrompt{AgentID: s.agent(), Type: typePermission, Notice: true})
		if s.o.Decision.Ref != "r1" || s.effects() != "" {
			t.Fatalf("%s", text(s.o))
		}
		s.do(Answer{Decision: s.o.Decision.ID, Option: "approve"})
		if s.o.Decision == nil || s.o.Decision.Ref != "r2" {
			t.Fatalf("%s", text(s.o))
		}
		return s
	}
	over := func(s *stage) { s.do(AgentPromptOver{AgentID: s.agent(), Ref: "r2"}) }
	t.Run("told", func(t *testing.T) {
		s := dialog(t)
		over(s)
		s.is("work", Waiting)
		if d := s.o.Decision; d.Source != FromPrompt || d.Ref != "" || !strings.Contains(d.Context, "(permission)") || !strings.Contains(s.effects(), "notify") {
			t.Fatalf("%s", text(s.o))
		}
		if s.o.Agent.Dialog != nil {
			t.Error("it would be told of twice")
		}
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "p"})
		s.is("work", Running)
	})
	t.Run("seen", func(t *testing.T) {
		s := dialog(t)
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "p"})
		over(s)
		s.is("work", Running)
	})
	t.Run("a notice alone is none", func(t *testing.T) {
		s := ready(t, clientAgent())
		s.do(permission(s.agent(), "r"))
		s.do(AgentPrompt{AgentID: s.agent(), Type: typePermission, Notice: true})
		s.do(Answer{Decision: s.o.Decision.ID, Option: "approve"})
		s.is("work", Running)
	})
}

func TestAskedAgentsThatEnd(t *testing.T) {
	for name, what := range map[string]func(agent string) Happening{
		"question": func(a string) Happening { return asks(a, "r", colour) },
		"dialog":   func(a string) Happening { return AgentPrompt{AgentID: a, Type: typePermission} },
	} {
		t.Run(name, func(t *testing.T) {
			a := clientAgent()
			a.OnDead = runbook.Action{Kind: runbook.Resume}
			s := ready(t, a)
			s.do(what(s.agent()))
			s.do(permission(s.agent(), "r2"))
			s.is("work", Waiting)
			old := s.agent()
			s.do(AgentExited{AgentID: old, Code: 1})
			s.is("work", Running)
			if s.agent() == old || len(s.o.Agent.Asking) != 0 || s.o.Settled[0].Closed != "the agent has ended" {
				t.Fatalf("%s", text(s.o))
			}
		})
	}
	s := ready(t, clientAgent())
	s.do(asks(s.agent(), "r1", colour))
	s.do(permission(s.agent(), "r2"))
	s.do(AgentExited{AgentID: s.agent()})
	if s.o.Decision.Source != FromDead || s.replied("r2").State != ReplyNone {
		t.Fatalf("%s", text(s.o))
	}
}

func TestOnPromptIsForWhatIsAskedToo(t *testing.T) {
	t.Run("done", func(t *testing.T) {
		a := clientAgent()
		a.OnPrompt = runbook.Action{Kind: runbook.Done}
		s := ready(t, a, "next")
		s.do(permission(s.agent(), "r"))
		s.is("next", Running)
	})
	a := clientAgent()
	a.OnPrompt = runbook.Action{Kind: runbook.Gate, Run: "check"}
	t.Run("a gate that says no", func(t *testing.T) {
		s := ready(t, a)
		s.do(permission(s.agent(), "r"))
		if s.o.Shell == nil || s.replied("r").State != ReplyOpen {
			t.Fatalf("%s", text(s.o))
		}
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1, Tail: "no way"})
		if d := s.o.Decision; d == nil || d.Ref != "r" || d.Source != FromApproval || !strings.HasPrefix(d.Context, "The agent asks for permission to use Bash: rm -r x\n") || !strings.Contains(d.Context, "no way") {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("a gate whose request is over", func(t *testing.T) {
		s := ready(t, a)
		s.do(permission(s.agent(), "r"))
		s.do(AgentPromptOver{s.agent(), "r"})
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		s.is("work", Running)
	})
	t.Run("a gate of its idleness", func(t *testing.T) {
		b := clientAgent()
		b.OnIdle = a.OnPrompt
		s := ready(t, b)
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "p"})
		s.do(permission(s.agent(), "r"))
		s.is("work", Running)
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		if d := s.o.Decision; d == nil || d.Ref != "r" || strings.Contains(d.Context, "gate") {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("a request over in its cooldown", func(t *testing.T) {
		b := a
		b.OnPrompt.Attempts, b.OnPrompt.Cooldown = 5, time.Hour
		s := ready(t, b)
		s.do(permission(s.agent(), "r1"))
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		if s.o.Timers[cooldown].IsZero() {
			t.Fatalf("%s", text(s.o))
		}
		s.do(AgentPromptOver{s.agent(), "r1"})
		if len(s.o.Timers) != 0 || s.o.Agent.Pending != "" {
			t.Fatalf("%s", text(s.o))
		}
	})
}

// Whatever is asked can be kept, and comes to a step that can be.
func TestWhatIsAskedIsClipped(t *testing.T) {
	long := strings.Repeat("\"<\x01é", 50_000)
	var many []Question
	for range 50 {
		q := Question{Question: long, Header: long}
		for range 50 {
			q.Options = append(q.Options, Choice{Label: long, Description: long})
		}
		many = append(many, q)
	}
	for name, prompt := range map[string]AgentPrompt{
		"questions":  {Type: typeQuestion, Text: long, Ref: long, Ask: Ask{Tool: long, Plan: long, Input: long, Questions: many}},
		"plan":       {Type: typePlan, Ref: "r", Ask: Ask{Plan: long}},
		"permission": {Type: typePermission, Ref: "r", Ask: Ask{Tool: long, Input: long}},
		"other":      {Type: long, Text: long, Ref: "r"},
		"no hook":    {Type: long, Text: long},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready(t, clientAgent())
			prompt.AgentID = s.agent()
			s.do(prompt)
			s.is("work", Waiting)
			if d := s.o.Decision; d.Ask != nil && (sizeOf(d.Ask) > maxAskSize+2*maxPlan || len(d.Ask.Questions) > maxParts) {
				t.Errorf("%d bytes", sizeOf(d.Ask))
			}
		})
	}
	s := ready(t, clientAgent())
	for i := range 100 {
		s.do(permission(s.agent(), fmt.Sprint("r", i)))
	}
	if n := len(s.o.Agent.Asking); n != maxAsking {
		t.Errorf("%d are kept", n)
	}
	if got := s.replied("r99").State; got != ReplyNone {
		t.Errorf("what is not kept is %s: the client has to ask itself", got)
	}
	small := Ask{Tool: "t", Questions: []Question{colour, fruits}}
	if diff := cmp.Diff(small, clipAsk(small)); diff != "" {
		t.Errorf("what fits is clipped: %s", diff)
	}
}

func TestClientsThatDoNotStart(t *testing.T) {
	s := atWork(t, clientAgent())
	s.do(AgentBlocked{s.agent(), "login", "Select login method:"})
	s.is("work", Waiting)
	if d := s.o.Decision; d.Source != FromStart || d.names() != "retry, cancel" || !strings.HasPrefix(d.Context, "Claude Code is not logged in\n") || !strings.Contains(d.Context, "attach "+s.agent()) {
		t.Fatalf("%s", text(d))
	}
	if s.do(AgentBlocked{s.agent(), "trust", ""}); s.facts() != "" {
		t.Fatalf("again: %s", s.facts())
	}
	t.Run("a person sees to it", func(t *testing.T) {
		for _, first := range []Happening{AgentReady{s.agent()}, AgentWorking{AgentID: s.agent()}} {
			s := s.fork(t)
			s.do(first)
			s.is("work", Running)
			if s.o.Settled[0].Closed != "Claude Code has started" || !s.o.Agent.Ready {
				t.Fatalf("%s", text(s.o))
			}
			if s.do(AgentBlocked{s.agent(), "login", ""}); s.facts() != "" {
				t.Fatalf("it has started: %s", s.facts())
			}
		}
	})
	t.Run("retry starts it as before", func(t *testing.T) {
		s := s.fork(t)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "retry"})
		if start := s.effect(StartAgent).Agent; start.Prompt != "do 1" || start.Resume != "" || start.ID != s.agent() || !start.ClaudeCode {
			t.Fatalf("%+v", start)
		}
	})
	t.Run("words alone do not reach it", func(t *testing.T) {
		s := s.fork(t)
		s.refused(Answer{Decision: s.o.Decision.ID, Message: "log in!"})
		s.refused(Tell{s.agent(), "log in!"})
	})
	t.Run("it ends", func(t *testing.T) {
		s := s.fork(t)
		s.do(AgentExited{AgentID: s.agent(), Code: 1, Tail: "Welcome\nError: no login\n"})
		if d := s.o.Decision; d.Source != FromDead || d.Context != "Claude Code ended before it had started: Error: no login" {
			t.Fatalf("%s", text(d))
		}
		s.do(Answer{Decision: s.o.Decision.ID, Message: "now"})
		if start := s.effect(StartAgent).Agent; start.Prompt != "do 1\n\nnow" || start.Resume != "" {
			t.Fatalf("there is no session to go on with: %+v", start)
		}
	})
	t.Run("plain processes have no screen", func(t *testing.T) {
		s := atWork(t, worker())
		if s.do(AgentBlocked{s.agent(), "trust", ""}); s.facts() != "" {
			t.Fatalf("%s", s.facts())
		}
	})
}

// A client that did not start in an old session is started in it again.
func TestClientThatDoesNotStartInItsSession(t *testing.T) {
	a := clientAgent()
	a.OnDead = runbook.Action{Kind: runbook.Resume, Attempts: 2}
	s := ready(t, a)
	session := s.agent()
	s.do(AgentExited{AgentID: s.agent()})
	if start := s.effect(StartAgent).Agent; start.Resume != session || start.Prompt != defaultNudge {
		t.Fatalf("%+v", start)
	}
	s.do(AgentExited{AgentID: s.agent()})
	if start := s.effect(StartAgent).Agent; start.Resume != session || start.Prompt != defaultNudge {
		t.Fatalf("%+v", start)
	}
}

// A prompt that is given again names the agent that gets it.
func TestAPromptThatNamesTheAgent(t *testing.T) {
	a := clientAgent()
	a.Prompt = "You are ${agent_id}."
	a.OnDead = runbook.Action{Kind: runbook.Resume}
	s := start(t, work(a))
	s.carryOut()
	first := s.agent()
	s.do(AgentExited{AgentID: first})
	if got := s.effect(StartAgent).Agent; got.Prompt != "You are "+s.agent()+"." || s.agent() == first {
		t.Fatalf("%+v", got)
	}
}

func TestAMessageThatNamesTheAgent(t *testing.T) {
	a := clientAgent()
	a.OnDead = runbook.Action{Kind: runbook.Resume, Message: "You are ${agent_id}.", Append: true}
	s := ready(t, a)
	s.do(AgentExited{AgentID: s.agent()})
	if got := s.effect(StartAgent).Agent; got.Prompt != "You are "+s.agent()+"." {
		t.Fatalf("%+v", got)
	}
}

// What a person says is said as it is.
func TestAPersonWhoNamesTheAgent(t *testing.T) {
	s := ready(t, clientAgent())
	words := "look into " + s.agent() + ".jsonl"
	s.do(AgentExited{AgentID: s.agent()})
	s.tell(s.input(Tell{s.agent(), words}))
	if got := s.effect(StartAgent).Agent; got.Prompt != words {
		t.Fatalf("%+v", got)
	}
}

func TestHowClientsAreStarted(t *testing.T) {
	a := clientAgent()
	a.Run = `claude --model x "${prompt}"`
	s := start(t, work(a))
	got := s.effect(StartAgent).Agent
	if !got.ClaudeCode || !got.Bare || got.Run != `claude --model x "do 1"` {
		t.Fatalf("%+v", got)
	}
	s = start(t, work(worker()))
	if got := s.effect(StartAgent).Agent; got.ClaudeCode || got.Bare {
		t.Fatalf("%+v", got)
	}
}

// A prompt that the client does not take, such as a command that it does not know, is a person's
// matter.
func TestClientThatDoesNotBegin(t *testing.T) {
	blocked := func(t *testing.T) *stage {
		s := atWork(t, clientAgent())
		s.do(AgentBlocked{s.agent(), ScreenUnbegun, ""}) // it cannot be, yet
		s.do(AgentReady{s.agent()})
		s.do(AgentBlocked{s.agent(), "trust", ""}) // nor this, now
		s.is("work", Running)
		s.do(AgentBlocked{s.agent(), ScreenUnbegun, "Unknown command: /nosuch"})
		if d := s.o.Decision; d == nil || d.Source != FromStart || !strings.Contains(d.Context, "/nosuch") {
			t.Fatalf("%s", text(s.o))
		}
		return s
	}
	t.Run("a person types something else", func(t *testing.T) {
		s := blocked(t)
		s.do(AgentReady{s.agent()})
		s.is("work", Waiting)
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "p"})
		s.is("work", Running)
		if s.o.Agent.Unbegun() {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("try again", func(t *testing.T) {
		s := blocked(t)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "retry"})
		if start := s.effect(StartAgent).Agent; start.Prompt != "do 1" || start.Resume != "" {
			t.Fatalf("%+v", start)
		}
	})
	t.Run("with other words", func(t *testing.T) {
		s := blocked(t)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "retry", Message: "/such"})
		if start := s.effect(StartAgent).Agent; start.Prompt != "/such" || start.Resume != "" {
			t.Fatalf("%+v", start)
		}
	})
	s := ready(t, clientAgent())
	s.do(AgentBlocked{s.agent(), ScreenUnbegun, ""})
	s.is("work", Running)
}

// Nobody waits for the answer to what an agent asks that is being ended.
func TestAnswerToAnAgentThatIsBeingEnded(t *testing.T) {
	s := ready(t, clientAgent())
	s.do(AgentPrompt{AgentID: s.agent(), Type: "permission", Text: "Bash", Ref: "r"})
	decision := s.o.Decision.ID
	s.do(Kill{s.agent()})
	var refusal *Refusal
	if _, err := s.try(s.input(Answer{Decision: decision, Option: "approve"})); !errors.As(err, &refusal) || refusal.Code != "conflict" {
		t.Fatalf("%v", err)
	}
	s.do(Answer{Decision: decision, Option: "cancel"})
	s.is(runbook.EndCancelled, Ended)
}

// One that ends between its start and its first turn has lost its prompt, not what is added to it.
func TestClientThatEndsBeforeItBegins(t *testing.T) {
	a := clientAgent()
	a.OnDead = runbook.Action{Kind: runbook.Resume, Message: "You died.", Append: true}
	s := atWork(t, a)
	s.do(AgentReady{s.agent()})
	s.do(AgentExited{AgentID: s.agent(), Code: 1})
	if start := s.effect(StartAgent).Agent; start.Prompt != "do 1\n\nYou died." || start.Resume != "" {
		t.Fatalf("%+v", start)
	}
}

func TestTheEndOfAnAgentSaysWhy(t *testing.T) {
	s := ready(t, clientAgent())
	s.do(AgentExited{AgentID: s.agent(), Code: 2, Tail: "a\n\n  API key is wrong \n"})
	if got := s.o.Decision.Context; got != "The agent exited with status 2: API key is wrong" {
		t.Fatalf("%q", got)
	}
}

func TestTell(t *testing.T) {
	t.Run("running", func(t *testing.T) {
		s := ready(t, clientAgent())
		in := s.input(Tell{s.agent(), "  look\n"})
		s.tell(in)
		if s.effect(SendAgent).Text != "look" {
			t.Fatalf("%+v", s.last)
		}
		if s.tell(in); s.effects() != "" {
			t.Fatal("it was said twice")
		}
	})
	t.Run("waiting", func(t *testing.T) {
		s := asked(t, FromStop)
		s.do(Tell{s.agent(), "look"})
		s.is("work", Running)
		if s.effect(SendAgent).Text != "look" || s.o.Settled[0].Message != "look" {
			t.Fatalf("%+v", s.last)
		}
	})
	t.Run("in a question", func(t *testing.T) {
		s := ready(t, clientAgent())
		s.do(asks(s.agent(), "r", colour))
		if r := s.refused(Tell{s.agent(), "red"}); r.Code != "conflict" || !strings.Contains(r.Why, s.o.Decision.ID) {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("its successor", func(t *testing.T) {
		a := clientAgent()
		a.OnDead = runbook.Action{Kind: runbook.Resume, Attempts: 1}
		s := ready(t, a)
		old := s.agent()
		s.do(AgentExited{AgentID: old})
		for _, what := range []Happening{Tell{old, "hello"}, Kill{old}} {
			if r := s.refused(what); r.Code != "conflict" || s.agent() == old {
				t.Fatalf("%+v", r)
			}
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		s := start(t, shells("build"))
		if r := s.refused(Tell{s.agent(), "hello"}); r.Code != "conflict" {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("nothing, or too much", func(t *testing.T) {
		s := ready(t, clientAgent())
		for _, words := range []string{"", " \n", strings.Repeat("x", maxAsked)} {
			if r := s.refused(Tell{s.agent(), words}); r.Code != "invalid" {
				t.Fatalf("%+v", r)
			}
		}
	})
	t.Run("an agent that has exited", func(t *testing.T) {
		s := asked(t, FromDead)
		s.do(Tell{s.agent(), "look"})
		if s.effect(StartAgent).Agent.Prompt != "look" {
			t.Fatalf("%+v", s.last)
		}
	})
}

func TestKillNow(t *testing.T) {
	a := clientAgent()
	a.OnDead = runbook.Action{Kind: runbook.Resume}
	t.Run("running", func(t *testing.T) {
		s := ready(t, a)
		s.do(Kill{s.agent()})
		if s.effect(KillAgent).Target != s.agent() {
			t.Fatalf("%+v", s.last)
		}
		if s.do(Kill{s.agent()}); s.effects() != "" {
			t.Fatalf("again: %s", s.effects())
		}
		s.do(AgentExited{AgentID: s.agent(), Code: -1})
		if s.effects() != "agent:kill agent:start" {
			t.Fatalf("on_dead: %s", s.effects())
		}
	})
	t.Run("about to start", func(t *testing.T) {
		s := start(t, work(a))
		first := s.agent()
		s.do(Kill{s.agent()})
		if _, open := s.o.Effect(s.id + "-2"); open || s.agent() == first {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("nothing to kill", func(t *testing.T) {
		s := asked(t, FromDead)
		if r := s.refused(Kill{s.agent()}); r.Code != "conflict" {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("while a person is asked", func(t *testing.T) {
		s := asked(t, FromStop)
		s.do(Kill{s.agent()})
		s.do(AgentExited{AgentID: s.agent(), Code: -1})
		s.is("work", Waiting)
	})
}

func TestPromptsThatArePersonsOnly(t *testing.T) {
	for name, w := range map[string]AgentWorking{"task": {Source: sourceTask}, "ours": {Ours: true}} {
		s := asked(t, FromStop)
		w.AgentID = s.agent()
		if s.do(w); s.o.Decision == nil {
			t.Errorf("%s: nobody typed, and the decision is closed", name)
		}
	}
}

// What nobody was told of yet is not told when it is over.
func TestSettledDecisionsAreNotTold(t *testing.T) {
	s := asked(t, FromStop)
	if len(s.o.Effects) != 1 {
		t.Fatalf("%s", text(s.o.Effects))
	}
	s.do(Answer{Decision: s.o.Decision.ID, Option: "done"})
	for _, e := range s.o.Effects {
		if e.Decision != "" {
			t.Errorf("%+v", e)
		}
	}
}

func TestErrorsPark(t *testing.T) {
	a := worker()
	a.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Resume, Attempts: runbook.Forever}}}
	a.OnIdle = runbook.Action{Kind: runbook.Nudge}
	fail := func(s *stage, reset time.Duration, prompt string) {
		e := AgentError{AgentID: s.agent(), Kind: runbook.RateLimited, Text: "429", Prompt: prompt}
		if reset != 0 {
			e.Reset = s.now.Add(time.Second + reset)
		}
		s.do(e)
	}
	t.Run("idle and stop count nothing", func(t *testing.T) {
		s := atWork(t, a)
		fail(s, 0, "p")
		s.do(AgentIdle{AgentID: s.agent(), Prompt: "p"})
		s.do(AgentStop{s.agent(), "p"})
		s.is("work", Running)
		if s.effects() != "" || len(s.o.Attempts) != 0 || s.o.Agent.Pending != "error:rate_limited" {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("each pause is longer", func(t *testing.T) {
		s := atWork(t, a)
		for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			fail(s, 0, "")
			if got := s.o.Timers[cooldown].Sub(s.now); got != want*time.Minute {
				t.Fatalf("pause %d: %s", i, got)
			}
			s.elapse(cooldown)
			s.effect(StartAgent)
			s.carryOut()
		}
	})
	for name, test := range map[string]struct{ reset, want time.Duration }{
		"until its reset":  {3 * time.Hour, 3 * time.Hour},
		"not before":       {time.Second, time.Minute},
		"never so long":    {9 * 24 * time.Hour, time.Minute},
		"a reset long ago": {-time.Hour, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := atWork(t, a)
			fail(s, test.reset, "")
			if got := s.o.Timers[cooldown].Sub(s.now); got != test.want {
				t.Fatalf("%s", got)
			}
		})
	}
	t.Run("found late", func(t *testing.T) {
		s := atWork(t, a)
		reset := s.now.Add(time.Hour)
		s.late(AgentError{AgentID: s.agent(), Kind: runbook.RateLimited, Reset: reset})
		s.do(CaughtUp{})
		if due := s.o.Timers[cooldown]; !due.Equal(reset) {
			t.Fatalf("due %s", due)
		}
	})
	t.Run("it goes on by itself", func(t *testing.T) {
		s := atWork(t, a)
		fail(s, time.Hour, "")
		s.do(AgentWorking{AgentID: s.agent(), Prompt: "p2"})
		if len(s.o.Timers) != 0 || s.o.Agent.Pending != "" || !s.o.Agent.Until.IsZero() {
			t.Fatalf("%s", text(s.o))
		}
	})
	t.Run("one error counts once", func(t *testing.T) {
		b := a
		b.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Gate, Run: "check"}}}
		s := atWork(t, b)
		fail(s, 0, "p")
		due := s.o.Timers[cooldown]
		fail(s, 0, "p")
		if !s.o.Timers[cooldown].Equal(due) {
			t.Fatalf("%s", text(s.o))
		}
		s.elapse(cooldown)
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1})
		s.is("work", Waiting)
	})
	t.Run("a person is told until when", func(t *testing.T) {
		s := atWork(t, worker())
		fail(s, time.Hour, "")
		if want := "The model's API failed (rate_limited) until " + s.now.Add(time.Hour).Format(time.RFC3339) + ": 429"; s.o.Decision.Context != want {
			t.Fatalf("%q", s.o.Decision.Context)
		}
	})
}
