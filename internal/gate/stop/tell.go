package stop

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/notify"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// compose makes one answer of all verdicts.
func compose(e hook.Event, place Place, j Judgement) hook.Answer {
	var answer hook.Answer
	if j.Blocked >= 0 {
		answer = hook.Block(e, j.Verdicts[j.Blocked].Reason)
	}
	if loud(e) {
		for _, v := range place.Verdicts {
			answer = answer.Tell(spoken(v))
		}
	}
	for _, v := range j.Verdicts {
		answer = answer.Tell(spoken(v))
	}
	return answer
}

// loud reports whether an event is one at which a person is told that nothing
// is enforced. On every tool call that would be noise.
func loud(e hook.Event) bool { return e.Loops() || e == hook.SessionStart }

func spoken(v keeper.Verdict) string {
	if v.Message == "" {
		return ""
	}
	return "stopgate: " + v.Message
}

// tell notifies the person, where a command for that is configured. In quiet hours nobody
// is told: a hook cannot wait for their end.
func (c *call) tell(payload hook.Payload, root string, j Judgement) {
	var messages []string
	if p, ok := payload.(*hook.SubagentStopPayload); ok && j.Blocked < 0 {
		messages = append(messages, subagentDone(p))
	}
	for _, v := range j.Verdicts {
		if v.Notify {
			messages = append(messages, about(payload, root)+v.Message)
		}
	}
	if len(messages) == 0 {
		return
	}

	ways := notify.Route(c.global.Notify, paths.Home(c.getenv), place(payload, root))
	if ways.Command == "" || ways.Muted || !notify.QuietUntil(ways.Quiet, c.Now().Local()).IsZero() {
		return
	}

	page := daemonapi.PageURL(c.StateDir)
	for _, message := range messages {
		if page != "" {
			message += "\n" + page + "/stops/" + c.id
		}
		if err := notify.Command(ways.Command, message, c.StateDir, c.Environ); err != nil {
			c.logf("notify: %v", err)
		}
	}
}

// place is where the work is that is told of.
func place(payload hook.Payload, root string) string {
	if root != "" {
		return root
	}
	return payload.Common().CWD
}

// about says which work a message is about.
func about(payload hook.Payload, root string) string {
	if root = place(payload, root); root == "" {
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
