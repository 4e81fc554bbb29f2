package effect

import (
	"context"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// Route are agents of two kinds: clients, which people can watch and talk to, and plain
// processes. Once one was started, what is on disk tells which it is.
func (e Errands) Route(terminals, plain Agents) Agents { return router{e, terminals, plain} }

type router struct {
	Errands
	terminals, plain Agents
}

func (r router) Start(ctx context.Context, o *engine.Owner, a engine.AgentStart) error {
	if a.ClaudeCode {
		return r.terminals.Start(ctx, o, a)
	}
	return r.plain.Start(ctx, o, a)
}

func (r router) Wait(ctx context.Context, agent string) (errand.Result, error) {
	return r.of(agent).Wait(ctx, agent)
}

func (r router) Send(ctx context.Context, agent, key, text string) error {
	return r.of(agent).Send(ctx, agent, key, text)
}

func (r router) Kill(ctx context.Context, agent string) error { return r.of(agent).Kill(ctx, agent) }

// of are the agents that one is among.
func (r router) of(agent string) Agents {
	if dir, err := r.Dir(agent); err == nil && errand.Terminal(dir) {
		return r.terminals
	}
	return r.plain
}

// End ends what clients have left behind, for a daemon that stops with everything that it
// has started.
func (r router) End(ctx context.Context) error {
	if c, ok := r.terminals.(ender); ok {
		return c.End(ctx)
	}
	return nil
}
