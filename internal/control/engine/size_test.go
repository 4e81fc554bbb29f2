package engine

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// large is a plan whose agent has such a prompt.
func large(prompt string) runbook.Plan {
	a := worker()
	a.Prompt = prompt
	return work(a)
}

// What does not fit into an event is refused when it is asked for, not tried for ever.
func TestStartsThatDoNotFit(t *testing.T) {
	two := large(strings.Repeat("x", 95<<10))
	second := two.Agents["worker"]
	second.Name = "second"
	two.Agents["second"] = second
	tests := map[string]struct {
		plan runbook.Plan
		vars string
		fits bool
	}{
		"small":                     {large("x"), "", true},
		"a prompt of markup":        {large(strings.Repeat("<&>", 30<<10)), "", true}, // as JSON for web pages it has six times as much
		"two large prompts":         {two, "", false},
		"large variables":           {large("x"), strings.Repeat("x", 300<<10), false},
		"variables and a prompt":    {large("${var.x}"), strings.Repeat("x", 140<<10), false},
		"many quotes in a variable": {large("x"), strings.Repeat("\x01", 50<<10), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, testOwner)
			create := Create{Owner: s.id, Kind: Pipeline, Name: "p", Plan: test.plan, Vars: map[string]string{"x": test.vars}}
			if test.fits {
				s.do(create)
				return
			}
			if r := s.refused(create); r.Code != "invalid" || !strings.Contains(r.Why, "bytes; at most ") && !strings.Contains(r.Why, "at most 262144") {
				t.Fatalf("%+v", r)
			}
		})
	}
}

// What a person says is measured as it is stored.
func TestWordsThatDoNotFit(t *testing.T) {
	for name, test := range map[string]struct {
		message string
		fits    bool
	}{
		"markup":      {strings.Repeat("<&>", 20<<10), true},
		"long":        {strings.Repeat("x", maxAsked), false},
		"controls":    {strings.Repeat("\x01", 20<<10), false},
		"just enough": {strings.Repeat("x", maxAsked-2), true},
	} {
		for _, exited := range []bool{false, true} {
			a := worker()
			a.Run = `claude "${prompt}"`
			s := atWork(t, a)
			if exited {
				s.do(AgentExited{AgentID: s.agent()})
			} else {
				s.do(AgentStop{s.agent(), ""})
			}
			answer := Answer{Decision: s.o.Decision.ID, Option: "", Message: test.message}
			if test.fits {
				s.do(answer)
				s.is("work", Running)
				continue
			}
			if r := s.refused(answer); r.Code != "invalid" {
				t.Fatalf("%s: %+v", name, r)
			}
		}
	}
}

// A person whose words make the agent's command too large is told so; the step does not
// fail.
func TestWordsThatMakeACommandTooLarge(t *testing.T) {
	a := worker()
	a.Run = `claude "${prompt}" "${prompt}" "${prompt}"`
	s := atWork(t, a)
	s.do(AgentExited{AgentID: s.agent()})
	if r := s.refused(Answer{Decision: s.o.Decision.ID, Option: "", Message: strings.Repeat("x", 60<<10)}); r.Code != "invalid" || !strings.Contains(r.Why, "the agent's command") {
		t.Fatalf("%+v", r)
	}
	s.is("work", Waiting)
	s.do(Answer{Decision: s.o.Decision.ID, Option: "", Message: "go on"})
	s.is("work", Running)
}

// A message that a runbook makes too large fails the step.
func TestMessageThatDoesNotFit(t *testing.T) {
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Message: strings.Repeat("${var.x}", 10)}
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Plan: work(a), Vars: map[string]string{"x": strings.Repeat("x", 20<<10)}})
	s.carryOut()
	s.do(AgentIdle{AgentID: s.agent(), Prompt: "p1"})
	s.is(runbook.EndFailed, Ended)
	if !strings.Contains(s.o.Error, "the message has") {
		t.Errorf("%q", s.o.Error)
	}
}

// Whatever happens by itself comes to something that can be recorded.
func TestWhatHappensDoesNotFit(t *testing.T) {
	s := atWork(t, worker())
	s.do(AgentStop{s.agent(), ""})
	s.do(Answer{Decision: s.o.Decision.ID, Option: "nudge", Message: ""})
	key := s.effect(SendAgent).Key
	s.do(EffectStarted{key})
	o := s.o.Clone() // as an older program may have left it
	o.Effects[len(o.Effects)-1].Text = strings.Repeat("x", 300<<10)
	step, after, err := Decide(o, s.input(EffectLost{key, ""}))
	if err != nil || after.Step != runbook.EndFailed {
		t.Fatalf("%v: %s", err, after.Step)
	}
	if _, open := after.Effect(key); open {
		t.Error("the effect is still open")
	}
	if text, err := EncodeStep(step); err != nil || len(text) > maxStep {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestClip(t *testing.T) {
	for _, text := range []string{"", "abc", strings.Repeat("x", 20), strings.Repeat("\x01", 20), strings.Repeat("\"\n", 20), strings.Repeat("é", 20), strings.Repeat("\xff", 20), "1234567890", "123456789é"} {
		for _, short := range []string{clip(text, 10), clipStart(text, 10)} {
			whole := short == sound(text)
			if size := sizeOf(short) - 2; size > 10 || whole == strings.Contains(short, "…") || !whole && size < 4 {
				t.Errorf("%q becomes %q", text, short)
			}
		}
	}
}
