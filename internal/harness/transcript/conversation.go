package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is what an event of a conversation is.
type Kind int

// The kinds of events.
const (
	Prompt Kind = iota // what the agent was told
	Note               // what Claude Code or a hook said in the user's place
	Words              // what the agent said
	Tool               // what it did, in one line
	Answer             // what a person answered to its question
	Failed             // a tool that failed
	Fault              // an error of the API
)

var kindNames = [...]string{"prompt", "note", "words", "tool", "answer", "failed", "fault"}

// String is the kind's name in the daemon's API.
func (k Kind) String() string { return kindNames[k] }

// KindOf is the kind with a name. One that a newer version has is what the agent said.
func KindOf(name string) Kind {
	if at := slices.Index(kindNames[:], name); at >= 0 {
		return Kind(at)
	}
	return Words
}

// Event is one thing that was said or done.
type Event struct {
	Time time.Time // zero where the line does not say
	Kind Kind
	Text string
}

// Conversation makes events of the lines of a transcript.
type Conversation struct {
	asked map[string]bool // the calls whose results are a person's answer
}

// record is a line with what else there is to tell.
type record struct {
	Entry
	Subtype   string    `json:"subtype"`
	Timestamp time.Time `json:"timestamp"`
	// Content is that of a line which is no message, such as a command that Claude Code
	// answers itself.
	Content json.RawMessage `json:"content"`
}

// Line is what a line tells. What subagents say among themselves is left out.
func (c *Conversation) Line(line []byte) []Event {
	if !bytes.Contains(line, []byte(`"user"`)) && !bytes.Contains(line, []byte(`"assistant"`)) &&
		!bytes.Contains(line, []byte(`"queued_command"`)) && !bytes.Contains(line, []byte(`"local_command"`)) {
		return nil // many are long, and decoding them takes ten times as long
	}
	var r record
	if json.Unmarshal(line, &r) != nil || r.IsSidechain {
		return nil
	}
	events := c.events(&r)
	for i := range events {
		events[i].Time = r.Timestamp
	}
	return events
}

func (c *Conversation) events(r *record) []Event {
	switch {
	case r.Type == Assistant:
		return c.agent(r)
	case r.Type == "system" && r.Subtype == "local_command":
		return user(promptText(r.Content), false)
	}
	content, from, ok := r.User()
	switch {
	case !ok:
		return nil
	case r.IsCompactSummary:
		return []Event{{Kind: Note, Text: "The conversation so far was summarised."}}
	}
	if results := c.results(content); results != nil {
		return results
	}
	return user(promptText(content), r.IsMeta || from.IsAutomatic())
}

// user is what stands in the user's place. What Claude Code added for the model alone, as
// the text behind a slash command, is left out.
func user(text string, added bool) []Event {
	if command, ok := SlashCommand(text); ok {
		return []Event{{Kind: Prompt, Text: command}}
	}
	if said, ok := strings.CutPrefix(text, "<bash-input>"); ok {
		return []Event{{Kind: Prompt, Text: "! " + strings.TrimSuffix(said, "</bash-input>")}}
	}
	switch {
	case strings.HasPrefix(text, taskNotice):
		return []Event{{Kind: Note, Text: taskText(text)}}
	case strings.HasPrefix(text, feedback), strings.HasPrefix(text, interrupted):
		return []Event{{Kind: Note, Text: text}}
	case text == "", added, IsNotice(text), AnswersCommand(text):
		return nil
	}
	return []Event{{Kind: Prompt, Text: text}}
}

// taskText is what Claude Code says of a task in the background.
func taskText(text string) string {
	_, rest, _ := strings.Cut(text, "<summary>")
	if summary, _, found := strings.Cut(rest, "</summary>"); found {
		return strings.TrimSpace(summary)
	}
	return "A background task sent a message."
}

// block is a part of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

// agent is what the agent said and did.
func (c *Conversation) agent(r *record) (events []Event) {
	var text string
	var blocks []block
	if json.Unmarshal(r.Message.Content, &text) == nil {
		blocks = []block{{Type: "text", Text: text}}
	} else if json.Unmarshal(r.Message.Content, &blocks) != nil {
		return nil
	}
	for i := range blocks {
		b := &blocks[i]
		said := strings.TrimSpace(b.Text)
		switch {
		case b.Type == "text" && said != "" && r.IsAPIError:
			events = append(events, Event{Kind: Fault, Text: said})
		case b.Type == "text" && said != "":
			events = append(events, Event{Kind: Words, Text: said})
		case b.Type == "tool_use":
			c.remember(b)
			events = append(events, Event{Kind: Tool, Text: toolText(b.Name, b.Input)})
		}
	}
	return events
}

// remember keeps in mind that the result of a call is what a person answers.
func (c *Conversation) remember(b *block) {
	const most = 100 // calls without a result, which a client that was killed leaves
	if b.Name != "AskUserQuestion" && b.Name != "ExitPlanMode" || len(c.asked) >= most {
		return
	}
	if c.asked == nil {
		c.asked = map[string]bool{}
	}
	c.asked[b.ID] = true
}

// results are what a message tells of the tools' results: failures and answers. It is nil
// where it holds no result.
func (c *Conversation) results(content json.RawMessage) []Event {
	if !bytes.Contains(content, []byte(`"tool_result"`)) {
		return nil
	}
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}

	var events []Event
	for i := range blocks {
		b := &blocks[i]
		if b.Type != "tool_result" {
			continue
		}
		if events == nil {
			events = []Event{}
		}

		text := promptText(b.Content)
		switch {
		case c.asked[b.ToolUseID]:
			delete(c.asked, b.ToolUseID)
			events = append(events, Event{Kind: Answer, Text: text})
		case b.IsError:
			events = append(events, Event{Kind: Failed, Text: text})
		}
	}
	return events
}

// toolText is what a tool is used for: its name, and of its input what tells most.
func toolText(name string, input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil || len(fields) == 0 {
		return name
	}
	if name == "AskUserQuestion" {
		return name + ": " + questions(fields["questions"])
	}
	for _, field := range []string{"command", "file_path", "notebook_path", "pattern", "url", "query", "description", "plan", "skill", "prompt"} {
		var text string
		if json.Unmarshal(fields[field], &text) == nil && strings.TrimSpace(text) != "" {
			return name + ": " + strings.TrimSpace(text)
		}
	}
	var all bytes.Buffer
	if json.Compact(&all, input) != nil {
		return name
	}
	return name + ": " + all.String()
}

func questions(list json.RawMessage) string {
	var asked []struct {
		Question string `json:"question"`
	}
	_ = json.Unmarshal(list, &asked) // what cannot be read is counted as none
	switch len(asked) {
	case 0:
		return "a question"
	case 1:
		return asked[0].Question
	}
	return fmt.Sprintf("%s (and %d more)", asked[0].Question, len(asked)-1)
}
