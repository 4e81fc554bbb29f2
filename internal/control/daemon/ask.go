package daemon

import (
	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/harness/hook"
)

// asked is what an agent asks under a reference, for people. What cannot be read is
// asked all the same: the hook waits.
func asked(stateDir, agent, ref string) engine.Ask {
	dir, err := agentdir.At(stateDir, agent)
	if err != nil {
		return engine.Ask{}
	}
	a, err := dir.Asked(ref)
	if err != nil {
		return engine.Ask{}
	}
	return askOf(a)
}

// askOf makes of a tool's input what a person is asked. Input of another shape than the
// client's today is shown as it is.
func askOf(a agentdir.Asked) engine.Ask {
	ask := engine.Ask{Tool: a.Tool}
	use := hook.ToolUse{ToolName: a.Tool, ToolInput: a.Input}
	switch a.Type {
	case agentdir.Question:
		ask.Questions = questionsOf(use)
	case agentdir.Plan:
		ask.Plan = use.Plan()
	}
	if ask.Plan == "" && ask.Questions == nil {
		ask.Input = use.Purpose()
	}
	return ask
}

func questionsOf(use hook.ToolUse) (questions []engine.Question) {
	asked, exact := use.Questions()
	if !exact {
		return nil
	}
	for _, q := range asked {
		question := engine.Question{Question: q.Text, Header: q.Header, Multi: q.Several}
		for _, o := range q.Options {
			question.Options = append(question.Options, engine.Choice(o))
		}
		questions = append(questions, question)
	}
	return questions
}
