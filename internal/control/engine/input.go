package engine

import (
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Input is something that happened.
type Input struct {
	// ID is unique. The same input, told again, has the same one: a hash of the hook
	// call that it came from, a person's request, an effect's key with what became of
	// it. The step's event in the store has an id made of it.
	ID string
	// Time is when it happened, for those who look; the engine takes no other.
	Time time.Time
	// Late means that it was found at catch-up: it changes state, but nothing is typed
	// and nobody is told because of it.
	Late bool
	// Journal marks inputs that come from the journal, which may be read twice.
	Journal bool
	What    Happening
}

// Happening is what happened.
type Happening interface{ happening() string }

// What people do.
type (
	// Create starts a pipeline, or an agent alone.
	Create struct {
		Owner   string
		Kind    Kind
		Name    string
		Command string
		Project string
		Cwd     string
		Vars    map[string]string
		Plan    runbook.Plan
	}
	// Cancel ends an owner by way of its on_cancel.
	Cancel struct{ Why string }
	// Resume goes on with an owner that failed or waits: at its step, with more vars
	// and, for an agent, a message.
	Resume struct {
		Message string
		Vars    map[string]string
	}
	// Answer answers a decision: with an option's name, with words, or both. Answers are
	// for the questions of an agent, one for each.
	Answer struct {
		Decision, Option, Message string
		Answers                   []string
	}
	// Tell is a person who writes to an agent: to that one, not to its successor.
	Tell struct{ Agent, Message string }
	// KillNow is a person who ends an agent's process. What follows is on_dead.
	KillNow struct{ Agent string }
)

// What agents do, and what happens to them. Agent is the agent's id: who knows only a
// client's session asks State.OfAgent for it.
type (
	// AgentStop is an agent whose on_stop is escalate that wants to stop (agent:stop).
	AgentStop struct{ Agent, Prompt string }
	// AgentIdle is an agent that waits for input (agent:idle). Prompt is the client's
	// prompt id: one idle counts once.
	AgentIdle struct{ Agent, Prompt string }
	// AgentPrompt is an agent that waits for a permission or an answer (agent:prompt).
	// Ref is what a hook waits for the answer to; without one, only that something is on
	// the agent's screen is known.
	AgentPrompt struct {
		Agent, Type, Text string // Type: permission, question, plan, other
		Ref               string
		Ask               Ask
		Subagent          bool // one of its subagents asks
		Notice            bool // the client's notification of a permission, for which a hook may wait too
	}
	// AgentPromptOver is a hook that waits no longer: what it waited for was answered or
	// withdrawn in the client, or it has ended.
	AgentPromptOver struct{ Agent, Ref string }
	// AgentBlocked is a client that did not start. Screen says what is in the way: trust,
	// login, api_key, onboarding, silent; or unbegun, where it did and does not work.
	AgentBlocked struct{ Agent, Screen, Text string }
	// AgentRested is a client that may stop: its turn is over. Unmet is what it was let go
	// with in the end, though it is not fixed.
	AgentRested struct{ Agent, Prompt, Unmet string }
	// AgentReady is a client whose first hook was heard.
	AgentReady struct{ Agent string }
	// AgentSignal is the agent's own word (agent:signal).
	AgentSignal struct {
		Agent string
		Signal
	}
	// AgentError is an error of the model's API that ended the agent's turn. Reset is when
	// it is over, where that is known. One error counts once for a prompt.
	AgentError struct {
		Agent  string
		Kind   runbook.ErrorKind
		Text   string
		Reset  time.Time
		Prompt string
	}
	// AgentWorking is an agent that got a prompt: ours, or one that a person typed, or a
	// notification of one of its own tasks (Source is "task").
	AgentWorking struct {
		Agent, Prompt string
		Source        string
		Ours          bool // it is a message of ours
	}
	// AgentSpent is what an agent has cost in all.
	AgentSpent struct {
		Agent  string
		USD    float64
		Tokens int64
	}
	// AgentSession is a client that goes on under another session id.
	AgentSession struct{ Agent, Session string }
	// AgentExited is an agent whose process has ended.
	AgentExited struct {
		Agent string
		Code  int
		Gone  bool   // how it ended, nobody knows
		Tail  string // the end of what was to be seen of it
	}
)

// What becomes of effects.
type (
	// EffectStarted comes before an effect acts.
	EffectStarted struct{ Key string }
	// EffectDone comes after it.
	EffectDone struct{ Key string }
	// EffectFailed is an effect that did nothing, and will not: a program is missing.
	EffectFailed struct{ Key, Why string }
	// EffectLost is an effect that may have taken place or not, and must not be repeated.
	EffectLost struct{ Key, Why string }
	// ShellExited is a command that has ended. Lost means that nobody knows how.
	ShellExited struct {
		Key  string
		Code int
		Tail string // the end of what it printed
		Lost bool
	}
)

// What time does, and the daemon.
type (
	// TimerFired is a timer that is due.
	TimerFired struct {
		Name string
		Due  time.Time
	}
	// CaughtUp comes once to each owner when the daemon has read everything that
	// happened while it was away: from here on things happen now.
	CaughtUp struct{}
	// Forget ends the record of an owner that is at its end.
	Forget struct{}
)

func (Create) happening() string          { return "create" }
func (Cancel) happening() string          { return "cancel" }
func (Resume) happening() string          { return "resume" }
func (Answer) happening() string          { return "answer" }
func (Tell) happening() string            { return "tell" }
func (KillNow) happening() string         { return "kill" }
func (AgentStop) happening() string       { return "agent:stop" }
func (AgentIdle) happening() string       { return "agent:idle" }
func (AgentPrompt) happening() string     { return "agent:prompt" }
func (AgentPromptOver) happening() string { return "agent:prompt_over" }
func (AgentBlocked) happening() string    { return "agent:blocked" }
func (AgentRested) happening() string     { return "agent:rested" }
func (AgentReady) happening() string      { return "agent:ready" }
func (AgentSpent) happening() string      { return "agent:spent" }
func (AgentSignal) happening() string     { return "agent:signal" }
func (AgentError) happening() string      { return "agent:error" }
func (AgentWorking) happening() string    { return "agent:working" }
func (AgentSession) happening() string    { return "agent:session" }
func (AgentExited) happening() string     { return "agent:exited" }
func (EffectStarted) happening() string   { return "effect:started" }
func (EffectDone) happening() string      { return "effect:done" }
func (EffectFailed) happening() string    { return "effect:failed" }
func (EffectLost) happening() string      { return "effect:lost" }
func (ShellExited) happening() string     { return "shell:exited" }
func (TimerFired) happening() string      { return "timer:fired" }
func (CaughtUp) happening() string        { return "caught_up" }
func (Forget) happening() string          { return "forget" }
