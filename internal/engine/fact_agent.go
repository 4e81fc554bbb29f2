package engine

import "github.com/stopgate/stopgate/internal/runbook"

// Facts about agents. Each word of the current agent is one, also where nothing comes of
// it: that it was heard must be known when the journal is read again.
type (
	// Signalled is the agent's word.
	Signalled struct {
		AgentID string     `json:"agent_id"`
		Kind    SignalKind `json:"kind"`
		Message string     `json:"message,omitempty"`
	}
	// WentIdle is an agent that waits for input. Counted says that it is not the same
	// idle again, nor one at a time when none counts.
	WentIdle struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
		Counted bool   `json:"counted,omitempty"`
	}
	// TriedToStop is an agent that wanted to stop and had not signalled.
	TriedToStop struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
	}
	// Prompted is an agent that waits for a permission or an answer.
	Prompted struct {
		AgentID string `json:"agent_id"`
		Type    string `json:"prompt_type,omitempty"`
		Text    string `json:"text,omitempty"`
	}
	// Erred is an agent whose turn was ended by an error of the model's API.
	Erred struct {
		AgentID string            `json:"agent_id"`
		Kind    runbook.ErrorKind `json:"kind"`
		Text    string            `json:"text,omitempty"`
	}
	// Worked is an agent that got a prompt.
	Worked struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
	}
	// SessionChanged is an agent whose client goes on under another session id.
	SessionChanged struct {
		AgentID string `json:"agent_id"`
		Session string `json:"session"`
	}
	// Exited is an agent whose process has ended.
	Exited struct {
		AgentID string `json:"agent_id"`
		Code    int    `json:"code"`
		Gone    bool   `json:"gone,omitempty"`
	}
	// Restarted is an agent that takes the place of the one before, in the same step.
	Restarted struct {
		AgentID  string `json:"agent_id"`
		Session  string `json:"session,omitempty"`
		Replaces string `json:"replaces"`
	}
	// Deferred is a trigger whose action waits: for the end of the catch-up, of a gate or
	// of the cooldown. An empty one means that nothing waits any more.
	Deferred struct {
		Trigger string `json:"trigger,omitempty"`
		Detail  string `json:"detail,omitempty"`
	}
)

// FactType is agent:signal.
func (Signalled) FactType() string { return "agent:signal" }

func (f Signalled) apply(o *Owner, s *Step) {
	switch {
	case o.Agent == nil:
	case f.Kind == SignalContinue:
		o.Agent.Idle = "" // the next idle is another one, also in the same prompt
	default:
		o.Agent.Signal = &Signal{f.Kind, f.Message}
	}
}

// FactType is agent:idle.
func (WentIdle) FactType() string { return "agent:idle" }

func (f WentIdle) apply(o *Owner, s *Step) {
	if o.Agent != nil && f.Counted {
		o.Agent.Idle = f.Prompt
	}
	if o.Shell != nil {
		o.Shell.Moot = false
	}
}

// FactType is agent:stop.
func (TriedToStop) FactType() string { return "agent:stop" }

func (TriedToStop) apply(o *Owner, s *Step) {}

// FactType is agent:prompt.
func (Prompted) FactType() string { return "agent:prompt" }

func (Prompted) apply(o *Owner, s *Step) {}

// FactType is agent:error.
func (Erred) FactType() string { return "agent:error" }

func (Erred) apply(o *Owner, s *Step) {}

// FactType is agent:working.
func (Worked) FactType() string { return "agent:working" }

func (Worked) apply(o *Owner, s *Step) {
	if o.Shell != nil && o.Agent != nil && !o.Agent.Exited {
		o.Shell.Moot = true
	}
}

// FactType is agent:session.
func (SessionChanged) FactType() string { return "agent:session" }

func (f SessionChanged) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Session = f.Session
	}
}

// FactType is agent:exited.
func (Exited) FactType() string { return "agent:exited" }

func (Exited) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Exited = true
	}
}

// FactType is agent:restarted.
func (Restarted) FactType() string { return "agent:restarted" }

func (f Restarted) apply(o *Owner, s *Step) {
	name := ""
	if o.Agent != nil {
		name = o.Agent.Name
	}
	o.begin(f.AgentID, name, f.Session, s)
	if last := o.visit(); last != nil {
		last.AgentID = f.AgentID
	}
}

// FactType is agent:deferred.
func (Deferred) FactType() string { return "agent:deferred" }

func (f Deferred) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Pending, o.Agent.Detail = f.Trigger, f.Detail
	}
}
