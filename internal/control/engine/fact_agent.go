package engine

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

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
	// Prompted is an agent that waits for a permission or an answer, and for which no hook
	// waits.
	Prompted struct {
		AgentID string `json:"agent_id"`
		Type    string `json:"prompt_type,omitempty"`
		Text    string `json:"text,omitempty"`
		Kept    string `json:"kept,omitempty"` // later: it is told when nothing else is asked; now: it is told then
	}
	// Asked is an agent with a hook that waits for a person's answer.
	Asked struct {
		AgentID string `json:"agent_id"`
		Asking
	}
	// AskedOver is a hook that waits no longer.
	AskedOver struct {
		AgentID string `json:"agent_id"`
		Ref     string `json:"ref"`
	}
	// Blocked is a client that did not start.
	Blocked struct {
		AgentID string `json:"agent_id"`
		Screen  string `json:"screen"`
		Text    string `json:"text,omitempty"`
	}
	// GotReady is a client that has started.
	GotReady struct {
		AgentID string `json:"agent_id"`
	}
	// Began is a client that works on what it was started with.
	Began struct {
		AgentID string `json:"agent_id"`
	}
	// Paid is what an agent has cost in all.
	Paid struct {
		AgentID string `json:"agent_id"`
		Spent
	}
	// Erred is an agent whose turn was ended by an error of the model's API.
	Erred struct {
		AgentID string            `json:"agent_id"`
		Kind    runbook.ErrorKind `json:"kind"`
		Text    string            `json:"text,omitempty"`
		Reset   time.Time         `json:"reset,omitzero"`
		Prompt  string            `json:"prompt_id,omitempty"`
	}
	// Rested is a client whose turn is over.
	Rested struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
		Unmet   string `json:"unmet,omitempty"`
	}
	// Worked is an agent that got a prompt.
	Worked struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
		Source  string `json:"source,omitempty"`
		Ours    bool   `json:"ours,omitempty"`
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
		Tail    string `json:"tail,omitempty"`
	}
	// Restarted is an agent that takes the place of the one before, in the same step.
	Restarted struct {
		AgentID  string `json:"agent_id"`
		Session  string `json:"session,omitempty"`
		Replaces string `json:"replaces"`
		Client   bool   `json:"client,omitempty"`
	}
	// Resaid is an agent that is told what was kept for it first.
	Resaid struct {
		AgentID string `json:"agent_id"`
	}
	// Deferred is a trigger whose action waits: for the end of the catch-up, of a gate or
	// of the cooldown. An empty one means that nothing waits any more.
	Deferred struct {
		Trigger string    `json:"trigger,omitempty"`
		Detail  string    `json:"detail,omitempty"`
		Until   time.Time `json:"until,omitzero"`
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

func (f Prompted) apply(o *Owner, s *Step) {
	switch {
	case o.Agent == nil:
	case f.Kept == keptLater:
		o.Agent.Dialog = &Dialog{f.Type, f.Text}
	case f.Kept == keptNow:
		o.Agent.Dialog = nil
	}
}

// What becomes of a dialog that came while something else was asked.
const (
	keptLater = "later"
	keptNow   = "now"
)

// FactType is agent:asked.
func (Asked) FactType() string { return "agent:asked" }

func (f Asked) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Asking = append(slices.Clip(o.Agent.Asking), f.Asking)
		o.Agent.Asked = s.Time
	}
}

// FactType is agent:prompt_over.
func (AskedOver) FactType() string { return "agent:prompt_over" }

func (f AskedOver) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Over = latest(append(slices.Clip(o.Agent.Over), f.Ref), keptOver)
		o.unasked(f.Ref)
		if o.Shell != nil && o.Shell.Gate == onPrompt && len(o.Agent.Asking) == 0 {
			o.Shell.Moot = true
		}
	}
}

