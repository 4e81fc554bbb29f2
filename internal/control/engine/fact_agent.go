package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// What agents do, and what happens to them. Each word of the current agent is a fact, also
// where nothing comes of it: that it was heard must be known when the journal is read again.
// What it changes, Agent.after says.
//
// As an input, AgentID is the agent's own id: a caller that knows only a client's session asks
// State.OwnerOf for it.
type (
	// AgentSignal is the agent's own word.
	AgentSignal struct {
		AgentID string `json:"agent_id"`
		Signal
		Values map[string]string `json:"values,omitempty"`
	}
	// AgentIdle is an agent that waits for input. Prompt is Claude Code's prompt id: one idle
	// counts once.
	AgentIdle struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
		Counted bool   `json:"counted,omitempty"` // of the fact: it is not the same idle again, nor at a time when none counts
	}
	// AgentStop is an agent whose on_stop is escalate that wants to stop, and had not signalled.
	AgentStop struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
	}
	// AgentPrompt is an agent that waits for a permission or an answer. Ref is what a hook waits
	// for the answer to; without one, only that something is on the agent's screen is known. With
	// one, the fact is AgentAsked.
	AgentPrompt struct {
		AgentID  string `json:"agent_id"`
		Type     string `json:"prompt_type,omitempty"` // permission, question, plan, other
		Text     string `json:"text,omitempty"`
		Kept     string `json:"kept,omitempty"` // of the fact: keptLater, keptNow
		Ref      string `json:"-"`
		Ask      Ask    `json:"-"`
		Subagent bool   `json:"-"` // one of its subagents asks
		Notice   bool   `json:"-"` // the client's notification of a permission, for which a hook may wait too
	}
	// AgentAsked is an agent with a hook that waits for a person's answer.
	AgentAsked struct {
		AgentID string `json:"agent_id"`
		Asking
	}
	// AgentPromptOver is a hook that waits no longer: what it waited for was answered or
	// withdrawn in Claude Code, or it has ended.
	AgentPromptOver struct {
		AgentID string `json:"agent_id"`
		Ref     string `json:"ref"`
	}
	// AgentBlocked is a client that did not start. Screen says what is in the way: trust,
	// login, api_key, onboarding, silent; or unbegun, where it did and does not work.
	AgentBlocked struct {
		AgentID string `json:"agent_id"`
		Screen  string `json:"screen"`
		Text    string `json:"text,omitempty"`
	}
	// AgentReady is a client whose first hook was heard.
	AgentReady struct {
		AgentID string `json:"agent_id"`
	}
	// AgentBegan is a client that works on what it was started with.
	AgentBegan struct {
		AgentID string `json:"agent_id"`
	}
	// AgentSpent is what an agent has cost in all.
	AgentSpent struct {
		AgentID string  `json:"agent_id"`
		USD     float64 `json:"usd,omitempty"`
		Tokens  int64   `json:"tokens,omitempty"`
	}
	// AgentError is an error of the model's API that ended the agent's turn. Reset is when
	// it is over, where that is known. One error counts once for a prompt.
	AgentError struct {
		AgentID string            `json:"agent_id"`
		Kind    runbook.ErrorKind `json:"kind"`
		Text    string            `json:"text,omitempty"`
		Reset   time.Time         `json:"reset,omitzero"`
		Prompt  string            `json:"prompt_id,omitempty"`
	}
	// AgentRested is a client that may stop: its turn is over. Unmet is what it was let go
	// with in the end, though it is not fixed.
	AgentRested struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
		Unmet   string `json:"unmet,omitempty"`
	}
	// AgentWorking is an agent that got a prompt: ours, or one that a person typed, or a
	// notification of one of its own tasks (Source is "task").
	AgentWorking struct {
		AgentID string `json:"agent_id"`
		Prompt  string `json:"prompt_id,omitempty"`
		Source  string `json:"source,omitempty"`
		Ours    bool   `json:"ours,omitempty"` // it is a message of ours
	}
	// AgentSession is a client that goes on under another session id.
	AgentSession struct {
		AgentID string `json:"agent_id"`
		Session string `json:"session"`
	}
	// AgentExited is an agent whose process has ended.
	AgentExited struct {
		AgentID string `json:"agent_id"`
		Code    int    `json:"code"`
		Gone    bool   `json:"gone,omitempty"` // how it ended is not known
		Tail    string `json:"tail,omitempty"` // the end of what was to be seen of it
	}
	// AgentRestarted is an agent that takes the place of the one before, in the same step.
	AgentRestarted struct {
		AgentID    string `json:"agent_id"`
		Session    string `json:"session,omitempty"`
		Replaces   string `json:"replaces"`
		ClaudeCode bool   `json:"client,omitempty"`
	}
	// AgentResaid is an agent that is told what was kept for it first.
	AgentResaid struct {
		AgentID string `json:"agent_id"`
	}
	// AgentDeferred is a trigger whose action waits: for the end of the catch-up, of a gate or
	// of the cooldown. An empty one means that nothing waits any more.
	AgentDeferred struct {
		Trigger string    `json:"trigger,omitempty"`
		Detail  string    `json:"detail,omitempty"`
		Until   time.Time `json:"until,omitzero"`
	}
)

