package hook

import (
	"encoding/json"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Answer is what Claude Code is told. Claude Code shows its texts on a terminal, so nothing is
// in them that steers one. It can only hold what Claude Code accepts:
// at most one decision, in the form that the event demands, never without a
// reason. The zero value lets the event pass and says nothing.
type Answer struct {
	event   Event
	reason  string          // non-blank: the event is objected to
	message string          // for the person
	input   json.RawMessage // not empty: the tool runs with it, and nobody is asked
	allow   bool            // of a PermissionRequest: the tool may run
}

// noReason stands in for a reason that was left blank. Claude Code would put its
// own "Blocked by hook" there, which tells the agent nothing.
const noReason = "stopgate blocked this without giving a reason; see stopgate log"

// Block objects to an event and tells the agent why. Claude Code would lose an
// objection to an event that cannot be blocked, so there it becomes a message
// to the person.
func Block(event Event, reason string) Answer {
	reason = strings.TrimSpace(plain.Words(reason))
	if reason == "" {
		reason = noReason
	}
	if !event.Blockable() {
		return Answer{message: reason}
	}
	return Answer{event: event, reason: reason}
}

// Permit answers a PermissionRequest in a person's stead: the tool runs. Tools whose whole
// purpose is to ask a person need an input too, see Input; newer clients ignore the answer
// without one.
func (a Answer) Permit() Answer {
	a.event, a.allow = PermissionRequest, true
	return a
}

// Deny answers a PermissionRequest in a person's stead: the tool does not run, and the
// agent is told why.
func (a Answer) Deny(reason string) Answer {
	denied := Block(PermissionRequest, reason)
	denied.message = a.message
	return denied
}

// Input lets a tool run with another input than the model gave it, without asking a
// person. It counts on PreToolUse and where a tool is permitted, and not where the event
// is objected to.
func (a Answer) Input(input json.RawMessage) Answer {
	a.input = input
	return a
}

// Tell adds a message for the person. Blank messages add nothing.
func (a Answer) Tell(message string) Answer {
	message = strings.TrimSpace(plain.Words(message))
	switch {
	case message == "":
	case a.message == "":
		a.message = message
	default:
		a.message += "\n" + message
	}
	return a
}

// Blocks reports whether the answer objects to the event.
func (a Answer) Blocks() bool { return a.reason != "" }

// output is Claude Code's JSON. Its fields vanish when empty: Claude Code takes
// {"decision":""} for an invalid answer and ignores it.
type output struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"systemMessage,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event              Event               `json:"hookEventName"`
	PermissionDecision string              `json:"permissionDecision,omitempty"`
	PermissionReason   string              `json:"permissionDecisionReason,omitempty"`
	UpdatedInput       json.RawMessage     `json:"updatedInput,omitempty"`
	Decision           *permissionDecision `json:"decision,omitempty"`
}

type permissionDecision struct {
	Behavior     string          `json:"behavior"`
	Message      string          `json:"message,omitempty"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
}

// Bytes is what goes to standard output: one JSON object and a newline, or
// nothing at all.
func (a Answer) Bytes() []byte {
	if a.reason == "" && a.message == "" && len(a.input) == 0 && !a.allow {
		return nil
	}
	out := output{Message: a.message}
	switch objection := a.event.objection(); {
	case a.reason != "" && objection == decisionBlock:
		out.Decision, out.Reason = "block", a.reason
	case a.reason != "" && objection == denyTool:
		out.Specific = &specific{Event: a.event, PermissionDecision: "deny", PermissionReason: a.reason}
	case a.reason != "" && objection == denyPermission:
		out.Specific = &specific{Event: a.event, Decision: &permissionDecision{Behavior: "deny", Message: a.reason}}
	case a.reason != "":
	case a.allow:
		out.Specific = &specific{Event: a.event, Decision: &permissionDecision{Behavior: "allow", UpdatedInput: a.input}}
	case len(a.input) > 0:
		out.Specific = &specific{Event: PreToolUse, PermissionDecision: "allow", UpdatedInput: a.input}
	}
	text, err := rawjson.Marshal(out)
	if err != nil {
		panic(err) // strings always encode
	}
	return append(text, '\n')
}
