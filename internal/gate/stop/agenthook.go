package stop

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/lifecycle"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
)

// AgentStop answers a stop by an agent's lifecycle alone, for a client whose settings name no
// other keeper. Standard input may hold anything, and the exit code is 0 always.
func (s *Service) AgentStop(ctx context.Context, agent string, stdin io.Reader) (reply Reply) {
	if claude.Inside(s.Environ) {
		return Reply{}
	}
	defer func() {
		if r := recover(); r != nil {
			s.logf("panic: %v\n%s", r, debug.Stack())
			reply = Reply{Stdout: hook.Answer{}.Tell(fmt.Sprintf("stopgate: internal error, the agent was not held: %v", r)).Bytes()}
		}
	}()
	payload := s.readStop(stdin)
	return s.newCall().agentStop(ctx, agent, payload)
}

// readStop takes what it cannot read for a first stop.
func (s *Service) readStop(stdin io.Reader) *hook.StopPayload {
	raw, err := hook.Read(stdin, hook.ReadPatience)
	if err == nil {
		var payload *hook.StopPayload
		if payload, err = hook.DecodeStop(raw); err == nil {
			return payload
		}
	}
	s.logf("agent hook stop: %v", err)
	payload := &hook.StopPayload{}
	payload.HookEventName = string(hook.Stop)
	return payload
}

func (c *call) agentStop(ctx context.Context, agent string, payload *hook.StopPayload) Reply {
	rec := record(payload, c.start)
	rec.Pane = c.getenv("TMUX_PANE")
	rec.Project = c.root(payload)
	c.write(rec, event.Received)

	place := c.locate(rec.Project, payload)
	kc := c.keeperCall(payload, place)
	kc.BlockedBefore = payload.StopHookActive
	c.Lifecycle.WitnessAlone(kc, agent)
	opinions := place.Opinions
	if !place.Off {
		opinions = append(opinions, c.holdAlone(ctx, kc, agent))
	}
	last := opinions[len(opinions)-1]
	var answer hook.Answer
	rec.Decision, rec.Verdicts = "allow", verdicts(opinions, -1)
	if last.Blocks() {
		answer = hook.Block(hook.Stop, last.Reason)
		rec.Decision, rec.Verdicts = "block", verdicts(opinions, len(opinions)-1)
	} else {
		report := c.drive(ctx, payload, false)
		rec.Effects = report.Effects
		answer = answer.Tell(report.Message)
	}
	rec.Trees = gauntlet.NotAsked(place.Project, c.global, c.Environ, "agent hook stop asks no gates")
	c.write(rec, event.Answered)
	c.tell(payload, place.Root, opinions, last.Blocks())
	answer = answer.Tell(spoken(last))
	if c.journalErr != nil {
		answer = answer.Tell("stopgate: " + c.journalErr.Error())
	}
	return Reply{Stdout: answer.Bytes()}
}

// holdAlone asks the lifecycle keeper, as the chain would.
func (c *call) holdAlone(ctx context.Context, kc *keeper.Call, agent string) Opinion {
	ctx, cancel := c.limit(ctx, c.timeout(kc.Payload, kc.Project))
	defer cancel()
	start := c.Now()
	chain := Chain{Now: c.Now, Log: c.logf}
	verdict := chain.ask(ctx, alone{c.Lifecycle, agent}, kc)
	return Opinion{c.Lifecycle.Name(), verdict, c.Now().Sub(start)}
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
