package engine

import (
	"slices"
	"strings"
	"time"
)

// Agent is the agent that the current step belongs to. Its id is recorded before it is
// started, so that an early stop is never an orphan's.
type Agent struct {
	ID      string    `json:"id"` // a UUID: also the client's first session id
	Name    string    `json:"name"`
	Session string    `json:"session"` // the client's session now
	Started time.Time `json:"started"`
	Life
	Signal *Signal           `json:"signal,omitempty"`
	Values map[string]string `json:"values,omitempty"` // what the signal hands to the steps after it; never changed
	Idle   string            `json:"idle,omitempty"`   // the prompt whose idle was counted
	Erred  string            `json:"erred,omitempty"`  // the prompt whose error was counted
	Postponed
	Requests
	Before []string `json:"before,omitempty"` // the latest agents of the step in whose place it is
	Unsaid []string `json:"unsaid,omitempty"` // a person's words that neither it nor one before it has got
}

// Life is how far an agent is: started, ready, at work on its prompt, in a turn or between
// two, being ended, gone.
type Life struct {
	ClaudeCode bool   `json:"client,omitempty"` // it is Claude Code in a terminal, else a plain process
	Prompt     string `json:"prompt,omitempty"` // of Claude Code: what it is started with, until it works on it
	Ready      bool   `json:"ready,omitempty"`  // of Claude Code: its first hook was heard
	Busy       bool   `json:"busy,omitempty"`   // of Claude Code: it is in a turn whose end nothing has looked at
	Unmet      string `json:"unmet,omitempty"`  // of Claude Code: what it was let go with in the end, though it is not fixed
	Killed     bool   `json:"killed,omitempty"` // it is being ended, or was
	Exited     bool   `json:"exited,omitempty"`
}

// after is the life after a fact; the same one where the fact says nothing about it.
func (l Life) after(f Fact) Life {
	switch f := f.(type) {
	case AgentReady:
		l.Ready = true
	case AgentBegan:
		l.Prompt = ""
	case AgentWorking:
		if !l.Exited {
			l.Busy, l.Unmet = l.ClaudeCode, ""
		}
	case AgentRested:
		l.Busy, l.Unmet = false, f.Unmet
	case AgentExited:
		l.Exited = true
	}
	return l
}

// due is the life once an effect on the agent is decided on.
func (l Life) due(e Effect) Life {
	switch {
	case e.Kind == StartAgent && e.Agent.ClaudeCode:
		l.Prompt = e.Agent.Prompt
	case e.Kind == KillAgent:
		l.Killed = true
	}
	return l
}

// Unbegun reports whether the agent is a client that did not start, or does not work on what it
// was started with.
func (l Life) Unbegun() bool { return l.ClaudeCode && (!l.Ready || l.Prompt != "") }

// Postponed is a trigger that was found late, or in its cooldown, and is still to be acted on.
type Postponed struct {
	Pending string    `json:"pending,omitempty"`
	Detail  string    `json:"detail,omitempty"` // what the trigger said
	Until   time.Time `json:"until,omitzero"`   // it is not acted on before
}

// parked reports whether what is to be acted on is an error of the model's API.
func (p Postponed) parked() bool { return strings.HasPrefix(p.Pending, onError) }

// Requests are what the agent wants of a person.
type Requests struct {
	Asking []Asking  `json:"asking,omitempty"` // what it asks besides the open decision
	Asked  time.Time `json:"asked,omitzero"`   // when a hook last waited for a person
	Dialog *Dialog   `json:"dialog,omitempty"` // one that no hook waits for, to be told of when nothing else is asked
	Over   []string  `json:"over,omitempty"`   // the latest references that no hook waits for any more
}

// Dialog is something on an agent's screen that a person has to see to.
type Dialog struct {
	Type string `json:"prompt_type,omitempty"`
	Text string `json:"text,omitempty"`
}

// Asking is something that an agent asks a person, and that a hook waits for the answer
// to.
type Asking struct {
	Ref  string `json:"ref"`
	Type string `json:"prompt_type,omitempty"`
	Text string `json:"text,omitempty"`
	Ask  Ask    `json:"ask,omitzero"`

	Subagent bool `json:"subagent,omitempty"` // a subagent asks: what its agent does meanwhile does not settle it
}

// after are the requests after a fact.
func (r Requests) after(f Fact, now time.Time) Requests {
	switch f := f.(type) {
	case AgentPrompt:
		switch f.Kept {
		case keptLater:
			r.Dialog = &Dialog{f.Type, f.Text}
		case keptNow:
			r.Dialog = nil
		}
	case AgentAsked:
		r.Asking, r.Asked = append(slices.Clip(r.Asking), f.Asking), now
	case AgentPromptOver:
		r.Over = latest(append(slices.Clip(r.Over), f.Ref), keptOver)
		r.Asking = withoutRef(r.Asking, f.Ref)
	case DecisionCreated:
		r.Asking = withoutRef(r.Asking, f.Ref)
	case AgentWorking:
		if f.Source != sourceTask && !f.Ours { // a person who types sees the screen
			r.Dialog = nil
		}
	case AgentExited:
		r.Asking, r.Dialog = nil, nil
	}
	return r
}

// asks reports whether something waits to be asked.
func (r Requests) asks(ref string) bool {
	return slices.ContainsFunc(r.Asking, func(a Asking) bool { return a.Ref == ref })
}

// withoutRef takes something off a list of what is asked. An empty list is nil, as it is when
// it comes from JSON.
func withoutRef(all []Asking, ref string) []Asking {
	left := slices.DeleteFunc(slices.Clone(all), func(a Asking) bool { return a.Ref == ref && ref != "" })
	if len(left) == 0 {
		return nil
	}
	return left
}

// after changes the agent as a fact about it says.
func (a *Agent) after(f Fact, now time.Time) {
	a.Requests = a.Requests.after(f, now)
	a.Life = a.Life.after(f)
	switch f := f.(type) {
	case AgentSignal:
		if f.Kind == SignalContinue {
			a.Idle = "" // the next idle is another one, also in the same prompt
		} else {
			a.Signal, a.Values = &Signal{f.Kind, f.Message}, f.Values
		}
	case AgentIdle:
		if f.Counted {
			a.Idle = f.Prompt
		}
	case AgentError:
		a.Erred = f.Prompt
	case AgentSession:
		a.Session = f.Session
	case AgentDeferred:
		a.Postponed = Postponed{f.Trigger, f.Detail, f.Until}
	case AgentResaid:
		if a.Unsaid = a.Unsaid[min(1, len(a.Unsaid)):]; len(a.Unsaid) == 0 {
			a.Unsaid = nil
		}
	case PersonIntervened:
		a.Signal, a.Values = nil, nil
	}
}

// Signal is the agent's own word. "continue" is never kept.
type Signal struct {
	Kind    string `json:"kind"`
	Message string `json:"message,omitempty"`
}

// The kinds of signals. A failure counts when the turn ends, as completion does.
const (
	SignalComplete = "complete"
	SignalFail     = "fail"
	SignalEscalate = "escalate"
	SignalContinue = "continue"
)
