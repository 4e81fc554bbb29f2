package stop

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/notify"
)

// compose makes one answer of all opinions.
func compose(e hook.Event, about []Opinion, j Judgement) hook.Answer {
	var answer hook.Answer
	if j.Blocked >= 0 {
		answer = hook.Block(e, j.Opinions[j.Blocked].Reason)
	}
	if loud(e) {
		for _, o := range about {
			answer = answer.Tell(spoken(o))
		}
	}
	for _, o := range j.Opinions {
		answer = answer.Tell(spoken(o))
	}
	return answer
}

// loud reports whether an event is one at which a person is told that nothing
// is enforced. On every tool call that would be noise.
func loud(e hook.Event) bool { return e.Loops() || e == hook.SessionStart }

func spoken(o Opinion) string {
	if o.Message == "" {
		return ""
	}
	return "stopgate: " + o.Message
}

// tell notifies the person, where a command for that is configured.
func (c *call) tell(payload hook.Payload, root string, opinions []Opinion, blocked bool) {
	if c.global.Notify.Command == "" {
		return
	}
	var messages []string
	if p, ok := payload.(*hook.SubagentStopPayload); ok && !blocked {
		messages = append(messages, subagentDone(p))
	}
	for _, o := range opinions {
		if o.Notify {
			messages = append(messages, about(payload, root)+o.Message)
		}
	}
	for _, message := range messages {
		if err := notify.Command(c.global.Notify.Command, message, c.StateDir, c.Environ); err != nil {
			c.logf("notify: %v", err)
		}
	}
}

// about says which work a message is about.
func about(payload hook.Payload, root string) string {
	if root == "" {
		root = payload.Common().CWD
	}
	if root == "" {
		return ""
	}
	return root + ": "
}

func subagentDone(p *hook.SubagentStopPayload) string {
	if p.AgentType == "" {
		return fmt.Sprintf("subagent %s finished", p.AgentID)
	}
	return fmt.Sprintf("subagent %s (%s) finished", p.AgentID, p.AgentType)
}
