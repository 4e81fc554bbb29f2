// Package books is what a store tells of all its owners, for tests that compare it with what took place.
package books

import (
	"context"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

// Books are what a store tells.
type Books struct {
	Events    int
	Acts      map[string]*Act // by the keys of effects
	Owners    map[string]int  // how many events each has
	Words     map[string]int  // what agents said, by event and token
	Late      int             // steps that came of what was found at a start
	Decisions map[engine.Source]int
	Resolved  map[string][]engine.DecisionResolved // by their ids
	Children  map[string]*Child                    // by their ids
}

// Act is what the store tells of an effect.
type Act struct {
	engine.Effect
	Owner   string
	Decided time.Time
	Started time.Time
	End     string // done, failed, lost, dropped
	Ended   time.Time
	Ends    int  // how often it came to an end: once
	Killed  bool // another effect ended what it started
}

// Errand is the key of the errand that an effect starts.
func (a *Act) Errand() string {
	if a.Agent != nil {
		return a.Agent.ID
	}
	return a.Key
}

// Child is a pipeline that a step of another one runs.
type Child struct{ Created, Ended int }

// Read reads a store.
func Read(ctx context.Context, path string) (*Books, error) {
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b := &Books{
		Acts: map[string]*Act{}, Owners: map[string]int{}, Words: map[string]int{}, Decisions: map[engine.Source]int{},
		Resolved: map[string][]engine.DecisionResolved{}, Children: map[string]*Child{},
	}
	for e, err := range s.ReadAll(ctx, 0) {
		if err != nil {
			return nil, err
		}
		b.Events++
		if strings.HasPrefix(e.Subject, "daemon.") {
			continue
		}
		step, err := engine.DecodeStep(e.Data)
		if err != nil {
			return nil, err
		}
		b.read(step)
	}
	return b, nil
}

func (b *Books) read(s engine.Step) {
	b.Owners[s.Owner]++
	if s.Late {
		b.Late++
	}
	for _, f := range s.Facts {
		b.fact(f, s.Time)
		b.childFact(s.Owner, f)
	}
	for _, e := range s.Effects {
		b.Acts[e.Key] = &Act{Effect: e, Owner: s.Owner, Decided: s.Time}
		for _, other := range b.Acts {
			started := e.Kind == engine.KillShell && other.Key == e.Target ||
				e.Kind == engine.KillAgent && other.Agent != nil && other.Agent.ID == e.Target
			other.Killed = other.Killed || started
		}
	}
}

func (b *Books) fact(f engine.Fact, at time.Time) {
	switch f := f.(type) {
	case engine.EffectStarted:
		b.Acts[f.Key].Started = at
	case engine.EffectDone:
		b.end(f.Key, "done", at)
	case engine.WorkspaceMade:
		b.end(f.Key, "done", at)
	case engine.WorkspaceRemoved:
		b.end(f.Key, "done", at)
	case engine.EffectFailed:
		b.end(f.Key, "failed", at)
	case engine.EffectLost:
		b.end(f.Key, "lost", at)
	case engine.EffectDropped:
		b.end(f.Key, "dropped", at)
	case engine.AgentSignal:
		b.Words["agent:signal "+f.Message]++
	case engine.AgentIdle:
		b.Words["agent:idle "+f.Prompt]++
	case engine.AgentPrompt:
		b.Words["agent:prompt "+f.AgentID]++
	case engine.DecisionCreated:
		b.Decisions[f.Decision.Source]++
	case engine.DecisionResolved:
		b.Resolved[f.ID] = append(b.Resolved[f.ID], f)
	}
}

// childFact is a fact about a child.
func (b *Books) childFact(owner string, f engine.Fact) {
	if created, is := f.(engine.Created); is && created.Parent != nil {
		if b.Children[owner] == nil {
			b.Children[owner] = &Child{}
		}
		b.Children[owner].Created++
	}
	if to, is := f.(engine.PipelineAdvanced); is && runbook.IsEnd(to.Step) && b.Children[owner] != nil {
		b.Children[owner].Ended++
	}
}

func (b *Books) end(key, how string, at time.Time) {
	a := b.Acts[key]
	a.End, a.Ended, a.Ends = how, at, a.Ends+1
}
