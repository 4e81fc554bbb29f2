// Package effect carries out the effects that the engine decides on, and reports what
// became of them: an owner's one after the other, in their order, each with its start on
// record before it acts and its end after. Telling people holds up nothing else.
package effect

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
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
	// Send gives the agent a text, and returns when it has it, which may take hours. It
	// does so once under one key: called again, it waits for the same. A *errand.Failure
	// says that the agent has not got it, a *Lost that nobody knows. When the context ends
	// with ErrUnwanted, what the agent has not got yet is taken back, which is a failure.
	Send(ctx context.Context, agent, key, text string) error
	// Kill ends the agent, like that of Shells.
	Kill(ctx context.Context, agent string) error
}

// Workspaces are the worktrees and folders that owners and agents have for themselves. The directory
// of one is its key.
type Workspaces interface {
	// Make makes a workspace, or finds it. An *errand.Failure is for good, and leaves nothing behind.
	// When the context ends, what there is of it is for the next Make, or for Remove.
	Make(ctx context.Context, owner string, t engine.WorkspaceTask) (engine.WorkspaceMade, error)
	// Remove removes a workspace with all that was made for it, unless work would be lost: then the
	// answer says what. One that is not there is removed already.
	Remove(ctx context.Context, t engine.WorkspaceTask) (engine.WorkspaceRemoved, error)
}

// Children are the pipelines that steps of others run. Each call may be repeated.
type Children interface {
	// Start starts a child of an owner, unless it was started before. An *errand.Failure is for good.
	Start(ctx context.Context, parent *engine.Owner, id string) error
	// Cancel cancels a child. An *errand.Failure says that it cannot be.
	Cancel(ctx context.Context, id, key, why string) error
	// Report tells the parent of an owner how far that is.
	Report(ctx context.Context, child *engine.Owner, key string) error
}

// Lost is something of which nobody knows, nor will, whether it was done.
type Lost struct{ Why string }

func (l *Lost) Error() string { return l.Why }

// ErrUnwanted is the cause when the context of an effect ends that its owner does not want
// any more.
var ErrUnwanted = errors.New("the effect was cancelled")

// wanted reports whether an owner wants an effect to be carried out. It does not want to
// start what a later effect ends, nor to talk to it: cancelled work must not begin, and
// one that waits for its turn must not hold up its own end.
func wanted(o *engine.Owner, e engine.Effect) bool {
	open := false
	for _, other := range o.Effects {
		open = open || other.Key == e.Key
		if ends(other.Effect, e) && (open || e.Kind != engine.MakeWorkspace) { // one may be made again
			return false
		}
	}
	return open
}

// ends reports whether one effect ends what another one starts or talks to.
func ends(kill, start engine.Effect) bool {
	switch start.Kind {
	case engine.StartShell:
		return kill.Kind == engine.KillShell && kill.Target == start.Key
	case engine.StartAgent:
		return kill.Kind == engine.KillAgent && kill.Target == start.Agent.ID
	case engine.SendAgent:
		return kill.Kind == engine.KillAgent && kill.Target == start.Target
	case engine.MakeWorkspace:
		return kill.Kind == engine.RemoveWorkspace && kill.Workspace.Dir == start.Workspace.Dir
	}
	return false
}
