package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Payload is what Claude Code sends for one event.
type Payload interface {
	// Event is the event this payload is of.
	Event() Event
	// Common returns the fields that every payload has.
	Common() *Base
	// Subjects returns the names that a pattern may select the event by.
	Subjects() []string
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

// StopPayload: the main agent is about to stop.
type StopPayload struct {
	Base
	StopHookActive       bool              `hook:"stop_hook_active,required"` // true after a block in this prompt, and for other reasons
	LastAssistantMessage string            `hook:"last_assistant_message"`    // absent when the last message has no text
	BackgroundTasks      []json.RawMessage `hook:"background_tasks"`          // work that goes on although the agent stops
	SessionCrons         []json.RawMessage `hook:"session_crons"`
}

// Scheduled are the prompts that Claude Code will send by itself, because the agent told it to.
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

// Background says what goes on although the agent stops. A task that has ended is none, and one that cannot
// be read is one all the same.
func (p *StopPayload) Background() (open []string) {
	for _, raw := range p.BackgroundTasks {
		var task struct {
			Type        string `json:"type"`
			Status      string `json:"status"`
			Description string `json:"description"`
			Command     string `json:"command"`
		}
		_ = json.Unmarshal(raw, &task) // what is missing has other words
		switch task.Status {
		case "completed", "failed", "killed", "stopped":
			continue
		}
		what := cmp.Or(task.Description, task.Command, "no description")
		open = append(open, cmp.Or(task.Type, "task")+" "+cmp.Or(task.Status, "open")+": "+what)
	}
	return open
}

// SubagentStopPayload: a subagent is about to stop. TranscriptPath is the
// parent's. Claude Code's own summariser stops with an empty AgentType.
type SubagentStopPayload struct {
	Base
	StopHookActive       bool `hook:"stop_hook_active,required"`
	_                    aboutAgent
	AgentTranscriptPath  string            `hook:"agent_transcript_path,nonblank"`
	LastAssistantMessage string            `hook:"last_assistant_message"`
	BackgroundTasks      []json.RawMessage `hook:"background_tasks"` // work that goes on although the agent stops
	SessionCrons         []json.RawMessage `hook:"session_crons"`
}

// Subjects implements Payload. The id is opaque and the type is the name;
// patterns may be about either.
func (p *SubagentStopPayload) Subjects() []string { return []string{p.AgentType, p.AgentID} }

// SubagentStartPayload: a subagent starts.
type SubagentStartPayload struct {
	Base
	_ aboutAgent
}

// Subjects implements Payload.
func (p *SubagentStartPayload) Subjects() []string { return []string{p.AgentType, p.AgentID} }

// StopFailurePayload comes instead of Stop when the model's API failed.
type StopFailurePayload struct {
	Base
	Error                string `hook:"error"`
	LastAssistantMessage string `hook:"last_assistant_message"`
}

// Subjects implements Payload.
func (p *StopFailurePayload) Subjects() []string { return []string{p.Error} }

// SessionStartPayload: a session starts, or goes on under this or a new id.
type SessionStartPayload struct {
	Base
	Source string `hook:"source"` // startup, resume, clear, compact
	Model  string `hook:"model"`
}

// Subjects implements Payload.
func (p *SessionStartPayload) Subjects() []string { return []string{p.Source} }

// SessionEndPayload: a session ends.
type SessionEndPayload struct {
	Base
	Reason string `hook:"reason"` // other, clear, prompt_input_exit, resume, logout
}

// Subjects implements Payload.
func (p *SessionEndPayload) Subjects() []string { return []string{p.Reason} }

// UserPromptSubmitPayload: a prompt is about to be sent, by a person or by the
// client itself.
type UserPromptSubmitPayload struct {
	Base
	Prompt       string `hook:"prompt"`
	SessionTitle string `hook:"session_title"`
}

// Automatic reports whether Claude Code made the prompt itself: work in the background has
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
// Of a long one Claude Code tells only the beginning, and behind it how many characters are missing.
func (p *UserPromptSubmitPayload) IsOneOf(scheduled []string) bool {
	const long = 900 // Claude Code clips at a thousand characters
	prompt := strings.TrimSpace(p.Prompt)
	return slices.ContainsFunc(scheduled, func(text string) bool {
		if end := strings.LastIndex(text, "… [+"); end >= long && strings.HasSuffix(text, " chars]") {
			return strings.HasPrefix(prompt, strings.TrimSpace(text[:end]))
		}
		return prompt == strings.TrimSpace(text)
	})
}

var (
	// automaticTags begin prompts of Claude Code. It puts a backslash into such a tag where a
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
	ExpansionType string `hook:"expansion_type"`
	CommandName   string `hook:"command_name"`
	CommandArgs   string `hook:"command_args"`
	CommandSource string `hook:"command_source"`
	Prompt        string `hook:"prompt"`
}

// Subjects implements Payload.
func (p *UserPromptExpansionPayload) Subjects() []string { return []string{p.CommandName} }

// ToolUse holds the fields that the events about one tool call share.
type ToolUse struct {
	ToolName  string          `hook:"tool_name,nonblank"`
	ToolInput json.RawMessage `hook:"tool_input"`
	ToolUseID string          `hook:"tool_use_id"`
}

// namesFile reports whether a field of a tool's input names files. Tools of MCP servers have names of their own,
// and write them in their own way.
func namesFile(key string) bool {
	switch plainKey(key) {
	case "filepath", "notebookpath", "path", "paths", "file", "files", "filename", "filenames", "filepaths",
		"source", "destination", "sourcepath", "destinationpath", "oldpath", "newpath", "targetfile", "targetpath", "relativepath", "outputpath":
		return true
	}
	return false
}

// NamesCommand reports whether a field of a tool's input says what a shell or an interpreter is to run.
func NamesCommand(key string) bool {
	switch plainKey(key) {
	case "command", "commands", "commandline", "cmd", "cmds", "cmdline", "script", "code", "argv", "args":
		return true
	}
	return false
}

// namesFolder reports whether a field of a tool's input says where something is to run.
func namesFolder(key string) bool {
	switch plainKey(key) {
	case "cwd", "dir", "directory", "folder", "workdir", "workingdir", "workingdirectory":
		return true
	}
	return false
}

// namesURI reports whether a field of a tool's input is an address, which may be a file's: editors and language servers name
// files so.
func namesURI(key string) bool {
	key = strings.TrimSuffix(plainKey(key), "s")
	return strings.HasSuffix(key, "uri") || strings.HasSuffix(key, "url")
}

// plainKey is a field's name, however it is written.
func plainKey(key string) string { return strings.ToLower(withoutSeparators.Replace(key)) }

var withoutSeparators = strings.NewReplacer("_", "", "-", "")

// Files are the paths of the files that the call names, in lists and objects, too, as paths or as file: URIs. A field that is
// something else names none, and hides none of the others.
func (u ToolUse) Files() (files []string) {
	for _, text := range textsIn(u.ToolInput, namesFile, false, 0) {
		if path, is := pathOfURI(text); is {
			text = path
		}
		files = append(files, text)
	}
	for _, text := range textsIn(u.ToolInput, namesURI, false, 0) {
		if path, is := pathOfURI(text); is {
			files = append(files, path)
		}
	}
	return files
}

// pathOfURI is the path of a file: URI, whatever host it names. On Windows the path begins behind the slash, with a drive.
func pathOfURI(text string) (path string, is bool) {
	const scheme = "file:"
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return "", false
	}
	path = text[len(scheme):]
	if rest, found := strings.CutPrefix(path, "//"); found {
		path = rest[max(0, strings.IndexByte(rest, '/')):]
	}
	if !strings.HasPrefix(path, "/") {
		return "", false
	}
	if unescaped, err := url.PathUnescape(path); err == nil {
		path = unescaped
	}
	if len(path) > 2 && path[2] == ':' {
		path = path[1:]
	}
	return path, true
}