// asks reports whether something is to be asked, and nobody was asked yet.
func (a *Agent) asks(ref string) bool {
	return slices.ContainsFunc(a.Asking, func(asking Asking) bool { return asking.Ref == ref })
}

// unasked takes something off the list of what nobody was asked yet.
func (o *Owner) unasked(ref string) {
	if o.Agent == nil || ref == "" {
		return
	}
	waits := slices.DeleteFunc(slices.Clone(o.Agent.Asking), func(a Asking) bool { return a.Ref == ref })
	if o.Agent.Asking = waits; len(waits) == 0 {
		o.Agent.Asking = nil
	}
}

// FactType is agent:blocked.
func (Blocked) FactType() string { return "agent:blocked" }

func (Blocked) apply(o *Owner, s *Step) {}

// FactType is agent:ready.
func (GotReady) FactType() string { return "agent:ready" }

func (GotReady) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Ready = true
	}
}

// FactType is agent:began.
func (Began) FactType() string { return "agent:began" }

func (Began) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Prompt = ""
	}
}

// FactType is agent:spent.
func (Paid) FactType() string { return "agent:spent" }

func (f Paid) apply(o *Owner, s *Step) { o.Spent = with(o.Spent, f.AgentID, f.Spent) }

// FactType is agent:error.
func (Erred) FactType() string { return "agent:error" }

func (f Erred) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Erred = f.Prompt
	}
}

// FactType is agent:working.
func (Worked) FactType() string { return "agent:working" }

func (f Worked) apply(o *Owner, s *Step) {
	if o.Agent == nil || o.Agent.Exited {
		return
	}
	o.Agent.Busy, o.Agent.Unmet = o.Agent.Client, ""
	if f.Ours {
		o.delivered()
	}
	if f.Source != sourceTask && !f.Ours { // who types sees the screen
		o.Agent.Dialog = nil
	}
	if o.Shell != nil {
		o.Shell.Moot = true
	}
}

// delivered is a message of ours that the agent has got: the first that it had not. What it said
// before is not its answer to a person's words.
func (o *Owner) delivered() {
	i := slices.IndexFunc(o.Effects, func(e OpenEffect) bool { return e.sends(o.Agent.ID) && !e.Heard })
	if i < 0 {
		return
	}
	o.Effects[i].Heard = true
	if o.Effects[i].Person {
		o.Agent.Signal = nil
	}
}

// FactType is agent:rested.
func (Rested) FactType() string { return "agent:rested" }

func (f Rested) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Busy, o.Agent.Unmet = false, f.Unmet
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
		o.Agent.Exited, o.Agent.Asking, o.Agent.Dialog = true, nil, nil
	}
}

// FactType is agent:restarted.
func (Restarted) FactType() string { return "agent:restarted" }

func (f Restarted) apply(o *Owner, s *Step) {
	agent := Agent{ID: f.AgentID, Session: f.Session, Client: f.Client}
	if old := o.Agent; old != nil {
		agent.Name, agent.Unsaid = old.Name, old.Unsaid
		agent.Before = latest(append(slices.Clip(old.Before), f.Replaces), keptBefore)
	}
	o.begin(agent, s)
	if last := o.visit(); last != nil {
		last.AgentID = f.AgentID
	}
}

// FactType is agent:resaid.
func (Resaid) FactType() string { return "agent:resaid" }

func (f Resaid) apply(o *Owner, s *Step) {
	if o.Agent == nil || len(o.Agent.Unsaid) == 0 {
		return
	}
	if o.Agent.Unsaid = o.Agent.Unsaid[1:]; len(o.Agent.Unsaid) == 0 {
		o.Agent.Unsaid = nil
	}
}

// FactType is agent:deferred.
func (Deferred) FactType() string { return "agent:deferred" }

func (f Deferred) apply(o *Owner, s *Step) {
	if o.Agent != nil {
		o.Agent.Pending, o.Agent.Detail, o.Agent.Until = f.Trigger, f.Detail, f.Until
	}
}
