package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"time"

	"github.com/stopgate/stopgate/internal/agentdir"
	"github.com/stopgate/stopgate/internal/hook"
)

// noticeEvery is how often the transcript is looked at while somebody waits.
const noticeEvery = time.Second

// lookout finds out why nobody needs an answer any more; nil while somebody does. The client
// tells no hook that a person has answered its own dialog, but its conversation goes on
// then; and a client that was killed, and older ones that end, leave their hooks alone.
func (p *prompt) lookout(payload *hook.PermissionRequestPayload) func() error {
	parent := p.keeper.Parent()
	c := newConversation(payload, p.asked.Type)
	return func() error {
		switch {
		case p.keeper.Parent() != parent:
			return errClientGone
		// A subagent's conversation is elsewhere: there its stop has to do.
		case payload.AgentID == "" && c.goesOn():
			return errAnsweredThere
		}
		return nil
	}
}

// notice ends the wait when the lookout says so.
func notice(ctx context.Context, cancel context.CancelCauseFunc, look func() error) {
	tick := time.NewTicker(noticeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if why := look(); why != nil {
			cancel(why)
			return
		}
	}
}

// conversation is a transcript that is read as it grows, for the use of one tool.
type conversation struct {
	path    string
	tool    string
	kind    string
	id      string          // of the use; most clients do not say
	input   any             // what of it tells the use from others; nil: whatever it is
	at      int64           // read so far
	since   int64           // where it ended when the question was asked
	rest    []byte          // of a line that is not whole
	passed  bool            // the line that is left over is longer than anything we look for
	message string          // the id of the message with the uses
	ours    map[string]bool // the uses in it that may be the one, and whether they have their results
	late    bool            // one of these came after the question
}

func newConversation(payload *hook.PermissionRequestPayload, kind string) *conversation {
	c := &conversation{path: payload.TranscriptPath, tool: payload.ToolName, kind: kind, id: payload.ToolUseID, ours: map[string]bool{}}
	var input any
	_ = json.Unmarshal(payload.ToolInput, &input) // nil then
	c.input = c.telling(input)
	if info, err := os.Stat(c.path); err == nil {
		c.since = info.Size()
	}
	// The use itself may be written already. What the first line is cut off of does not matter.
	c.at = max(c.since-tailSize, 0)
	return c
}

// telling is what of an input tells a use from others. The client adds to that of
// questions, and of plans there is one at a time.
func (c *conversation) telling(input any) any {
	switch c.kind {
	case agentdir.Question:
		members, _ := input.(map[string]any)
		return members["questions"]
	case agentdir.Plan:
		return nil
	}
	return input
}

// goesOn reads what is new, and reports whether the use has its result.
func (c *conversation) goesOn() bool {
	const most = 4 << 20 // at once
	info, err := os.Stat(c.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= c.at {
		return false
	}
	file, err := os.Open(c.path)
	if err != nil {
		return false
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, c.at, most))
	if err != nil {
		return false
	}
	c.at += int64(len(text))
	return c.take(text)
}

// take takes the next part of the transcript, and reports whether the use has its result
// by then.
func (c *conversation) take(text []byte) bool {
	const longest = 8 << 20 // of a line
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			if c.rest = append(c.rest, line...); len(c.rest) > longest {
				c.rest, c.passed = nil, true
			}
			return c.answered()
		}
		line = append(c.rest, line...)
		skip := c.passed
		c.rest, c.passed, text = nil, false, rest
		if end := c.at - int64(len(text)); !skip {
			c.line(line, end > c.since)
		}
	}
}

// answered reports whether the use has its result. Where several may be the one, such as
// the same command twice in one message, nobody can tell which was answered before all
// are.
func (c *conversation) answered() bool {
	for _, has := range c.ours {
		if !has {
			return false
		}
	}
	return c.late
}

// line takes a line of the conversation.
func (c *conversation) line(line []byte, late bool) {
	var e entry
	if !bytes.Contains(line, []byte(`"tool_`)) || json.Unmarshal(line, &e) != nil || e.Side || e.Type != "assistant" && e.Type != "user" {
		return
	}
	var blocks []struct {
		Type, ID, Name string
		Input          any
		Use            string `json:"tool_use_id"`
	}
	_ = json.Unmarshal(e.Message.Content, &blocks) // a text holds no uses
	for _, b := range blocks {
		_, ours := c.ours[b.Use]
		switch {
		case b.Type == "tool_use" && c.is(b.ID, b.Name, b.Input):
			c.use(e.Message.ID, b.ID)
		case b.Type == "tool_result" && (ours || c.id != "" && b.Use == c.id):
			c.ours[b.Use], c.late = true, c.late || late
		}
	}
}

// is reports whether a use may be the one.
func (c *conversation) is(id, tool string, input any) bool {
	if c.id != "" {
		return id == c.id
	}
	return tool == c.tool && (c.input == nil || reflect.DeepEqual(c.telling(input), c.input))
}

// use takes a use that may be the one. Those of a message before it are settled, or were
// given up: the agent went on.
func (c *conversation) use(message, id string) {
	if message != c.message {
		c.message, c.late = message, false
		clear(c.ours)
	}
	if _, known := c.ours[id]; !known {
		c.ours[id] = false
	}
}
