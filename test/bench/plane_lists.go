//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/record/event"
)

// lists are what a page asks for, each with the default number of items.
var lists = []string{
	"/v1/pipelines", "/v1/pipelines?status=failed,waiting", "/v1/pipelines?project=/nowhere", "/v1/agents", "/v1/agents?all=1", "/v1/agents?all=1&name=worker&status=exited",
	"/v1/decisions", "/v1/decisions?settled=1", "/v1/events/history?data=1", "/v1/events/history?type=decision:created", "/v1/gates", "/v1/gates?project=/nowhere", "/v1/status",
}

// planeLists measures the daemon's lists by how many owners there are.
func planeLists(ctx context.Context, l *lab, r *report) error {
	const limit, rounds = 50, 20
	sizes := []int{100, 10_000}
	daemons := make([]*ownDaemon, len(sizes))
	for i, size := range sizes {
		p, err := l.listed(ctx, fmt.Sprintf("lists-%d", size), size)
		if err != nil {
			return err
		}
		defer p.kill()
		daemons[i] = p
	}

	r.table("**Lists of 10,000 pipelines**, a page of 50 each, beside those of 100")
	for _, path := range lists {
		m := make([]series, len(sizes))
		for range rounds {
			for i, p := range daemons {
				begun := time.Now()
				var answer any
				if err := p.Ask(ctx, "GET", path, nil, &answer); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				m[i].add(time.Since(begun), 0)
			}
		}
		name := "GET " + path
		r.row(name, &m[1], figure{m[1].median().Seconds() * 1e3, fmt.Sprintf("ms, %.1f times 100", m[1].ratioTo(&m[0])), limit})
	}
	return nil
}

// listed is a daemon with so many pipelines, and as many stops that gates have judged.
func (l *lab) listed(ctx context.Context, name string, owners int) (*ownDaemon, error) {
	state, err := l.state(name)
	if err != nil {
		return nil, err
	}
	if err := fillOwners(ctx, database(state), owners); err != nil {
		return nil, err
	}
	j := journalOf(state)
	for i := range owners {
		gates := []event.Gate{{Job: "test", Outcome: "passed", DurationMS: 700, Log: "/home/user/log/" + strings.Repeat("x", 40)}, {Job: "lint", Outcome: "failed", Why: "exit code 1"}}
		_, err := j.Append(&event.Record{
			Call: fmt.Sprint(i), Kind: event.Answered, Event: "PostToolUse", Session: "s", Project: "/home/user/src/project", Decision: "block",
			Trees: []event.Tree{{Root: "/home/user/src/project", Status: "failed", Gates: gates}},
		})
		if err != nil {
			return nil, err
		}
	}
	p, _, err := l.startDaemon(ctx, state)
	if err != nil {
		return nil, err
	}
	status, err := p.Status(ctx)
	if all := status.Pipelines; err != nil || all.Done+all.Running+all.Waiting != owners || all.Waiting == 0 {
		p.kill()
		return nil, fmt.Errorf("the daemon has %+v: %w", status, err)
	}
	return p, nil
}

// fillOwners makes a store with so many pipelines: of twenty, one waits for a person, one is at work,
// and the others have ended.
func fillOwners(ctx context.Context, path string, owners int) error {
	return fill(ctx, path, func(hand int, put func(store.NewEvent) (store.Position, error)) error {
		for i := hand; i < owners; i += hands {
			l := &life{put: put}
			err := l.work(ownerID(fmt.Sprint(i)))
			switch {
			case err != nil:
			case i%20 == 0:
				err = l.tell(engine.AgentSignal{AgentID: l.owner.Agent.ID, Signal: engine.Signal{Kind: engine.SignalEscalate, Message: "Which database?"}}, true)
			case i%20 != 1:
				err = l.end()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
