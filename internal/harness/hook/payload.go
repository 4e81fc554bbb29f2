package hook

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Payload is what the client sends for one event.
type Payload interface {
	// Event is the event this payload is of.
	Event() Event
	// Common returns the fields that every payload has.
	Common() *Base
	// Subjects returns the names that a pattern may select the event by.
	Subjects() []string

	base() *Base
	fields() []field
}

// Base holds the fields that every event may have. The first four always come.
type Base struct {
	SessionID      string
	TranscriptPath string
	HookEventName  string
	CWD            string

	PromptID       string // one per user prompt; constant over all blocks of that prompt
	PermissionMode string
	AgentID        string // set inside a subagent only
	AgentType      string

	members []rawjson.Member // the document as it came
}

// Event implements Payload.
func (b *Base) Event() Event { return Event(b.HookEventName) }

// Common implements Payload.
func (b *Base) Common() *Base { return b }

// Subjects implements Payload: most events name nothing to select.
func (b *Base) Subjects() []string { return nil }

func (b *Base) base() *Base     { return b }
func (b *Base) fields() []field { return nil }

// need says what a field demands of a payload.
type need int

const (
	optional need = iota // may be absent or null
	required             // must be there
	nonBlank             // must be there and hold more than white space
)

// field ties a name in the document to the place it is decoded to. One table
// per event serves the decoder, the encoder and the schema, so that they agree.
type field struct {
	name string
	dst  any
	need need
}

// fieldsOf lists the fields of a payload in the order in which faults are told.
func fieldsOf(p Payload) []field {
	b := p.base()
	all := []field{
		{"session_id", &b.SessionID, nonBlank},
		{"transcript_path", &b.TranscriptPath, nonBlank},
		{"hook_event_name", &b.HookEventName, nonBlank},
		{"cwd", &b.CWD, nonBlank},
		{"prompt_id", &b.PromptID, optional},
		{"permission_mode", &b.PermissionMode, optional},
	}
	own := p.fields()
	if !names(own, "agent_id") {
		all = append(all, field{"agent_id", &b.AgentID, optional})
	}
	all = append(all, own...)
	return append(all, field{"agent_type", &b.AgentType, optional})
}

func names(fields []field, name string) bool {
	for _, f := range fields {
		if f.name == name {
			return true
		}
	}
	return false
}

// StopPayload: the main agent is about to stop.
type StopPayload struct {
	Base
	StopHookActive       bool              // true after a block in this prompt, and for other reasons
	LastAssistantMessage string            // absent when the last message has no text
	BackgroundTasks      []json.RawMessage // work that goes on although the agent stops
	SessionCrons         []json.RawMessage
}

func (p *StopPayload) fields() []field {
	return []field{
		{"stop_hook_active", &p.StopHookActive, required},
		{"last_assistant_message", &p.LastAssistantMessage, optional},
		{"background_tasks", &p.BackgroundTasks, optional},
		{"session_crons", &p.SessionCrons, optional},
	}
}

// Scheduled are the prompts that the client will send by itself, because the agent told it to.
func (p *StopPayload) Scheduled() (prompts []string) {
	for _, raw := range p.SessionCrons {
		var cron struct {
			Prompt string `json:"prompt"`
		}
		if json.Unmarshal(raw, &cron) == nil && cron.Prompt != "" {
			prompts = append(prompts, cron.Prompt)
		}
	}
	return prompts
}

// SubagentStopPayload: a subagent is about to stop. TranscriptPath is the
// parent's. The client's own summariser stops with an empty AgentType.
type SubagentStopPayload struct {
	Base
	StopHookActive       bool
	AgentTranscriptPath  string
	LastAssistantMessage string
	BackgroundTasks      []json.RawMessage // work that goes on although the agent stops
	SessionCrons         []json.RawMessage
}

func (p *SubagentStopPayload) fields() []field {
	return []field{
		{"stop_hook_active", &p.StopHookActive, required},
		{"agent_id", &p.AgentID, nonBlank},
		{"agent_transcript_path", &p.AgentTranscriptPath, nonBlank},
		{"last_assistant_message", &p.LastAssistantMessage, optional},
		{"background_tasks", &p.BackgroundTasks, optional},
		{"session_crons", &p.SessionCrons, optional},
	}
}

// Subjects implements Payload. The id is opaque and the type is the name;
// patterns may be about either.
func (p *SubagentStopPayload) Subjects() []string { return []string{p.AgentType, p.AgentID} }

// SubagentStartPayload: a subagent starts.
type SubagentStartPayload struct{ Base }

