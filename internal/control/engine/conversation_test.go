package engine

import (
	"testing"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// again is a plan in which a test sends its agent back, and then another step has the same agent.
func again(a runbook.Agent) runbook.Plan {
	p := work(a, "test", "more")
	p.Pipeline.Steps[1].OnFail = "work"
	p.Pipeline.Steps[2].Run = runbook.Run{Agent: a.Name}
	return p
}

// An agent with resume = true goes on in its conversation whenever its pipeline comes to it again, in
// whichever step, with its prompt as the message. Without it each visit begins a new one.
func TestAgentResumesItsConversation(t *testing.T) {
	for _, resume := range []bool{true, false} {
		a := worker()
		a.Resume, a.Prompt = resume, "do ${var.x}: ${error}"
		s := start(t, again(a))
		first := s.agent()
		if e := s.effect(StartAgent).Agent; e.Resume != "" || e.Whole {
			t.Errorf("the first visit resumes %+v", e)
		}
		s.carryOut()
		s.do(AgentSession{AgentID: first, Session: "later"})
		s.do(AgentSignal{AgentID: first, Signal: Signal{Kind: SignalComplete}})
		s.carryOut()
		s.do(ShellExited{Key: s.o.Shell.Key, Code: 1, Tail: "red"})
		s.is("work", Running)

		want := ""
		if resume {
			want = "later"
		}
		e := s.effect(StartAgent).Agent
		if e.Resume != want || e.Whole != resume || e.ID == first || e.Prompt != "do 1: exit status 1: red" {
			t.Errorf("resume = %t: the second visit starts %+v", resume, e)
		}
		s.carryOut()
		s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{Kind: SignalComplete}})
		s.carryOut()
		s.do(ShellExited{Key: s.o.Shell.Key})
		s.is("more", Running)
		if e := s.effect(StartAgent).Agent; e.Resume != want {
			t.Errorf("resume = %t: in another step it resumes %q", resume, e.Resume)
		}
	}
}

// A person's words, with which a pipeline is resumed, are a message in the conversation too; they are
// not the whole task.
func TestAgentResumesWithWords(t *testing.T) {
	a := worker()
	a.Resume, a.OnDead = true, runbook.Action{Kind: runbook.Fail}
	s := atWork(t, a)
	first := s.agent()
	s.do(AgentExited{AgentID: first, Code: 9})
	s.is(runbook.EndFailed, Ended)
	words := s.fork(t)
	words.do(Resume{Message: "mind the tests"})
	if e := words.effect(StartAgent).Agent; e.Resume != first || e.Prompt != "mind the tests" || e.Whole {
		t.Errorf("with words: %+v", e)
	}
	s.do(Resume{})
	if e := s.effect(StartAgent).Agent; e.Resume != first || e.Prompt != "do 1" || !e.Whole {
		t.Errorf("without: %+v", e)
	}
}
