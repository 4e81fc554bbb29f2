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
	path   string
	tool   string
	id     string          // of the use; most clients do not say
	input  any             // nil: whatever it is
	at     int64           // read so far
	since  int64           // where it ended when the question was asked
	rest   []byte          // of a line that is not whole
	ours   map[string]bool // ids of uses that may be the one
	passed bool            // the line that is left over is longer than anything we look for
}

func newConversation(payload *hook.PermissionRequestPayload, kind string) *conversation {
	c := &conversation{path: payload.TranscriptPath, tool: payload.ToolName, id: payload.ToolUseID, ours: map[string]bool{}}
	if kind == agentdir.Permission { // the client adds to the input of the others
		_ = json.Unmarshal(payload.ToolInput, &c.input) // nil then
	}
	if info, err := os.Stat(c.path); err == nil {
		c.since = info.Size()
	}
	// The use itself may be written already. What the first line is cut off of does not matter.
	c.at = max(c.since-tailSize, 0)
	return c
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

// take takes the next part of the transcript.
func (c *conversation) take(text []byte) bool {
	const longest = 8 << 20 // of a line
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			if c.rest = append(c.rest, line...); len(c.rest) > longest {
				c.rest, c.passed = nil, true
			}
			return false
		}
		line = append(c.rest, line...)
		skip := c.passed
		c.rest, c.passed, text = nil, false, rest
		end := c.at - int64(len(text))
		if !skip && c.line(line, end > c.since) {
			return true
		}
	}
}

// line reports whether a line holds the result of the use.
func (c *conversation) line(line []byte, late bool) bool {
	var e entry
	if !bytes.Contains(line, []byte(`"tool_`)) || json.Unmarshal(line, &e) != nil || e.Side {
		return false
	}
	var blocks []struct {
		Type, ID, Name string
		Input          any
		Use            string `json:"tool_use_id"`
	}
	_ = json.Unmarshal(e.Message.Content, &blocks) // a text holds no uses
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			if b.ID == c.id || c.id == "" && b.Name == c.tool && (c.input == nil || reflect.DeepEqual(b.Input, c.input)) {
				c.ours[b.ID] = true
			}
		case "tool_result":
			if late && (c.ours[b.Use] || c.id != "" && b.Use == c.id) {
				return true
			}
		}
	}
	return false
}
