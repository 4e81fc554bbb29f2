package transcript

import (
	"encoding/json"
	"slices"
	"strings"
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

// Origin is who a prompt is from, where the client says so.
type Origin struct {
	Kind string `json:"kind"`
}

// IsClient reports whether no person has written it.
func (o Origin) IsClient() bool {
	return o.Kind == "task-notification" || o.Kind == "auto-continuation"
}

// User is the content of what stands in the user's place: a message, or a prompt that was
// slipped in. It may be a person's or the client's own.
func (e *Entry) User() (content json.RawMessage, from Origin, ok bool) {
	if e.Type == "attachment" && e.Attachment.Type == "queued_command" {
		return e.Attachment.Prompt, e.Attachment.Origin, true
	}
	return e.Message.Content, e.Origin, e.Type == "user" && e.Message.Role == "user"
}

// PromptText is the text of a message's content: a string, or blocks. What holds a tool's
// result is none of a person's.
func PromptText(content json.RawMessage) string {
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

// IsNotice reports whether a text is one that the client writes in the user's place.
func IsNotice(text string) bool {
	return slices.ContainsFunc([]string{
		feedback, taskNotice, "<system-reminder>", "<bash-", interrupted, "[structured-output-enforce]",
	}, func(beginning string) bool { return strings.HasPrefix(text, beginning) })
}

// How the client's notices begin.
const (
	feedback    = "Stop hook feedback:"
	taskNotice  = "<task-notification>"
	interrupted = "[Request interrupted by user"
)

// SlashCommand reads a command as it was typed from what the client makes of it.
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