// Commands is what the call has a shell or an interpreter run, in lists and objects, too, with the files and folders that it
// names beside: lines, or words of one. It is empty where the tool runs nothing.
func (u ToolUse) Commands() string {
	if len(textsIn(u.ToolInput, NamesCommand, false, 0)) == 0 {
		return ""
	}
	names := func(key string) bool { return NamesCommand(key) || namesFile(key) || namesFolder(key) }
	return strings.Join(textsIn(u.ToolInput, names, false, 0), "\n")
}

// Texts are all texts in the input, one a line.
func (u ToolUse) Texts() string {
	return strings.Join(textsIn(u.ToolInput, func(string) bool { return true }, true, 0), "\n")
}

// textsIn are the texts of a value of the input in fields with certain names. named means that the value's own field has one.
func textsIn(value json.RawMessage, names func(key string) bool, named bool, depth int) (texts []string) {
	const deepest = 8
	value = bytes.TrimSpace(value)
	if len(value) == 0 || depth > deepest {
		return nil
	}

	switch value[0] {
	case '{':
		members, _ := rawjson.Members(value)
		for _, m := range members {
			texts = append(texts, textsIn(m.Value, names, names(m.Name), depth+1)...)
		}
	case '[':
		var all []json.RawMessage
		if json.Unmarshal(value, &all) != nil {
			return nil
		}
		for _, one := range all {
			texts = append(texts, textsIn(one, names, named, depth+1)...)
		}
	case '"':
		var text string
		if named && json.Unmarshal(value, &text) == nil && text != "" {
			texts = []string{text}
		}
	}
	return texts
}

// Creates reports whether the call makes a file that does not exist: an edit that replaces nothing does.
func (u ToolUse) Creates() bool {
	type edit struct {
		Old *string `json:"old_string"`
	}
	var input struct {
		edit
		Edits []edit `json:"edits"`
	}
	if json.Unmarshal(u.ToolInput, &input) != nil {
		return false
	}
	first := append([]edit{input.edit}, input.Edits...)
	return slices.ContainsFunc(first, func(e edit) bool { return e.Old != nil && *e.Old == "" })
}

