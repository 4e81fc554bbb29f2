package lifecycle

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/transcript"
)

// toolUse is the use of a tool that somebody is asked about, as the transcript tells of it.
type toolUse struct {
	tool    string
	kind    string
	id      string // of the use; most clients do not say
	input   any    // what of it tells the use from others; nil: whatever it is
	lines   *transcript.Follower
	since   int64           // where they ended when the question was asked
	message string          // the id of the message with the uses
	ours    map[string]bool // the uses in it that may be the one, and whether they have their results
	late    bool            // one of these came after the question
}

func newToolUse(payload *hook.PermissionRequestPayload, kind string) *toolUse {
	u := &toolUse{tool: payload.ToolName, kind: kind, id: payload.ToolUseID, ours: map[string]bool{}}
	u.input = u.telling(payload.ToolUse)
	if info, err := os.Stat(payload.TranscriptPath); err == nil {
		u.since = info.Size()
	}
	// The use itself may be written already. What the first line is cut off of does not matter.
	u.lines = transcript.FollowFrom(payload.TranscriptPath, max(u.since-tailSize, 0))
	return u
}

// telling is what of an input tells a use from others. Claude Code adds to that of
// questions, and of plans there is one at a time.
func (u *toolUse) telling(use hook.ToolUse) (input any) {
	switch u.kind {
	case agentdir.Question:
		if questions, _ := use.Questions(); questions != nil {
			input = questions
		}
	case agentdir.Plan:
	default:
		_ = json.Unmarshal(use.ToolInput, &input) // nil then
	}
	return input
}

// settled reads what is new, and reports whether the use has its result. Where several may be
// the one, such as the same command twice in one message, nobody can tell which was answered
// before all are.
func (u *toolUse) settled() bool {
	if u.lines.Next(func(line []byte) { u.line(line, u.lines.At() > u.since) }) != nil {
		return false // it is read the next time
	}
	for _, has := range u.ours {
		if !has {
			return false
		}
	}
	return u.late
}

// line takes a line of the conversation.
func (u *toolUse) line(line []byte, late bool) {
	tools := transcript.ToolsIn(line)
	for _, use := range tools.Uses {
		if u.is(use) {
			u.use(tools.Message, use.ToolUseID)
		}
	}
	for _, id := range tools.Results {
		if _, ours := u.ours[id]; ours || u.id != "" && id == u.id {
			u.ours[id], u.late = true, u.late || late
		}
	}
}

// is reports whether a use may be the one.
func (u *toolUse) is(use hook.ToolUse) bool {
	if u.id != "" {
		return use.ToolUseID == u.id
	}
	return use.ToolName == u.tool && (u.input == nil || reflect.DeepEqual(u.telling(use), u.input))
}

// use takes a use that may be the one. Those of a message before it are settled, or were
// given up: the agent went on.
func (u *toolUse) use(message, id string) {
	if message != u.message {
		u.message, u.late = message, false
		clear(u.ours)
	}
	if _, known := u.ours[id]; !known {
		u.ours[id] = false
	}
}

// noticeEvery is how often the transcript is looked at while somebody waits.
const noticeEvery = time.Second

// lookout returns a function that says why the question is settled; nil while it is open. Claude Code calls no hook when a
// person has answered its own dialog, but its transcript then goes on. A Claude Code process that is killed, and
// an older version that exits, leaves its hooks running.
func (p *prompt) lookout(payload *hook.PermissionRequestPayload) func() error {
	parent := p.keeper.Parent()
	use := newToolUse(payload, p.asked.Type)
	return func() error {
		switch {
		case p.keeper.Parent() != parent:
			return errClaudeGone
		// A subagent's conversation is elsewhere: there its stop has to do.
		case payload.AgentID == "" && use.settled():
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
