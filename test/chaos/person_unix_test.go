//go:build unix

package chaos

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// person starts owners, sees what becomes of them, and answers what they ask.
type person struct {
	*keeper
	kinds map[string]kind
	fail  func(error)
	busy  sync.WaitGroup

	mu    sync.Mutex
	over  map[string]chan struct{} // by owner: closed when it is at its end
	ended map[string]bool
	done  map[string]bool // what was done for them, by the request's id
}

func newPerson(k *keeper, fail func(error)) *person {
	p := &person{keeper: k, kinds: map[string]kind{}, fail: fail, over: map[string]chan struct{}{}, ended: map[string]bool{}, done: map[string]bool{}}
	for _, kind := range kinds() {
		p.kinds[kind.name] = kind
	}
	return p
}

// run has an owner of a kind run to its end.
func (p *person) run(ctx context.Context, id string, k kind) error {
	over := make(chan struct{})
	p.mu.Lock()
	p.over[id] = over
	p.mu.Unlock()
	start := daemonapi.Start{ID: id, Project: p.root, Cwd: p.root, Command: k.name}
	err := p.ask(ctx, func() error {
		_, err := p.client.Start(ctx, start)
		return err
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", k.name, err)
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s %s: %w", k.name, id, ctx.Err())
	}
}

// look sees all that happens, over all lives of the daemon, until the context ends.
func (p *person) look(ctx context.Context) {
	var after uint64
	for ctx.Err() == nil {
		l, err := p.alive(ctx)
		if err != nil {
			return
		}
		for e, err := range p.client.Events(ctx, "", after) {
			if err != nil {
				break
			}
			if e.Position <= after {
				p.fail(fmt.Errorf("event %d came after event %d", e.Position, after))
			}
			after = e.Position
			if slices.Contains(e.Facts, "effect:started") {
				select {
				case p.acts <- struct{}{}:
				default: // nobody waits for it
				}
			}
			p.see(ctx, e)
		}
		if err := l.awaitEnd(ctx); err != nil && ctx.Err() == nil {
			p.fail(fmt.Errorf("the stream of events ended, and %w", err))
			return
		}
	}
}

// see does what a person would.
func (p *person) see(ctx context.Context, e daemonapi.Event) {
	o := e.Now
	if o == nil {
		return
	}
	k := p.kinds[o.Command]
	switch {
	case k.over(o):
		p.mu.Lock()
		defer p.mu.Unlock()
		if over := p.over[o.ID]; over != nil && !p.ended[o.ID] {
			p.ended[o.ID] = true
			close(over)
		}
	case o.Decision != nil:
		answer := k.answer
		if o.Decision.Source == "lost" {
			answer = daemonapi.Answer{Option: "retry"}
		}
		answer.ID = o.Decision.ID
		p.act(ctx, answer.ID, "answer "+o.Command, func() error {
			_, err := p.client.Answer(ctx, o.Decision.ID, answer)
			return err
		})
	case k.resume && o.Status == "failed":
		p.act(ctx, o.ID, "resume", func() error {
			_, err := p.client.Resume(ctx, o.ID, daemonapi.Resume{ID: o.ID})
			return err
		})
	case k.cancel != "" && o.Step == k.cancel && slices.Contains(e.Facts, "effect:done"):
		p.act(ctx, o.ID, "cancel", func() error {
			_, err := p.client.Cancel(ctx, o.ID, daemonapi.Cancel{ID: o.ID})
			return err
		})
	}
}

// act does something once, however long that takes.
func (p *person) act(ctx context.Context, request, what string, do func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done[request] {
		return
	}
	p.done[request] = true
	p.busy.Go(func() {
		if err := p.ask(ctx, do); err != nil && ctx.Err() == nil {
			p.fail(fmt.Errorf("%s: %w", what, err))
		}
	})
}
