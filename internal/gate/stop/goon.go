package stop

import (
	"context"
	"fmt"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/session/driver"
)

// goOn does what follows a call that nothing objects to: the queue and the wakes move, the
// trees that a prompt finds are remembered, and a person answers what the agent asks.
func (c *call) goOn(ctx context.Context, kc *keeper.Call, place Place, session *footprint.Session, j Judgement, answer hook.Answer, rec *event.Record) hook.Answer {
	report := c.drive(ctx, kc.Payload, j.needsPerson())
	rec.Effects = report.Effects
	c.prompted(ctx, kc.Payload, place, session, report.Typed)
	answer = answer.Input(report.Input).Tell(report.Message)
	if place.Off {
		return answer
	}
	return c.attend(ctx, kc, answer, rec)
}

// drive has Claude Code's queue and its agent seen to, after a call that nobody
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

// attend has a person answer what an agent's client asks, where nobody has objected to it.
// Whatever breaks there, Claude Code's own dialog is on the screen.
func (c *call) attend(ctx context.Context, kc *keeper.Call, answer hook.Answer, rec *event.Record) (out hook.Answer) {
	if c.Lifecycle == nil || !c.Lifecycle.Attends(kc) {
		return answer
	}
	defer recovered(c.logf, "asking a person panicked", func(any) { out = answer })
	ctx, cancel := c.limit(ctx, c.timeout(kc.Payload, kc.Project))
	defer cancel()
	start := c.Now()
	out, verdict := c.Lifecycle.Attend(ctx, kc, answer)
	verdict.Keeper, verdict.Duration = c.Lifecycle.Name(), c.Now().Sub(start)
	blocked := -1
	if out.Blocks() {
		rec.Decision, blocked = "block", 0
	}
	rec.Verdicts = append(rec.Verdicts, verdicts([]keeper.Verdict{verdict}, blocked)...)
	return out
}
