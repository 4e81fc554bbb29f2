package supervisor

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Variable switches the supervisor on for a client and its hooks.
const Variable = launch.SupervisorVariable

// Keeper holds an agent back until a second Claude calls its work complete.
type Keeper struct {
	StateDir string
	Now      func() time.Time
	Stderr   io.Writer
}

var (
	_ keeper.Keeper  = (*Keeper)(nil)
	_ keeper.Witness = (*Keeper)(nil)
)

// Name implements keeper.Keeper.
func (*Keeper) Name() string { return "supervisor" }

// MaxBlocks implements keeper.Keeper. The supervisor counts its reviews itself.
func (*Keeper) MaxBlocks() int { return math.MaxInt }

// Witness implements keeper.Witness: it keeps the session of a supervised launch
// current. An agent's own clients inherit its environment, but they are not what
// is supervised.
func (k *Keeper) Witness(call *keeper.Call) {
	id := environ.Get(call.Env, launch.IDVariable)
	if id == "" {
		return
	}
	var source string
	switch p := call.Payload.(type) {
	case *hook.SessionStartPayload:
		source = p.Source
	case *hook.UserPromptSubmitPayload, *hook.SessionEndPayload:
	default:
		return
	}
	registry := launch.NewRegistry(k.StateDir)
	if registry.Nested(id) {
		return
	}
	if err := registry.Follow(id, call.Event(), source, call.Payload.Common().SessionID); err != nil {
		fmt.Fprintf(k.Stderr, "stopgate: follow the session: %v\n", err)
	}
}

// Applies implements keeper.Keeper.
func (k *Keeper) Applies(call *keeper.Call) bool {
	payload, ok := call.Payload.(*hook.StopPayload)
	if !ok || payload.AgentID != "" {
		return false
	}
	if on, said := Switched(call.Env, payload.SessionID); said {
		return on
	}
	return environ.Get(call.Env, Variable) == "1" && k.Supervises(call.Env, payload.SessionID)
}

// Switched tells what a person said about the session, on or off.
func Switched(env []string, session string) (on, said bool) {
	dir, err := paths.SupervisorDir(func(name string) string { return environ.Get(env, name) })
	if err != nil || CheckSession(session) != nil {
		return false, false
	}
	state, err := At(dir).Read(session)
	if err != nil || state.Enabled == nil {
		return false, false
	}
	return *state.Enabled, true
}

// Supervises reports whether the session is the one that was launched, and not one
// of a client that was started inside it. Where nobody knows, it is.
func (k *Keeper) Supervises(env []string, session string) bool {
	id := environ.Get(env, launch.IDVariable)
	if id == "" {
		return environ.Get(env, "CLAUDECODE") == "" || !process.NestedCaller(0)
	}
	registry := launch.NewRegistry(k.StateDir)
	if recorded, known := registry.Session(id); known {
		return recorded == session
	}
	return !registry.Nested(id)
}

// Judge implements keeper.Keeper.
func (k *Keeper) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	return Verdict(k.Decide(ctx, stopOf(call, true)))
}

func stopOf(call *keeper.Call, reuse bool) Stop {
	return Stop{
		Payload: call.Payload.(*hook.StopPayload), // as Applies has seen
		Project: call.Project, Environ: call.Env, Global: call.Global.Supervisor, Reuse: reuse,
	}
}

// Alone is the keeper where nobody else is asked: every stop is reviewed anew.
type Alone struct{ *Keeper }

// Judge implements keeper.Keeper.
func (k Alone) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	return Verdict(k.Decide(ctx, stopOf(call, false)))
}

// Verdict is what the chain and the journal are told of a decision.
func Verdict(d Decision) keeper.Verdict {
	v := keeper.Verdict{Status: string(d.Status), Message: d.Message, Cost: d.Cost, Reused: d.Reused}
	switch d.Status {
	case Completed:
		v.Summary = reviewed(d, "the supervisor says the work is complete")
	case NotCompleted:
		v.Outcome, v.Reason = keeper.Failed, d.Feedback
		v.Summary = reviewed(d, "the supervisor says the work is not complete")
	case LimitReached:
		v.Outcome, v.Notify = keeper.Failed, !d.Again
	case BudgetSpent:
		v.Outcome, v.Notify = keeper.CouldNotRun, !d.Again
	default:
		v.Outcome = keeper.CouldNotRun
	}
	return v
}

func reviewed(d Decision, what string) string {
	if d.Reused {
		return fmt.Sprintf("%s, as in the last review: nothing has changed since", what)
	}
	return fmt.Sprintf("%s (review %d of at most %d)", what, d.Iteration, d.Limit)
}
