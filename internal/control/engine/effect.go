package engine

import "github.com/stopgate/stopgate/internal/control/runbook"

// Effect is something to be done to the world. Its key is unique in the store, and the
// world sees it where it can.
type Effect struct {
	Key  string     `json:"key"`
	Kind EffectKind `json:"kind"`

	Shell  *ShellStart `json:"shell,omitempty"`  // of StartShell
	Agent  *AgentStart `json:"agent,omitempty"`  // of StartAgent
	Target string      `json:"target,omitempty"` // the key of a shell, the id of an agent, of a child or of the parent
	Title  string      `json:"title,omitempty"`  // of NotifyPerson
	Text   string      `json:"text,omitempty"`   // of SendAgent and NotifyPerson; of CancelChild: why
	Person bool        `json:"person,omitempty"` // of SendAgent: the words are a person's, who was told that the agent gets them

	Workspace *WorkspaceTask `json:"workspace,omitempty"` // of MakeWorkspace and RemoveWorkspace

	// Decision is what NotifyPerson tells of. When that is settled before it was sent, the
	// effect is dropped.
	Decision string `json:"decision,omitempty"`
}

// EffectKind is what an effect does.
type EffectKind string

// The kinds of effects. Starting means that the process is started, not that it has
// ended: that comes as an input of its own.
const (
	StartShell   EffectKind = "shell:start"
	KillShell    EffectKind = "shell:kill"
	StartAgent   EffectKind = "agent:start"
	KillAgent    EffectKind = "agent:kill"
	SendAgent    EffectKind = "agent:send"
	NotifyPerson EffectKind = "notify"

	MakeWorkspace   EffectKind = "workspace:make"
	RemoveWorkspace EffectKind = "workspace:remove"

	StartChild     EffectKind = "child:start"
	CancelChild    EffectKind = "child:cancel"
	ReportToParent EffectKind = "parent:report"
)

// AtMostOnce reports whether an effect that was started before a crash counts as done, although
// it may not have taken place. All others are carried out again under the same key: what was
// started under a key is not started again, a workspace is found as far as it was made or removed, and a message is found where it was left, or is lost.
func (k EffectKind) AtMostOnce() bool { return k == NotifyPerson }

// Begins reports whether an effect begins something new, rather than ending what there is or telling of it.
func (k EffectKind) Begins() bool {
	return k == StartShell || k == StartAgent || k == SendAgent || k == MakeWorkspace || k == StartChild
}

// ShellStart is a command for sh.
type ShellStart struct {
	Script string `json:"script"`
	Cwd    string `json:"cwd"`
	Step   string `json:"step"` // for the log

	Env     map[string]string `json:"env,omitempty"`
	EnvFile string            `json:"env_file,omitempty"` // read when it starts; relative to Cwd
}

// AgentStart is an agent to be started.
type AgentStart struct {
	ID     string            `json:"id"`
	Name   string            `json:"name"`
	Run    string            `json:"run"`
	Prompt string            `json:"prompt,omitempty"`
	Resume string            `json:"resume,omitempty"` // the session to go on with
	Whole  bool              `json:"whole,omitempty"`  // the prompt is enough where that session is gone
	Env    map[string]string `json:"env,omitempty"`
	Cwd    string            `json:"cwd"`
	Step   string            `json:"step"`

	EnvFile string `json:"env_file,omitempty"` // as of ShellStart

	OnStop runbook.StopAction `json:"on_stop"`
	AtMost int                `json:"at_most,omitempty"` // agents of that name in the project at once

	ClaudeCode bool `json:"client,omitempty"` // run starts Claude Code: it gets a terminal, and the prompt as an argument
	Bare       bool `json:"bare,omitempty"`   // run has the prompt in it: nothing is added
}

// OpenEffect is an effect that is not done yet.
type OpenEffect struct {
	Effect
	Started bool `json:"started,omitempty"` // its start is on record: it may have taken place
	Heard   bool `json:"heard,omitempty"`   // of SendAgent: the agent has the message, and works on it
}

// sends reports whether it is a message to that agent.
func (e *OpenEffect) sends(agentID string) bool { return e.Kind == SendAgent && e.Target == agentID }
