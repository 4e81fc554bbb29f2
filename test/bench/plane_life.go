//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

// life is a pipeline whose steps are decided by the engine and kept by put, as the daemon
// does it, but for nobody.
type life struct {
	owner *engine.Owner
	put   func(store.NewEvent) (store.Position, error)
	began time.Time
	n     int // inputs
}

// lifePlan is a pipeline of a runbook such as people write: an agent, then two commands.
func lifePlan() runbook.Plan {
	ask := runbook.Action{Kind: runbook.Escalate}
	agent := runbook.Agent{
		Name: "worker", Run: "claude --dangerously-skip-permissions", Prompt: strings.Repeat("Fix the bug ${var.bug}, with a test that fails without the fix.\n", 8),
		OnIdle: runbook.Action{Kind: runbook.Nudge, Attempts: runbook.Forever}, OnDead: ask, OnPrompt: ask,
	}
	return runbook.Plan{
		Pipeline: runbook.Pipeline{Name: "fix", Vars: []string{"bug"}, OnFail: "clean", Steps: []runbook.Step{
			{Name: "work", Run: runbook.Run{Agent: agent.Name}, OnDone: "test"},
			{Name: "test", Run: runbook.Run{Shell: "make test"}, OnDone: "clean"},
			{Name: "clean", Run: runbook.Run{Shell: "git worktree remove --force ../fix-${var.bug}"}},
		}},
		Agents: map[string]runbook.Agent{agent.Name: agent},
	}
}

// ownerID is an owner's id that is the same in every run.
func ownerID(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:8])
}

// lifeTurns is how often the agent of a life went idle and was told to go on.
const lifeTurns = 4

// work brings a new pipeline to where its agent is at work, after some turns.
func (l *life) work(id string) error {
	l.began = time.Now().UTC()
	err := l.tell(engine.Create{
		Owner: id, Kind: engine.Pipeline, Name: "fix", Command: "fix", Project: "/home/somebody/src/project", Cwd: "/home/somebody/src/project",
		Vars: map[string]string{"bug": id}, Plan: lifePlan(),
	}, false)
	if err == nil {
		err = l.carryOut()
	}
	for turn := 0; turn < lifeTurns && err == nil; turn++ {
		prompt := fmt.Sprintf("prompt-%d", turn)
		if err = l.tell(engine.AgentIdle{AgentID: l.owner.Agent.ID, Prompt: prompt}, true); err == nil {
			err = l.carryOut()
		}
		if err == nil {
			err = l.tell(engine.AgentWorking{AgentID: l.owner.Agent.ID, Prompt: prompt}, true)
		}
	}
	return err
}

// end lets the agent say that it is done, and the commands succeed.
func (l *life) end() error {
	complete := engine.Signal{Kind: engine.SignalComplete, Message: "The bug is fixed."}
	if err := l.tell(engine.AgentSignal{AgentID: l.owner.Agent.ID, Signal: complete}, true); err != nil {
		return err
	}
	for !l.owner.Terminal() {
		if err := l.carryOut(); err != nil {
			return err
		}
		if err := l.tell(engine.ShellExited{Key: l.owner.Shell.Key, Tail: "ok"}, false); err != nil {
			return err
		}
	}
	return l.carryOut()
}

// carryOut lets all open effects be done.
func (l *life) carryOut() error {
	for len(l.owner.Effects) > 0 {
		key := l.owner.Effects[0].Key
		if err := l.tell(engine.EffectStarted{Key: key}, false); err != nil {
			return err
		}
		if err := l.tell(engine.EffectDone{Key: key}, false); err != nil {
			return err
		}
	}
	return nil
}

func (l *life) tell(what engine.Happening, journal bool) error {
	l.n++
	in := engine.Input{ID: fmt.Sprintf("01KA3V6Y5Q8N2M4T7W9Z-%d", l.n), Time: l.began.Add(time.Duration(l.n) * time.Second), Journal: journal, What: what}
	step, after, err := engine.Decide(l.owner, in)
	if err != nil {
		return err
	}
	data, err := engine.EncodeStep(step)
	if err != nil {
		return err
	}
	event := store.NewEvent{Subject: engine.Subject(after.Kind, after.ID), ID: engine.EventID(after.ID, in.ID), Data: data}
	if l.owner != nil {
		event.Expected = store.Position(l.owner.Version)
	}
	position, err := l.put(event)
	after.Version, l.owner = uint64(position), after
	return err
}

// lifeSteps are the steps of a whole life as the store has them.
func lifeSteps() (steps [][]byte, err error) {
	l := &life{put: func(e store.NewEvent) (store.Position, error) {
		steps = append(steps, e.Data)
		return store.Position(len(steps)), nil
	}}
	if err = l.work(ownerID("one")); err == nil {
		err = l.end()
	}
	return steps, err
}

// hands are how many write to a store that is filled: the more, the fewer syncs.
const hands = 256

// fill makes a store and lets all hands write to it.
func fill(ctx context.Context, path string, write func(hand int, put func(store.NewEvent) (store.Position, error)) error) error {
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	var all errgroup.Group
	for hand := range hands {
		all.Go(func() error {
			return write(hand, func(e store.NewEvent) (store.Position, error) { return s.Append(ctx, e) })
		})
	}
	return errors.Join(all.Wait(), s.Close())
}

// fillAgents makes a store with so many agents at work, and returns their ids.
func fillAgents(ctx context.Context, path string, agents int) ([]string, error) {
	ids := make([]string, agents)
	err := fill(ctx, path, func(hand int, put func(store.NewEvent) (store.Position, error)) error {
		for i := hand; i < agents; i += hands {
			l := &life{put: put}
			if err := l.work(ownerID(fmt.Sprint(i))); err != nil {
				return err
			}
			ids[i] = l.owner.Agent.ID
		}
		return nil
	})
	return ids, err
}

// fillEvents makes a store with so many events of pipelines. All but the last of each
// hand have ended.
func fillEvents(ctx context.Context, path string, events int) error {
	enough := errors.New("enough")
	return fill(ctx, path, func(hand int, put func(store.NewEvent) (store.Position, error)) error {
		left := events / hands
		if hand < events%hands {
			left++
		}
		limited := func(e store.NewEvent) (store.Position, error) {
			if left == 0 {
				return 0, enough
			}
			left--
			return put(e)
		}
		for i := 0; ; i++ {
			l := &life{put: limited}
			err := l.work(ownerID(fmt.Sprint(hand, i)))
			if err == nil {
				err = l.end()
			}
			if errors.Is(err, enough) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}