func (p *SubagentStartPayload) fields() []field {
	return []field{{"agent_id", &p.AgentID, nonBlank}}
}

// Subjects implements Payload.
func (p *SubagentStartPayload) Subjects() []string { return []string{p.AgentType, p.AgentID} }

// StopFailurePayload comes instead of Stop when the model's API failed.
type StopFailurePayload struct {
	Base
	Error                string
	LastAssistantMessage string
}

func (p *StopFailurePayload) fields() []field {
	return []field{
		{"error", &p.Error, optional},
		{"last_assistant_message", &p.LastAssistantMessage, optional},
	}
}

// Subjects implements Payload.
func (p *StopFailurePayload) Subjects() []string { return []string{p.Error} }

// SessionStartPayload: a session starts, or goes on under this or a new id.
type SessionStartPayload struct {
	Base
	Source string // startup, resume, clear, compact
	Model  string
}

func (p *SessionStartPayload) fields() []field {
	return []field{{"source", &p.Source, optional}, {"model", &p.Model, optional}}
}

// Subjects implements Payload.
func (p *SessionStartPayload) Subjects() []string { return []string{p.Source} }

// SessionEndPayload: a session ends.
type SessionEndPayload struct {
	Base
	Reason string // other, clear, prompt_input_exit, resume, logout
}

func (p *SessionEndPayload) fields() []field {
	return []field{{"reason", &p.Reason, optional}}
}

// Subjects implements Payload.
func (p *SessionEndPayload) Subjects() []string { return []string{p.Reason} }

// UserPromptSubmitPayload: a prompt is about to be sent, by a person or by the
// client itself.
type UserPromptSubmitPayload struct {
	Base
	Prompt       string
	SessionTitle string
}

func (p *UserPromptSubmitPayload) fields() []field {
	return []field{{"prompt", &p.Prompt, optional}, {"session_title", &p.SessionTitle, optional}}
}

// Automatic reports whether the client made the prompt itself: work in the background has
// ended, another session or agent sent a message, or a schedule is due. Nothing but the text
// tells. Of a prompt that an agent scheduled for its own session, IsOneOf tells.
func (p *UserPromptSubmitPayload) Automatic() bool {
	text := strings.TrimSpace(p.Prompt)
	if tag, found := strings.CutPrefix(text, "<"); found {
		end := strings.IndexAny(tag, "> \t\r\n")
		return end > 0 && slices.Contains(automaticTags, tag[:end])
	}
	first, _, _ := strings.Cut(text, "\n")
	return slices.Contains(automaticLines, strings.TrimSpace(first))
}

// IsOneOf reports whether the prompt is one of those that a stop's payload said were scheduled.
// Of a long one the client tells only the beginning, and behind it how many characters are missing.
func (p *UserPromptSubmitPayload) IsOneOf(scheduled []string) bool {
	const long = 900 // the client clips at a thousand characters
	prompt := strings.TrimSpace(p.Prompt)
	return slices.ContainsFunc(scheduled, func(text string) bool {
		if end := strings.LastIndex(text, "… [+"); end >= long && strings.HasSuffix(text, " chars]") {
			return strings.HasPrefix(prompt, strings.TrimSpace(text[:end]))
		}
		return prompt == strings.TrimSpace(text)
	})
}

var (
	// automaticTags begin prompts of the client. It puts a backslash into such a tag where a
	// person typed it, and into that of another session always.
	automaticTags = []string{
		"agent-message", "cross-session-message", `\cross-session-message`, "scheduled-task", "task-notification", "teammate-message",
		"system-reminder", "local-command-caveat", "local-command-stderr", "local-command-stdout", "bash-stderr", "bash-stdout",
	}
	// automaticLines are the first lines of such prompts. With a person's words behind them on
	// the same line they are a quotation.
	automaticLines = []string{
		"[SYSTEM NOTIFICATION - NOT USER INPUT]", "[Subagent hand-back]", "A peer session sent a message while you were working:",
		"Another Claude session sent a message:", "Another Claude session sent a message while you were working:",
	}
)

// UserPromptExpansionPayload: a slash command is about to be expanded.
type UserPromptExpansionPayload struct {
	Base
	ExpansionType, CommandName, CommandArgs, CommandSource, Prompt string
}

func (p *UserPromptExpansionPayload) fields() []field {
	return []field{
		{"expansion_type", &p.ExpansionType, optional},
		{"command_name", &p.CommandName, optional},
		{"command_args", &p.CommandArgs, optional},
		{"command_source", &p.CommandSource, optional},
		{"prompt", &p.Prompt, optional},
	}
}

