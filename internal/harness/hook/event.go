// Package hook is Claude Code's hook protocol: the events it fires, the payloads
// it sends and the answers it accepts. What it says about Claude Code was measured
// with the real one; the tests in test/e2e hold it to that.
package hook

import (
	"reflect"
	"slices"
)

// Event is the name of a hook event, as Claude Code spells it.
type Event string

// The events that have a payload type of their own.
const (
	Stop                Event = "Stop"
	SubagentStop        Event = "SubagentStop"
	SubagentStart       Event = "SubagentStart"
	StopFailure         Event = "StopFailure"
	SessionStart        Event = "SessionStart"
	SessionEnd          Event = "SessionEnd"
	UserPromptSubmit    Event = "UserPromptSubmit"
	UserPromptExpansion Event = "UserPromptExpansion"
	PreToolUse          Event = "PreToolUse"
	PostToolUse         Event = "PostToolUse"
	PostToolUseFailure  Event = "PostToolUseFailure"
	PostToolBatch       Event = "PostToolBatch"
	PermissionRequest   Event = "PermissionRequest"
	Notification        Event = "Notification"
	PreCompact          Event = "PreCompact"
	PostCompact         Event = "PostCompact"
	InstructionsLoaded  Event = "InstructionsLoaded"
	CwdChanged          Event = "CwdChanged"
	FileChanged         Event = "FileChanged"
	ConfigChange        Event = "ConfigChange"
	TaskCreated         Event = "TaskCreated"
	TaskCompleted       Event = "TaskCompleted"
	Setup               Event = "Setup"
	MessageDisplay      Event = "MessageDisplay"
)

// typed are the events above with their payloads, in the order in which people meet them.
var typed = []struct {
	event   Event
	payload Payload // nil of its type
}{
	{Stop, (*StopPayload)(nil)},
	{SubagentStop, (*SubagentStopPayload)(nil)},
	{SubagentStart, (*SubagentStartPayload)(nil)},
	{StopFailure, (*StopFailurePayload)(nil)},
	{SessionStart, (*SessionStartPayload)(nil)},
	{SessionEnd, (*SessionEndPayload)(nil)},
	{UserPromptSubmit, (*UserPromptSubmitPayload)(nil)},
	{UserPromptExpansion, (*UserPromptExpansionPayload)(nil)},
	{PreToolUse, (*PreToolUsePayload)(nil)},
	{PostToolUse, (*PostToolUsePayload)(nil)},
	{PostToolUseFailure, (*PostToolUseFailurePayload)(nil)},
	{PostToolBatch, (*PostToolBatchPayload)(nil)},
	{PermissionRequest, (*PermissionRequestPayload)(nil)},
	{Notification, (*NotificationPayload)(nil)},
	{PreCompact, (*PreCompactPayload)(nil)},
	{PostCompact, (*PostCompactPayload)(nil)},
	{InstructionsLoaded, (*InstructionsLoadedPayload)(nil)},
	{CwdChanged, (*CwdChangedPayload)(nil)},
	{FileChanged, (*FileChangedPayload)(nil)},
	{ConfigChange, (*ConfigChangePayload)(nil)},
	{TaskCreated, (*TaskCreatedPayload)(nil)},
	{TaskCompleted, (*TaskCompletedPayload)(nil)},
	{Setup, (*SetupPayload)(nil)},
	{MessageDisplay, (*MessageDisplayPayload)(nil)},
}

// untyped events exist in Claude Code but were never seen here. Their payloads
// decode to the base fields.
var untyped = []Event{
	"PermissionDenied", "TeammateIdle", "Elicitation", "ElicitationResult",
	"WorktreeCreate", "WorktreeRemove",
}

// Events lists every event Claude Code is known to have.
func Events() []Event { return append(Typed(), untyped...) }

// Typed lists the events that have a payload type and a schema of their own.
func Typed() (all []Event) {
	for _, t := range typed {
		all = append(all, t.event)
	}
	return all
}

// Known reports whether Claude Code is known to have the event.
func (e Event) Known() bool { return e.payload() != nil || slices.Contains(untyped, e) }

// payload is nil of the event's own type; nil where it has none.
func (e Event) payload() Payload {
	for _, t := range typed {
		if t.event == e {
			return t.payload
		}
	}
	return nil
}

// newPayload makes an empty payload of the event's type.
func newPayload(e Event) Payload {
	if own := e.payload(); own != nil {
		return reflect.New(reflect.TypeOf(own).Elem()).Interface().(Payload)
	}
	return &Base{}
}

// objection is how Claude Code lets a hook object to an event.
type objection int

const (
	cannotObject   objection = iota
	decisionBlock            // {"decision":"block","reason":…}
	denyTool                 // hookSpecificOutput.permissionDecision
	denyPermission           // hookSpecificOutput.decision.behavior
)

func (e Event) objection() objection {
	switch e {
	case Stop, SubagentStop, UserPromptSubmit, UserPromptExpansion, PostToolUse,
		PreCompact, ConfigChange, TaskCreated, TaskCompleted:
		return decisionBlock
	case PreToolUse:
		return denyTool
	case PermissionRequest:
		return denyPermission
	}
	return cannotObject
}

// Blockable reports whether a hook can object to the event at all.
func (e Event) Blockable() bool { return e.objection() != cannotObject }

// Loops reports whether blocking the event makes the agent go on, so that
// blocking it for ever would make it go on for ever.
func (e Event) Loops() bool { return e == Stop || e == SubagentStop }

// HasSubject reports whether the event's payload names something that a
// pattern can select: an agent, a tool, a source.
func (e Event) HasSubject() bool { return newPayload(e).Subjects() != nil }
