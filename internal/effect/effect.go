// Package effect carries out the effects that the engine decides on, and reports what
// became of them: an owner's one after the other, in their order, each with its start on
// record before it acts and its end after. Telling people holds up nothing else.
package effect

import (
	"context"

	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/errand"
)

// Shells are the commands of steps and gates. They go on when the daemon does not.
type Shells interface {
	// Start starts a command, unless one was started under the key before. An error
	// that is an *errand.Failure is for good; after others it is tried again.
	Start(ctx context.Context, o *engine.Owner, key string, s engine.ShellStart) error
	// Wait waits until it has ended. Of one that is not known the result is lost.
	Wait(ctx context.Context, key string) (errand.Result, error)
	// Kill ends it with all that it started, and returns when it has ended. One that
	// is not known, or has ended, needs no ending.
	Kill(ctx context.Context, key string) error
}

// Agents are the agents of steps and runs. They go on when the daemon does not.
type Agents interface {
	// Start is that of Shells, with the agent's id for the key.
	Start(ctx context.Context, o *engine.Owner, a engine.AgentStart) error
	// Wait waits until the agent's process has ended.
	Wait(ctx context.Context, agent string) (errand.Result, error)
	// Send types a text. It never types twice under one key.
	Send(ctx context.Context, agent, key, text string) error
	// Sent reports whether it is known that the text of that key was typed.
	Sent(agent, key string) (bool, error)
	// Kill ends the agent, like that of Shells.
	Kill(ctx context.Context, agent string) error
}

// Notifier tells a person something.
type Notifier interface {
	Notify(o *engine.Owner, title, text string) error
}

// remedy is what is done about an effect that was started before a crash and may have
// been carried out, or not.
type remedy int

const (
	doAgain   remedy = iota
	confirm          // it was carried out if somebody else says so; else it is lost
	takenDone        // at most once
)

func afterCrash(kind engine.EffectKind) remedy {
	switch kind.Rule() {
	case engine.Confirmable:
		return confirm
	case engine.Unkeyed:
		return takenDone
	}
	return doAgain // repeatable, or known to the receiver by its key
}

// wanted reports whether an owner wants an effect to be carried out. It does not want to
// start what a later effect ends: cancelled work must not begin, and one that waits for
// its turn must not hold up its own end.
func wanted(o *engine.Owner, e engine.Effect) bool {
	open := false
	for _, other := range o.Effects {
		open = open || other.Key == e.Key
		if ends(other.Effect, e) {
			return false
		}
	}
	return open
}

// ends reports whether one effect ends what another one starts.
func ends(kill, start engine.Effect) bool {
	switch start.Kind {
	case engine.StartShell:
		return kill.Kind == engine.KillShell && kill.Target == start.Key
	case engine.StartAgent:
		return kill.Kind == engine.KillAgent && kill.Target == start.Agent.ID
	}
	return false
}