// What becomes of a dialog that came while something else was asked: it is told of when
// nothing else is asked any more, or that is now.
const (
	keptLater = "later"
	keptNow   = "now"
)

func (AgentSignal) EventType() string     { return "agent:signal" }
func (AgentIdle) EventType() string       { return "agent:idle" }
func (AgentStop) EventType() string       { return "agent:stop" }
func (AgentPrompt) EventType() string     { return "agent:prompt" }
func (AgentAsked) EventType() string      { return "agent:asked" }
func (AgentPromptOver) EventType() string { return "agent:prompt_over" }
func (AgentBlocked) EventType() string    { return "agent:blocked" }
func (AgentReady) EventType() string      { return "agent:ready" }
func (AgentBegan) EventType() string      { return "agent:began" }
func (AgentSpent) EventType() string      { return "agent:spent" }
func (AgentError) EventType() string      { return "agent:error" }
func (AgentRested) EventType() string     { return "agent:rested" }
func (AgentWorking) EventType() string    { return "agent:working" }
func (AgentSession) EventType() string    { return "agent:session" }
func (AgentExited) EventType() string     { return "agent:exited" }
func (AgentRestarted) EventType() string  { return "agent:restarted" }
func (AgentResaid) EventType() string     { return "agent:resaid" }
func (AgentDeferred) EventType() string   { return "agent:deferred" }

func (AgentIdle) apply(o *Owner, s *Step) {
	if o.Shell != nil {
		o.Shell.Moot = false
	}
}

func (AgentPromptOver) apply(o *Owner, s *Step) {
	if o.Agent != nil && o.Shell != nil && o.Shell.Gate == onPrompt && len(o.Agent.Asking) == 0 {
		o.Shell.Moot = true
	}
}

func (f AgentSpent) apply(o *Owner, s *Step) {
	o.Spent = with(o.Spent, f.AgentID, Spent{f.USD, f.Tokens})
}

func (f AgentWorking) apply(o *Owner, s *Step) {
	if o.Agent == nil || o.Agent.Exited {
		return
	}
	if f.Ours {
		o.delivered()
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

func (f AgentRestarted) apply(o *Owner, s *Step) {
	agent := Agent{ID: f.AgentID, Session: f.Session, Life: Life{ClaudeCode: f.ClaudeCode}}
	if old := o.Agent; old != nil {
		agent.Name, agent.Unsaid = old.Name, old.Unsaid
		agent.Before = latest(append(slices.Clip(old.Before), f.Replaces), keptBefore)
	}
	o.begin(agent, s)
	if last := o.visit(); last != nil {
		last.AgentID = f.AgentID
	}
}

// begin makes an agent the current one.
func (o *Owner) begin(a Agent, s *Step) {
	a.Session, a.Started = cmp.Or(a.Session, a.ID), s.Time
	o.Serial++
	o.Agent = &a
	if a.ClaudeCode {
		o.Spent = with(merged(o.Spent), a.ID, o.Spent[a.ID])
	}
}

// merged is what agents have cost, with no more entries than are kept.
func merged(spent map[string]Spent) map[string]Spent {
	if len(spent) < keptSpent {
		return spent
	}
	return map[string]Spent{"": total(spent)}
}
