package stop

import (
	"context"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
)

// attend has a person answer what an agent's client asks, where nobody has objected to it.
// Whatever breaks there, the client's own dialog is on the screen.
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
