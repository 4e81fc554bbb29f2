package stop

import (
	"context"
	"fmt"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/session/driver"
)

// drive has the client's queue and its agent seen to, after a call that nobody
// objected to. Whatever breaks there, the call is answered. held means that a person has to
// decide before anything goes on.
func (c *call) drive(ctx context.Context, payload hook.Payload, held bool) (report driver.Report) {
	if c.Driver == nil {
		return driver.Report{}
	}
	defer recovered(c.logf, "the session driver panicked", func(r any) {
		report = driver.Report{Message: fmt.Sprintf("stopgate: internal error in the session driver: %v", r)}
	})
	c.Driver.Screen = c.global.Terminal
	report = c.Driver.Hook(ctx, driver.Call{ID: c.id, Payload: payload, OursBlocked: c.oursBlocked(payload), Held: held})
	if report.Message != "" {
		report.Message = "stopgate: " + report.Message
	}
	return report
}

// oursBlocked reports whether a keeper of ours blocked this prompt before.
func (c *call) oursBlocked(payload hook.Payload) bool {
	p, isStop := payload.(*hook.StopPayload)
	if !isStop || !p.StopHookActive {
		return false
	}
	blocks, err := NewCounter(c.StateDir).Blocks(Turn{Session: p.SessionID, Prompt: p.PromptID})
	if err != nil {
		c.logf("%v", err)
	}
	return len(blocks) > 0
}
