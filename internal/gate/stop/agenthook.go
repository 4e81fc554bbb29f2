package stop

import (
	"context"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/lifecycle"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/hook"
)

// AgentStop answers a stop by an agent's lifecycle alone, for a client whose settings name no
// other keeper. Standard input may hold anything, and the exit code is 0 always.
func (s *Service) AgentStop(ctx context.Context, agent string, stdin io.Reader) (reply Reply) {
	if claude.Inside(s.Environ) {
		return Reply{}
	}
	defer recovered(s.logf, "panic", func(r any) {
		reply = Telling(fmt.Sprintf("stopgate: internal error, the stop was allowed: %v", r))
	})

	payload, err := readStop(stdin)
	if err != nil { // then it is taken for a first stop
		s.logf("agent hook stop: %v", err)
		payload = &hook.StopPayload{}
		payload.HookEventName = string(hook.Stop)
	}
	return s.newCall().agentStop(ctx, agent, payload)
}

func (c *call) agentStop(ctx context.Context, agent string, payload *hook.StopPayload) Reply {
	rec, place := c.receiveStop(payload)
	call := c.keeperCall(payload, place)
	call.BlockedBefore = payload.StopHookActive
	c.Lifecycle.WitnessAlone(call, agent)

	j, last := c.judgeAlone(place, func() keeper.Verdict {
		return c.askAlone(ctx, alone{c.Lifecycle, agent}, call, c.timeout(payload, place.Project))
	})
	var answer hook.Answer
	if last.Blocks() {
		answer = hook.Block(hook.Stop, last.Reason)
	} else {
		report := c.drive(ctx, payload, false)
		rec.Effects = report.Effects
		answer = answer.Tell(report.Message)
	}
	c.concludeAlone(rec, payload, place, j, "agent hook stop runs no gates")

	answer = answer.Tell(spoken(last))
	if c.journalErr != nil {
		answer = answer.Tell("stopgate: " + c.journalErr.Error())
	}
	return Reply{Stdout: answer.Bytes()}
}

// alone is the lifecycle keeper for an agent that the command line names.
type alone struct {
	*lifecycle.Keeper
	agent string
}

// Judge implements keeper.Keeper.
func (a alone) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	return a.Alone(ctx, call, a.agent)
}
