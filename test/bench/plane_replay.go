//go:build unix

package main

import (
	"context"
	"fmt"
)

// replay measures the start of a daemon by how many events there are.
func replay(ctx context.Context, l *lab, r *report) error {
	const limit, rounds = 15, 3
	sizes := []int{100_000, 1_000_000}
	var states []string
	for _, size := range sizes {
		state, err := l.state(fmt.Sprintf("replay-%d", size))
		if err != nil {
			return err
		}
		if err := fillEvents(ctx, database(state), size); err != nil {
			return err
		}
		states = append(states, state)
	}
	m := make([]series, len(sizes))
	for range rounds {
		for i, state := range states {
			if err := l.startOnce(ctx, state, sizes[i], &m[i]); err != nil {
				return err
			}
		}
	}
	r.table("**Start of a daemon** that reads all events, and one that reads a snapshot")
	name := func(i int) string {
		return fmt.Sprintf("%d events, %.1f µs each", sizes[i], m[i].median().Seconds()*1e6/float64(sizes[i]))
	}
	r.reference(name(0), &m[0])
	r.row(name(1), &m[1], figure{m[1].ratioTo(&m[0]), "times the row above", limit})
	p, _, err := l.startDaemon(ctx, states[1])
	if err != nil {
		return err
	}
	if err := p.end(); err != nil { // which saves a snapshot
		return err
	}
	var saved series
	for range rounds {
		if err := l.startOnce(ctx, states[1], sizes[1], &saved); err != nil {
			return err
		}
	}
	r.row(fmt.Sprintf("%d events, with a snapshot", sizes[1]), &saved, figure{saved.ratioTo(&m[1]), "times without", 0})
	return nil
}

// startOnce measures one start, after which nothing is saved.
func (l *lab) startOnce(ctx context.Context, state string, events int, s *series) error {
	p, took, err := l.startDaemon(ctx, state)
	if err != nil {
		return err
	}
	defer p.kill()
	status, err := p.Status(ctx)
	if err != nil {
		return err
	}
	if status.Events < uint64(events) || status.Pipelines.Done < events/50 {
		return fmt.Errorf("the daemon has %+v", status)
	}
	s.add(took, 0)
	return nil
}
