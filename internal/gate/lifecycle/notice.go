package lifecycle

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

// noticeEvery is how often the transcript is looked at while somebody waits.
const noticeEvery = time.Second

// lookout finds out why nobody needs an answer any more; nil while somebody does. The client
// tells no hook that a person has answered its own dialog, but its conversation goes on
// then; and a client that was killed, and older ones that end, leave their hooks alone.
func (p *prompt) lookout(payload *hook.PermissionRequestPayload) func() error {
	parent := p.keeper.Parent()
	use := newToolUse(payload, p.asked.Type)
	return func() error {
		switch {
		case p.keeper.Parent() != parent:
			return errClientGone
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