// Subjects implements Payload.
func (p *UserPromptExpansionPayload) Subjects() []string { return []string{p.CommandName} }

// ToolUse holds the fields that the events about one tool call share.
type ToolUse struct {
	ToolName  string
	ToolInput json.RawMessage
	ToolUseID string
}

func (t *ToolUse) toolFields() []field {
	return []field{
		{"tool_name", &t.ToolName, nonBlank},
		{"tool_input", &t.ToolInput, optional},
		{"tool_use_id", &t.ToolUseID, optional},
	}
}

// PreToolUsePayload: a tool is about to run.
type PreToolUsePayload struct {
	Base
	ToolUse
}

func (p *PreToolUsePayload) fields() []field { return p.toolFields() }

// Subjects implements Payload.
func (p *PreToolUsePayload) Subjects() []string { return []string{p.ToolName} }

// PostToolUsePayload: a tool has run.
type PostToolUsePayload struct {
	Base
	ToolUse
	ToolResponse json.RawMessage // object, text or array, as the tool likes
	DurationMS   float64
}

func (p *PostToolUsePayload) fields() []field {
	return append(p.toolFields(),
		field{"tool_response", &p.ToolResponse, optional},
		field{"duration_ms", &p.DurationMS, optional})
}

// Subjects implements Payload.
func (p *PostToolUsePayload) Subjects() []string { return []string{p.ToolName} }

// PostToolUseFailurePayload: a tool has failed; also any Bash command that did
// not exit with 0.
type PostToolUseFailurePayload struct {
	Base
	ToolUse
	Error       string
	IsInterrupt bool
	DurationMS  float64
}

func (p *PostToolUseFailurePayload) fields() []field {
	return append(p.toolFields(),
		field{"error", &p.Error, optional},
		field{"is_interrupt", &p.IsInterrupt, optional},
		field{"duration_ms", &p.DurationMS, optional})
}

// Subjects implements Payload.
func (p *PostToolUseFailurePayload) Subjects() []string { return []string{p.ToolName} }

// PostToolBatchPayload: all tool calls of one answer have ended.
type PostToolBatchPayload struct {
	Base
	ToolCalls []json.RawMessage
}

func (p *PostToolBatchPayload) fields() []field {
	return []field{{"tool_calls", &p.ToolCalls, optional}}
}

// PermissionRequestPayload: the client is about to ask a person.
type PermissionRequestPayload struct {
	Base
	ToolUse
	PermissionSuggestions []json.RawMessage
}

func (p *PermissionRequestPayload) fields() []field {
	return append(p.toolFields(), field{"permission_suggestions", &p.PermissionSuggestions, optional})
}

// Subjects implements Payload.
func (p *PermissionRequestPayload) Subjects() []string { return []string{p.ToolName} }

// NotificationPayload: the client tells the person something.
type NotificationPayload struct {
	Base
	Message          string
	Title            string
	NotificationType string // permission_prompt, idle_prompt
}

func (p *NotificationPayload) fields() []field {
	return []field{
		{"message", &p.Message, optional},
		{"title", &p.Title, optional},
		{"notification_type", &p.NotificationType, optional},
	}
}

// Subjects implements Payload.
func (p *NotificationPayload) Subjects() []string { return []string{p.NotificationType} }

// PreCompactPayload: the conversation is about to be summarised.
type PreCompactPayload struct {
	Base
	Trigger            string // manual, auto
	CustomInstructions string
}

func (p *PreCompactPayload) fields() []field {
	return []field{
		{"trigger", &p.Trigger, optional},
		{"custom_instructions", &p.CustomInstructions, optional},
	}
}

// Subjects implements Payload.
func (p *PreCompactPayload) Subjects() []string { return []string{p.Trigger} }

// PostCompactPayload: the conversation has been summarised.
type PostCompactPayload struct {
	Base
	Trigger        string
	CompactSummary string
}

func (p *PostCompactPayload) fields() []field {
	return []field{
		{"trigger", &p.Trigger, optional},
		{"compact_summary", &p.CompactSummary, optional},
	}
}

// Subjects implements Payload.
func (p *PostCompactPayload) Subjects() []string { return []string{p.Trigger} }

// InstructionsLoadedPayload: a CLAUDE.md or the like was read.
type InstructionsLoadedPayload struct {
	Base
	FilePath, MemoryType, LoadReason string
}

func (p *InstructionsLoadedPayload) fields() []field {
	return []field{
		{"file_path", &p.FilePath, optional},
		{"memory_type", &p.MemoryType, optional},
		{"load_reason", &p.LoadReason, optional},
	}
}

