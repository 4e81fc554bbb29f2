package gauntlet

import (
	"context"
	"math"
	"time"

	"github.com/stopgate/stopgate/internal/claude"
	"github.com/stopgate/stopgate/internal/environ"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/keeper"
)

// Keeper holds an agent back while gates fail.
type Keeper struct {
	StateDir string
	Now      func() time.Time
	Log      func(format string, args ...any)
}

var _ keeper.Keeper = Keeper{}

// Name implements keeper.Keeper.
func (Keeper) Name() string { return "gates" }

// MaxBlocks implements keeper.Keeper. The series of retries ends what does not
// get better, whatever the prompt.
func (Keeper) MaxBlocks() int { return math.MaxInt }

// Applies implements keeper.Keeper.
func (Keeper) Applies(call *keeper.Call) bool {
	if call.Event() != hook.Stop || call.Payload.Common().AgentID != "" || call.Project == nil || call.Project.Gates == nil {
		return false
	}
	if active, _ := environ.Lookup(call.Env, claude.ActiveVariable); active != "" {
		return false
	}
	return len(call.Project.Gates.EntryPoints) > 0 ||
		len(call.Project.Config.Gauntlet.StopHook.Runner) > 0 || len(call.Global.StopHook.Runner) > 0
}

// Judge implements keeper.Keeper.
func (k Keeper) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	stop := Stop{
		Project:  call.Project,
		StateDir: k.StateDir,
		Global:   call.Global,
		Environ:  call.Env,
		Active:   call.BlockedBefore,
		Now:      k.Now,
		Log:      k.Log,
	}
	r := Decide(ctx, stop)
	v := Verdict(&r, stop.Verifies())
	if r.Unjudged != "" {
		v.Message = "not checked: " + r.Unjudged
		if len(r.Warnings) > 0 {
			v.Message += "; " + r.Warnings[0]
		}
	}
	return v
}

// summaryOf is what the journal keeps of a message; empty where there is none.
func summaryOf(r *Result) string {
	switch {
	case len(r.Gates) == 0:
		return "" // the message is our own words
	case r.Status == Passed || r.Status == NoApplicableGates:
		return ""
	}
	return describe(r, false)
}

// Verdict is what the chain and the journal are told of a run.
func Verdict(r *Result, verifies bool) keeper.Verdict {
	v := keeper.Verdict{Status: string(r.Status), Summary: summaryOf(r)}
	switch {
	case r.Status.IsBlocking():
		v.Outcome, v.Reason = keeper.Failed, Reason(r, verifies)
	case r.Status == RetryLimitExceeded || r.Status == TerminationRetryLimit:
		v.Outcome, v.Message = keeper.Failed, r.Message
		v.Notify = r.NewLimit || r.Status == TerminationRetryLimit
	case r.Status.CouldNotRun():
		v.Outcome, v.Message = keeper.CouldNotRun, r.Message
	case r.Status == PassedWithWarnings:
		v.Message = r.Message
	case r.Status == StopHookDisabled && len(r.Warnings) > 0:
		v.Message = r.Message + " Beware: " + sentence(r.Warnings[0])
	}
	return v
}
