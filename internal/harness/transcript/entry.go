package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

// Entry is a line of a transcript.
type Entry struct {
	Type             string  `json:"type"`
	IsMeta           bool    `json:"isMeta"`
	IsSidechain      bool    `json:"isSidechain"`
	IsCompactSummary bool    `json:"isCompactSummary"`
	IsAPIError       bool    `json:"isApiErrorMessage"`
	Error            any     `json:"error"` // of the API: mostly the client's word for it
	Origin           Origin  `json:"origin"`
	Message          Message `json:"message"`
	// Attachment is among others a prompt that was typed while the agent was at
	// work, and slipped into its turn.
	Attachment struct {
		Type   string          `json:"type"`
		Prompt json.RawMessage `json:"prompt"`
		Origin Origin          `json:"origin"`
	} `json:"attachment"`
}

// Message is what was said.
type Message struct {
	ID      string          `json:"id"` // what was said in one go has a line for each part
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// Origin is who a prompt is from, where Claude Code says so.
type Origin struct {
	Kind string `json:"kind"`
}

// IsAutomatic reports whether no person has written it.
func (o Origin) IsAutomatic() bool {
	return o.Kind == "task-notification" || o.Kind == "auto-continuation"
}

// User is the content of what stands in the user's place: a message, or a prompt that was
// slipped in. It may be a person's or Claude Code's own.
func (e *Entry) User() (content json.RawMessage, from Origin, ok bool) {
	if e.Type == "attachment" && e.Attachment.Type == "queued_command" {
		return e.Attachment.Prompt, e.Attachment.Origin, true
	}
	return e.Message.Content, e.Origin, e.Type == "user" && e.Message.Role == "user"
}

// Parse reads a line, if it is what the agent said or was told, and not what its subagents are told.
func Parse(line []byte) (e Entry, ok bool) {
	if !bytes.Contains(line, []byte(`"assistant"`)) && !bytes.Contains(line, []byte(`"user"`)) {
		return e, false // decoding takes ten times as long
	}
	ok = json.Unmarshal(line, &e) == nil && !e.IsSidechain && (e.Type == Assistant || e.Type == User)
	return e, ok
}

// Fault is the error of the API that stands in the place of what the agent said: Claude Code's word for it, which
// may be empty, and its text.
func (e *Entry) Fault() (word, text string, found bool) {
	if e.Type != Assistant || !e.IsAPIError {
		return "", "", false
	}
	word, _ = e.Error.(string)
	return word, promptText(e.Message.Content), true
}

// Tools are the uses of tools and their results in a line.
type Tools struct {
	Message string // the id of the message that the uses are in
	Uses    []hook.ToolUse
	Results []string // the ids of the uses that they are of
}

// ToolsIn reads the tools in a line of the agent's own conversation.
func ToolsIn(line []byte) (t Tools) {
	if !bytes.Contains(line, []byte(`"tool_`)) {
		return t // decoding takes longer
	}
	e, ok := Parse(line)
	if !ok {
		return t
	}
	t.Message = e.Message.ID
	var blocks []block
	_ = json.Unmarshal(e.Message.Content, &blocks) // a text holds no uses
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			t.Uses = append(t.Uses, hook.ToolUse{ToolName: b.Name, ToolInput: b.Input, ToolUseID: b.ID})
		case "tool_result":
			t.Results = append(t.Results, b.ToolUseID)
		}
	}
	return t
}

// Request is what a person asked for in a line: a prompt, a slash command as Claude Code writes it, or what the
// client itself answered to one.
func Request(line []byte) (text string, ok bool) {
	if !bytes.Contains(line, []byte(`"user"`)) && !bytes.Contains(line, []byte(`"queued_command"`)) {
		return "", false // most lines are none, and some are long
	}
	if bytes.Contains(line, []byte(`"type":"tool_result"`)) {
		return "", false // what a tool has said, as most of the rest is; decoding it takes ten times as long
	}
	var e Entry
	if json.Unmarshal(line, &e) != nil {
		return "", false // half written, or of a client that we do not know
	}
	content, from, ok := e.User()
	if !ok || e.IsMeta || e.IsSidechain || e.IsCompactSummary || from.IsAutomatic() {
		return "", false
	}
	return promptText(content), true
}

// promptText is the text of a message's content: a string, or blocks. What holds a tool's
// result is none of a person's.
func promptText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return strings.TrimSpace(text)
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, block := range blocks {
		if block.Type == "tool_result" {
			return ""
		}
		if part := strings.TrimSpace(block.Text); block.Type == "text" && part != "" && !strings.HasPrefix(part, "<system-reminder>") {
			texts = append(texts, part)
		}
	}
	return strings.Join(texts, "\n\n")
}

// IsNotice reports whether a text is one that Claude Code writes in the user's place.
func IsNotice(text string) bool {
	return slices.ContainsFunc([]string{
		feedback, taskNotice, "<system-reminder>", "<bash-", interrupted, "[structured-output-enforce]",
	}, func(beginning string) bool { return strings.HasPrefix(text, beginning) })
}

// AnswersCommand reports whether a text is what Claude Code itself answered to a slash command.
func AnswersCommand(text string) bool { return strings.HasPrefix(text, localAnswer) }

// How Claude Code's notices begin.
const (
	localAnswer = "<local-command-"
	feedback    = "Stop hook feedback:"
	taskNotice  = "<task-notification>"
	interrupted = "[Request interrupted by user"
)

// SlashCommand reads a command as it was typed from what Claude Code makes of it.
func SlashCommand(text string) (command string, ok bool) {
	if !strings.HasPrefix(text, "<command-") {
		return "", false
	}
	_, rest, _ := strings.Cut(text, "<command-name>")
	name, rest, ok := strings.Cut(rest, "</command-name>")
	name = strings.TrimPrefix(strings.TrimSpace(name), "/")
	if !ok || name == "" {
		return "", false
	}
	_, args, _ := strings.Cut(rest, "<command-args>")
	if end := strings.LastIndex(args, "</command-args>"); end >= 0 { // they may be about such an element
		args = args[:end]
	}
	return strings.TrimSpace("/" + name + " " + strings.TrimSpace(args)), true
}
