//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// stops measures what a hook of a managed agent does when the agent wants to stop, from
// its record in the journal to the daemon's answer, with few and with many agents.
func stops(ctx context.Context, l *lab, r *report) error {
	const limit, rounds = 3, 500
	few, err := l.managed(ctx, "few", 10)
	if err != nil {
		return err
	}
	defer few.kill()
	many, err := l.managed(ctx, "many", 1000)
	if err != nil {
		return err
	}
	defer many.kill()
	if err := settle(ctx); err != nil {
		return err
	}
	m, err := turns(rounds, 4, func(i int) (time.Duration, float64, error) {
		took, err := []*managed{few, many}[i%2].stop(ctx, i > 1)
		return took, 0, err
	})
	if err != nil {
		return err
	}
	r.table("**A stop answered through the daemon**: the record in the journal, and the answer whether the agent signalled")
	r.reference("10 agents", &m[0])
	r.row("1,000 agents", &m[1], figure{m[1].ratioTo(&m[0]), "times 10 agents", limit})
	r.reference("10 agents, the record synced", &m[2])
	r.row("1,000 agents, the record synced", &m[3], figure{m[3].ratioTo(&m[2]), "times 10 agents", limit})
	for _, synced := range []bool{false, true} {
		name := "1,000 agents, 30 of them at once"
		if synced {
			name += ", the record synced"
		}
		crowd, err := many.atOnce(ctx, 30, 200, synced)
		if err != nil {
			return err
		}
		r.row(name, crowd, figure{crowd.quantile(0.99).Seconds() * 1e3, "ms for 99 of 100", 0})
	}
	return nil
}

// managed is a daemon with agents at work.
type managed struct {
	*ownDaemon
	mu     sync.Mutex
	agents []string
	next   int
}

func (l *lab) managed(ctx context.Context, name string, agents int) (*managed, error) {
	state, err := l.state(name)
	if err != nil {
		return nil, err
	}
	ids, err := fillAgents(ctx, database(state), agents)
	if err != nil {
		return nil, err
	}
	p, _, err := l.startDaemon(ctx, state)
	if err != nil {
		return nil, err
	}
	status, err := p.Status(ctx)
	if err == nil && status.Agents != agents {
		err = fmt.Errorf("%d agents are at work, want %d", status.Agents, agents)
	}
	if err != nil {
		p.kill()
		return nil, err
	}
	return &managed{ownDaemon: p, agents: ids}, nil
}

// stop is the stop of the next agent. None of them has signalled.
func (m *managed) stop(ctx context.Context, synced bool) (time.Duration, error) {
	m.mu.Lock()
	agent := m.agents[m.next%len(m.agents)]
	m.next++
	m.mu.Unlock()
	active := false
	record := event.Record{
		Call: journal.NewID(), Kind: event.Received, Event: "Stop", Session: agent,
		Prompt: "bench", Enums: event.Enums{StopHookActive: &active},
	}
	if synced {
		record.Project = m.state
	}
	if record.Durable() != synced {
		return 0, fmt.Errorf("the record of a stop: durable is %t", record.Durable())
	}
	begun := time.Now()
	position, err := m.journal.Append(&record)
	if err != nil {
		return 0, err
	}
	signal, err := m.Signal(ctx, agent, position)
	took := time.Since(begun)
	if err == nil && signal.Signaled {
		err = fmt.Errorf("agent %s is said to have signalled", agent)
	}
	return took, err
}

// atOnce is so many sessions in which one stop follows the other.
func (m *managed) atOnce(ctx context.Context, sessions, each int, synced bool) (*series, error) {
	var all errgroup.Group
	var mu sync.Mutex
	s := &series{}
	for range sessions {
		all.Go(func() error {
			for range each {
				took, err := m.stop(ctx, synced)
				if err != nil {
					return err
				}
				mu.Lock()
				s.add(took, 0)
				mu.Unlock()
			}
			return nil
		})
	}
	return s, all.Wait()
}

// quantile is the time that a part of all stay below.
func (s *series) quantile(part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s.times))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}