// Subjects implements Payload.
func (p *InstructionsLoadedPayload) Subjects() []string { return []string{p.LoadReason} }

// CwdChangedPayload: the session moved to another directory.
type CwdChangedPayload struct {
	Base
	OldCWD, NewCWD string
}

func (p *CwdChangedPayload) fields() []field {
	return []field{{"old_cwd", &p.OldCWD, optional}, {"new_cwd", &p.NewCWD, optional}}
}

// FileChangedPayload: a watched file changed.
type FileChangedPayload struct {
	Base
	FilePath string
	Change   string // add, change, unlink
}

func (p *FileChangedPayload) fields() []field {
	return []field{{"file_path", &p.FilePath, optional}, {"event", &p.Change, optional}}
}

// Subjects implements Payload: the file's name, as in the client's matchers.
func (p *FileChangedPayload) Subjects() []string { return []string{filepath.Base(p.FilePath)} }

// ConfigChangePayload: one of the client's settings files changed.
type ConfigChangePayload struct {
	Base
	Source   string
	FilePath string
}

func (p *ConfigChangePayload) fields() []field {
	return []field{{"source", &p.Source, optional}, {"file_path", &p.FilePath, optional}}
}

// Subjects implements Payload.
func (p *ConfigChangePayload) Subjects() []string { return []string{p.Source} }

// Task holds the fields of the events about a task list.
type Task struct {
	TaskID, TaskSubject, TaskDescription string
}

func (t *Task) taskFields() []field {
	return []field{
		{"task_id", &t.TaskID, optional},
		{"task_subject", &t.TaskSubject, optional},
		{"task_description", &t.TaskDescription, optional},
	}
}

// TaskCreatedPayload: the agent noted a task.
type TaskCreatedPayload struct {
	Base
	Task
}

func (p *TaskCreatedPayload) fields() []field { return p.taskFields() }

// TaskCompletedPayload: the agent ticked a task off.
type TaskCompletedPayload struct {
	Base
	Task
}

func (p *TaskCompletedPayload) fields() []field { return p.taskFields() }

// SetupPayload: the client was asked to set a project up or maintain it.
type SetupPayload struct {
	Base
	Trigger string
}

func (p *SetupPayload) fields() []field { return []field{{"trigger", &p.Trigger, optional}} }

// Subjects implements Payload.
func (p *SetupPayload) Subjects() []string { return []string{p.Trigger} }

// MessageDisplayPayload: a piece of an answer is shown.
type MessageDisplayPayload struct {
	Base
	TurnID, MessageID string
	Index             float64
	Final             bool
	Delta             string
}

func (p *MessageDisplayPayload) fields() []field {
	return []field{
		{"turn_id", &p.TurnID, optional},
		{"message_id", &p.MessageID, optional},
		{"index", &p.Index, optional},
		{"final", &p.Final, optional},
		{"delta", &p.Delta, optional},
	}
}

// newPayload makes an empty payload of the event's type.
func newPayload(e Event) Payload {
	switch e {
	case Stop:
		return &StopPayload{}
	case SubagentStop:
		return &SubagentStopPayload{}
	case SubagentStart:
		return &SubagentStartPayload{}
	case StopFailure:
		return &StopFailurePayload{}
	case SessionStart:
		return &SessionStartPayload{}
	case SessionEnd:
		return &SessionEndPayload{}
	case UserPromptSubmit:
		return &UserPromptSubmitPayload{}
	case UserPromptExpansion:
		return &UserPromptExpansionPayload{}
	case PreToolUse:
		return &PreToolUsePayload{}
	case PostToolUse:
		return &PostToolUsePayload{}
	case PostToolUseFailure:
		return &PostToolUseFailurePayload{}
	case PostToolBatch:
		return &PostToolBatchPayload{}
	case PermissionRequest:
		return &PermissionRequestPayload{}
	case Notification:
		return &NotificationPayload{}
	case PreCompact:
		return &PreCompactPayload{}
	case PostCompact:
		return &PostCompactPayload{}
	case InstructionsLoaded:
		return &InstructionsLoadedPayload{}
	case CwdChanged:
		return &CwdChangedPayload{}
	case FileChanged:
		return &FileChangedPayload{}
	case ConfigChange:
		return &ConfigChangePayload{}
	case TaskCreated:
		return &TaskCreatedPayload{}
	case TaskCompleted:
		return &TaskCompletedPayload{}
	case Setup:
		return &SetupPayload{}
	case MessageDisplay:
		return &MessageDisplayPayload{}
	}
	return &Base{}
}
