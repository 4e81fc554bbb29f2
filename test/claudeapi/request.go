package claudeapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Request is one call of /v1/messages.
type Request struct {
	Body      []byte // as it came
	SessionID string
	AgentID   string // of a subagent; "" for the main agent
	Model     string
	System    string // the system prompt
	Messages  []Message
	Tools     []string // names

	title bool
}

// Message is one entry of the conversation so far. The role is user, assistant or system: the
// client slips notes of its own (hook context among them) in as system messages.
type Message struct {
	Role    string
	Content []Content
}

// Content is one block of a message; which fields are set follows from its type.
type Content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`          // tool_use
	Name      string          `json:"name"`        // tool_use
	Input     json.RawMessage `json:"input"`       // tool_use
	ToolUseID string          `json:"tool_use_id"` // tool_result
	IsError   bool            `json:"is_error"`    // tool_result
	Result    contents        `json:"content"`     // tool_result
}

// contents reads a string as one text block: the API takes either.
type contents []Content

func (c *contents) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = contents{{Type: "text", Text: text}}
		return nil
	}
	var list []Content
	err := json.Unmarshal(b, &list)
	*c = list
	return err
}

func (c contents) text() string {
	var parts []string
	for _, b := range c {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func parse(header http.Header, body []byte) (Request, error) {
	var wire struct {
		Model    string
		System   contents
		Messages []struct {
			Role    string
			Content contents
		}
		Tools        []struct{ Name string }
		OutputConfig struct {
			Format struct {
				Schema struct {
					Properties map[string]json.RawMessage
				}
			}
		} `json:"output_config"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return Request{}, err
	}
	r := Request{
		Body:      body,
		SessionID: header.Get("X-Claude-Code-Session-Id"),
		AgentID:   header.Get("X-Claude-Code-Agent-Id"),
		Model:     wire.Model,
		System:    wire.System.text(),
	}
	for _, m := range wire.Messages {
		r.Messages = append(r.Messages, Message{m.Role, m.Content})
	}
	for _, tool := range wire.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	schema := wire.OutputConfig.Format.Schema.Properties
	_, r.title = schema["title"]
	r.title = r.title && len(schema) == 1 && len(r.Tools) == 0
	return r, nil
}

// isTitle tells the terminal client's request for a name of the session from the conversation.
func (r Request) isTitle() bool { return r.title }

// HasTool reports whether the model may call the tool.
func (r Request) HasTool(name string) bool {
	return slices.Contains(r.Tools, name)
}

// Texts are the texts of all user messages, oldest first, without the client's reminders.
func (r Request) Texts() []string {
	var texts []string
	for _, m := range r.Messages {
		if m.Role != "user" {
			continue
		}
		for _, c := range m.Content {
			if text := withoutReminders(c.Text); c.Type == "text" && text != "" {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// FirstUserText is the prompt that began the conversation; "" when there is none.
func (r Request) FirstUserText() string {
	if texts := r.Texts(); len(texts) > 0 {
		return texts[0]
	}
	return ""
}

// LastUserText is the newest text from the user's side, a hook's feedback included.
func (r Request) LastUserText() string {
	if texts := r.Texts(); len(texts) > 0 {
		return texts[len(texts)-1]
	}
	return ""
}

// Notes are the texts the client added on its own account, oldest first: system messages and
// reminders. What a hook gives as context arrives here.
func (r Request) Notes() []string {
	var notes []string
	for _, m := range r.Messages {
		for _, c := range m.Content {
			switch {
			case c.Type != "text" || m.Role == "assistant":
			case m.Role == "system":
				notes = append(notes, c.Text)
			default:
				notes = append(notes, reminders(c.Text)...)
			}
		}
	}
	return notes
}

// ToolResult is what a tool call gave back.
type ToolResult struct {
	Text    string
	IsError bool
}

// ToolResults are all of them, oldest first.
func (r Request) ToolResults() []ToolResult {
	var results []ToolResult
	for _, m := range r.Messages {
		for _, c := range m.Content {
			if c.Type == "tool_result" {
				results = append(results, ToolResult{c.Result.text(), c.IsError})
			}
		}
	}
	return results
}

const (
	reminderStart = "<system-reminder>"
	reminderEnd   = "</system-reminder>"
)

// split takes the reminders off the front of a text; one further in was written by a person.
func split(text string) (found []string, rest string) {
	for {
		trimmed := strings.TrimSpace(text)
		end := strings.Index(trimmed, reminderEnd)
		if !strings.HasPrefix(trimmed, reminderStart) || end < 0 {
			return found, text
		}
		found = append(found, strings.TrimSpace(trimmed[len(reminderStart):end]))
		text = strings.TrimSpace(trimmed[end+len(reminderEnd):])
	}
}

func withoutReminders(text string) string {
	_, rest := split(text)
	return rest
}

func reminders(text string) []string {
	found, _ := split(text)
	return found
}
