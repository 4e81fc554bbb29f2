//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// backlog measures the start of a daemon that was away for long.
func backlog(ctx context.Context, l *lab, r *report) error {
	const lines, agents, rounds = 1_000_000, 1000, 3
	place, err := l.state("backlog")
	if err != nil {
		return err
	}
	var s series
	for round := range rounds {
		state, err := l.state(fmt.Sprintf("backlog-%d", round))
		if err != nil {
			return err
		}
		ids, err := fillAgents(ctx, database(state), agents) // the same ones each time
		if err != nil {
			return err
		}
		if round == 0 {
			if err := writeBacklog(journalOf(place), ids, lines); err != nil {
				return err
			}
		}
		took, err := l.catchUp(ctx, place, state)
		if err != nil {
			return err
		}
		s.add(took, 0)
	}
	r.table("**A journal of 1,000,000 lines** that was written while no daemon was there, 10,000 of them about 1,000 agents of its own")
	r.row("start of the daemon", &s, figure{lines / s.median().Seconds(), "lines a second", 0})
	return nil
}

// catchUp starts a daemon with the journal of another place. All agents have said there
// that they are done.
func (l *lab) catchUp(ctx context.Context, place, state string) (time.Duration, error) {
	from, to := filepath.Join(place, "journal"), filepath.Join(state, "journal")
	if err := os.Rename(from, to); err != nil {
		return 0, err
	}
	p, took, err := l.startDaemon(ctx, state)
	if err != nil {
		return 0, err
	}
	status, err := p.Status(ctx)
	if err == nil && (status.Agents != 0 || status.Pipelines.Running == 0) {
		err = fmt.Errorf("the daemon has %+v", status)
	}
	p.kill()
	return took, errors.Join(err, os.Rename(to, from))
}

// writeBacklog writes what happened: one line in a hundred is about one of our agents, the
// others are hooks of clients that nobody manages.
func writeBacklog(j *journal.Journal, agents []string, lines int) error {
	for line := range lines {
		record := stranger(line)
		if line%100 == 0 {
			record = acquaintance(agents, line/100, lines/100)
		}
		if _, err := j.Append(&record); err != nil {
			return err
		}
	}
	return nil
}

// stranger is a record of a hook call, of which there are two each, in a session of which
// the daemon knows nothing.
func stranger(line int) event.Record {
	r := event.Record{
		Call: journal.NewID(), Kind: event.Received, Session: fmt.Sprintf("5f1c2a9e-0000-4000-8000-%012d", line/1000),
		Prompt: fmt.Sprintf("8d3f0b7c-0000-4000-8000-%012d", line/16),
		Event:  []string{"SessionStart", "UserPromptSubmit", "Notification", "Stop"}[line/2%4],
	}
	if line%2 == 1 {
		r.Kind, r.Decision, r.DurationMS = event.Answered, "allow", 2
	}
	return r
}

// acquaintance is the n-th of all records about our agents: they go idle and work again by
// turns, and say at last that they are done.
func acquaintance(agents []string, n, all int) event.Record {
	agent, turn := agents[n%len(agents)], n/len(agents)
	r := event.Record{Call: journal.NewID(), Kind: event.Received, Session: agent, Prompt: fmt.Sprintf("late-%d", turn/2), Event: "UserPromptSubmit"}
	switch {
	case n+len(agents) >= all:
		r.Kind, r.Event, r.Session = event.Emitted, event.AgentSignal, ""
		r.Word = &event.Word{Agent: agent, Kind: "complete", Message: "The bug is fixed."}
	case turn%2 == 0:
		r.Event, r.Enums.NotificationType = "Notification", "idle_prompt"
	}
	return r
}
