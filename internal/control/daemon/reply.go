package daemon

import (
	"context"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// replyPatience is how long a hook waits for an answer before it is told that there is
// none yet. It asks again then.
const replyPatience = 25 * time.Second

func (p *plane) Reply(ctx context.Context, agent, ref string, through journal.Position) (daemonapi.Reply, error) {
	gone := p.waiters.wait(waited(agent, ref))
	defer func() { gone(ctx.Err() == nil) }()
	if err := p.ingest.through(ctx, through); err != nil {
		return daemonapi.Reply{}, err
	}
	late := time.NewTimer(replyPatience)
	defer late.Stop()
	for asked := false; ; asked = true {
		changes := p.core.news.Rung()
		var reply daemonapi.Reply
		p.core.look(func(s *engine.State) { reply = s.Reply(agent, ref) })
		reply.Over = reply.Over || asked && reply.State == engine.ReplyNone
		if reply.State != engine.ReplyOpen {
			return reply, nil
		}
		select {
		case <-changes:
		case <-late.C:
			return reply, nil
		case <-ctx.Done():
			return daemonapi.Reply{}, ctx.Err()
		}
	}
}

// waited is what hooks wait for under, who may all choose their references.
func waited(agent, ref string) string { return agent + "/" + ref }

// heeded refuses an answer that a hook would have to take to the agent when none waits
// for it: Claude Code shows its own dialog by then, or is gone.
func (p *plane) heeded(ctx context.Context, d engine.Decision, a engine.Answer) error {
	if d.Ref == "" || !d.Resolved.IsZero() || d.Cancels(a) || p.waiters.expect(ctx, waited(d.AgentID, d.Ref)) {
		return nil
	}
	return api.Refusal("conflict", "the agent no longer waits for this answer; answer in its terminal", "stopgate agent attach "+d.AgentID)
}

func (p *plane) Send(ctx context.Context, agent string, s daemonapi.Send) (daemonapi.Agent, error) {
	view, err := p.Agent(ctx, agent)
	if err != nil {
		return daemonapi.Agent{}, err
	}
	o, err := p.request(ctx, view.Owner, s.ID, engine.Tell{AgentID: view.ID, Message: s.Message})
	switch {
	case err != nil:
		return daemonapi.Agent{}, err
	case o.Agent != nil: // it may be another one by now, in its place
		return *o.Agent, nil
	}
	return p.Agent(ctx, view.ID)
}

// Kill ends that agent and no other, also not one that has taken its place.
func (p *plane) Kill(ctx context.Context, agent string, k daemonapi.Kill) (daemonapi.Agent, error) {
	view, err := p.Agent(ctx, agent)
	if err != nil {
		return daemonapi.Agent{}, err
	}
	if strings.HasPrefix(view.ID, agent) {
		agent = view.ID
	}
	o, err := p.request(ctx, view.Owner, k.ID, engine.Kill{AgentID: agent})
	switch {
	case err != nil:
		return daemonapi.Agent{}, err
	case o.Agent != nil && o.Agent.ID == agent:
		return *o.Agent, nil
	}
	return view, nil
}