// CommandLine is what a shell is to run; empty where the tool runs nothing.
func (u ToolUse) CommandLine() string {
	var input struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(u.ToolInput, &input) != nil {
		return ""
	}
	return input.Command
}

// PreToolUsePayload: a tool is about to run.
type PreToolUsePayload struct {
	Base
	ToolUse
}

// Subjects implements Payload.
func (p *PreToolUsePayload) Subjects() []string { return []string{p.ToolName} }

// PostToolUsePayload: a tool has run.
type PostToolUsePayload struct {
	Base
	ToolUse
	ToolResponse json.RawMessage `hook:"tool_response"` // object, text or array, as the tool likes
	DurationMS   float64         `hook:"duration_ms"`
}

// Subjects implements Payload.
func (p *PostToolUsePayload) Subjects() []string { return []string{p.ToolName} }

// PostToolUseFailurePayload: a tool has failed; also any Bash command that did
// not exit with 0.
type PostToolUseFailurePayload struct {
	Base
	ToolUse
	Error       string  `hook:"error"`
	IsInterrupt bool    `hook:"is_interrupt"`
	DurationMS  float64 `hook:"duration_ms"`
}

// Subjects implements Payload.
func (p *PostToolUseFailurePayload) Subjects() []string { return []string{p.ToolName} }

// PostToolBatchPayload: all tool calls of one answer have ended.
type PostToolBatchPayload struct {
	Base
	ToolCalls []json.RawMessage `hook:"tool_calls"`
}

// PermissionRequestPayload: Claude Code is about to ask a person.
type PermissionRequestPayload struct {
	Base
	ToolUse
	PermissionSuggestions []json.RawMessage `hook:"permission_suggestions"`
}

// Subjects implements Payload.
func (p *PermissionRequestPayload) Subjects() []string { return []string{p.ToolName} }

// NotificationPayload: Claude Code tells the person something.
type NotificationPayload struct {
	Base
	Message          string `hook:"message"`
	Title            string `hook:"title"`
	NotificationType string `hook:"notification_type"` // permission_prompt, idle_prompt
}

// Subjects implements Payload.
func (p *NotificationPayload) Subjects() []string { return []string{p.NotificationType} }

// PreCompactPayload: the conversation is about to be summarised.
type PreCompactPayload struct {
	Base
	Trigger            string `hook:"trigger"` // manual, auto
	CustomInstructions string `hook:"custom_instructions"`
}

// Subjects implements Payload.
func (p *PreCompactPayload) Subjects() []string { return []string{p.Trigger} }

// PostCompactPayload: the conversation has been summarised.
type PostCompactPayload struct {
	Base
	Trigger        string `hook:"trigger"`
	CompactSummary string `hook:"compact_summary"`
}

// Subjects implements Payload.
func (p *PostCompactPayload) Subjects() []string { return []string{p.Trigger} }

// InstructionsLoadedPayload: a CLAUDE.md or the like was read.
type InstructionsLoadedPayload struct {
	Base
	FilePath   string `hook:"file_path"`
	MemoryType string `hook:"memory_type"`
	LoadReason string `hook:"load_reason"`
}

// Subjects implements Payload.
func (p *InstructionsLoadedPayload) Subjects() []string { return []string{p.LoadReason} }

// CwdChangedPayload: the session moved to another directory.
type CwdChangedPayload struct {
	Base
	OldCWD string `hook:"old_cwd"`
	NewCWD string `hook:"new_cwd"`
}

// FileChangedPayload: a watched file changed.
type FileChangedPayload struct {
	Base
	FilePath string `hook:"file_path"`
	Change   string `hook:"event"` // add, change, unlink
}

// Subjects implements Payload: the file's name, as in Claude Code's matchers.
func (p *FileChangedPayload) Subjects() []string { return []string{filepath.Base(p.FilePath)} }

// ConfigChangePayload: one of Claude Code's settings files changed.
type ConfigChangePayload struct {
	Base
	Source   string `hook:"source"`
	FilePath string `hook:"file_path"`
}

// Subjects implements Payload.
func (p *ConfigChangePayload) Subjects() []string { return []string{p.Source} }

// Task holds the fields of the events about a task list.
type Task struct {
	TaskID          string `hook:"task_id"`
	TaskSubject     string `hook:"task_subject"`
	TaskDescription string `hook:"task_description"`
}

// TaskCreatedPayload: the agent noted a task.
type TaskCreatedPayload struct {
	Base
	Task
}

// TaskCompletedPayload: the agent ticked a task off.
type TaskCompletedPayload struct {
	Base
	Task
}

// SetupPayload: Claude Code was asked to set a project up or maintain it.
type SetupPayload struct {
	Base
	Trigger string `hook:"trigger"`
}

// Subjects implements Payload.
func (p *SetupPayload) Subjects() []string { return []string{p.Trigger} }

// MessageDisplayPayload: a piece of an answer is shown.
type MessageDisplayPayload struct {
	Base
	TurnID    string  `hook:"turn_id"`
	MessageID string  `hook:"message_id"`
	Index     float64 `hook:"index"`
	Final     bool    `hook:"final"`
	Delta     string  `hook:"delta"`
}
