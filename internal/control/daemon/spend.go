package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// spending reads what clients spend out of their transcripts, and tells their owners.
type spending struct {
	core      *core
	stateDir  string
	configDir func(a engine.AgentStart) string // where a client keeps its transcripts, in a folder for each project
	prices    func() []config.Price

	mu     sync.Mutex
	purses map[string]*purse // by the agent's id
	news   chan struct{}
}

const (
	// countEvery is the pause between two looks at the transcripts.
	countEvery = 2 * time.Second
	// cents is how much more it costs before an owner is told: so much, or a hundredth of
	// its budget where that is less.
	cents = 0.05
	// partPatience is how long one waits for what cannot be read or told of an agent that is
	// gone.
	partPatience = time.Minute
)

func newSpending(core *core, stateDir string, configDir func(engine.AgentStart) string, prices func() []config.Price) *spending {
	return &spending{core: core, stateDir: stateDir, configDir: configDir, prices: prices, purses: map[string]*purse{}, news: make(chan struct{}, 1)}
}

// changed takes an owner that has changed. It does not block.
func (s *spending) changed(before, after *engine.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := after.Agent; a != nil && a.ClaudeCode && !a.Exited {
		s.follow(after, a.ID)
	}
	for _, e := range after.Effects {
		if e.Kind == engine.KillAgent { // until then it spends
			s.follow(after, e.Target)
		}
	}
	if after.Decision != nil && (before == nil || before.Decision == nil) { // whoever is asked wants to know
		s.look()
	}
}

// follow counts for an agent from now on.
func (s *spending) follow(o *engine.Owner, agent string) {
	if s.purses[agent] == nil {
		s.purses[agent] = newPurse(o.ID, agent, o.Spent[agent])
		s.look()
	}
}

// look makes the one who counts look now.
func (s *spending) look() { nudge.Reader(s.news) }

// run counts until the context ends.
func (s *spending) run(ctx context.Context) {
	every := time.NewTicker(countEvery)
	defer every.Stop()
	for {
		all := false
		select {
		case <-every.C:
		case <-s.news:
			all = true
		case <-ctx.Done():
			return
		}
		for _, p := range s.list() {
			s.count(ctx, p, all)
		}
	}
}

func (s *spending) list() (all []*purse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.purses {
		all = append(all, p)
	}
	return all
}

// settle tells everything that an agent has spent, which is about to be over.
func (s *spending) settle(ctx context.Context, agent string) {
	s.mu.Lock()
	p := s.purses[agent]
	s.mu.Unlock()
	if p != nil {
		s.count(ctx, p, true)
	}
}

// count reads what is new of an agent, and tells it where it matters or all is wanted. The
// purse of one that its owner has left is closed once all is told.
func (s *spending) count(ctx context.Context, p *purse, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := s.core.owner(p.owner)
	switch {
	case p.closed:
		return
	case o == nil:
		s.close(p)
		return
	}
	left := o.Agent == nil || o.Agent.ID != p.agent || o.Agent.Exited
	fault, untold := s.update(ctx, p, o, left, all || left)
	if left && !ending(o, p.agent) {
		s.part(p, errors.Join(fault, untold))
	}
}

// ending reports whether an agent may still be at work although its owner has left it.
func ending(o *engine.Owner, agent string) bool {
	return slices.ContainsFunc(o.Effects, func(e engine.OpenEffect) bool { return e.Kind == engine.KillAgent && e.Target == agent })
}

// update reads what is new of an agent, and tells it. What cannot be read does not keep
// the rest from being told.
func (s *spending) update(ctx context.Context, p *purse, o *engine.Owner, left, all bool) (fault, untold error) {
	if p.meter == nil && !left && notStarted(o) {
		return nil, nil // it has spent nothing
	}
	fault = s.take(p, o, left, all)
	s.fault(p, fault)
	if p.meter == nil {
		return fault, nil
	}
	return fault, s.record(ctx, p, o, all)
}

// fault lets people see what keeps the cost of an agent from being known; nil for nothing.
func (s *spending) fault(p *purse, err error) {
	s.core.trouble.set("cost of agent "+p.agent, err)
}

// record puts on record what an agent has spent, where that matters or all is wanted.
func (s *spending) record(ctx context.Context, p *purse, o *engine.Owner, all bool) error {
	spent := p.spent()
	if !worthRecording(o, p.recorded, spent, all) {
		return nil
	}
	in := engine.Input{ID: "spent:" + journal.NewID(), What: engine.AgentSpent{AgentID: p.agent, USD: spent.USD, Tokens: spent.Tokens}}
	err := unlessRefused(s.core.try(ctx, p.owner, in))
	if err == nil {
		p.recorded = spent
	}
	return err
}

// part closes the purse of an agent that its owner has left. Where something of it could not
// be read or told, it stays open for some time.
func (s *spending) part(p *purse, err error) {
	now := s.core.now()
	if p.left.IsZero() {
		p.left = now
	}
	if err != nil && now.Sub(p.left) < partPatience {
		return
	}
	if err != nil {
		s.core.log.Error("the cost of an agent is incomplete", "agent", p.agent, "error", err)
	}
	s.close(p)
}

func (s *spending) close(p *purse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.purses, p.agent)
	p.closed = true
	s.fault(p, nil)
}

// worthRecording reports whether an owner has to know.
func worthRecording(o *engine.Owner, recorded, now engine.Spent, all bool) bool {
	more := now.USD - recorded.USD
	if all {
		return now != recorded
	}
	limit := o.Plan.Pipeline.Budget.USD
	if limit <= 0 {
		return more >= cents
	}
	total := o.Cost().USD
	limit += o.Extended.USD
	return more >= min(cents, limit/100) || total <= limit && total+more > limit
}

// begins puts on record, before an effect starts a client, what is spent by then in the
// session that it goes on in. Afterwards nobody could tell that from its own spending.
func (s *spending) begins(ctx context.Context, o *engine.Owner, key string) error {
	if o == nil {
		return nil
	}
	e, open := o.Effect(key)
	if !open || e.Kind != engine.StartAgent || !e.Agent.ClaudeCode {
		return nil
	}
	p := newPurse(o.ID, e.Agent.ID, engine.Spent{})
	if s.recall(p) {
		return nil
	}
	if err := s.inherit(ctx, o, e.Agent); err != nil {
		return err
	}
	return s.found(p, *e.Agent)
}

// inherit closes the purses of agents that were in the session which another is about to go
// on in: what comes into it from now on is not theirs. What could not be read of it by now
// is not in the other's base either, and so becomes the other's.
func (s *spending) inherit(ctx context.Context, o *engine.Owner, by *engine.AgentStart) error {
	for _, p := range s.list() {
		if p.owner != o.ID || p.agent == by.ID {
			continue
		}
		if err := s.last(ctx, p, o, by.Resume); err != nil {
			return err
		}
	}
	return nil
}

// last counts an agent for the last time, if it was in that session.
func (s *spending) last(ctx context.Context, p *purse, o *engine.Owner, session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	_, untold := s.update(ctx, p, o, true, true)
	if !slices.Contains(p.kept.Sessions, session) {
		return nil
	}
	if untold == nil {
		s.close(p)
	}
	return untold
}
