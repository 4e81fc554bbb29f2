package gauntlet

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
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
	return call.IsMainStop() && slices.ContainsFunc(call.Trees, func(tree keeper.Tree) bool { return gated(tree.Project, call.Global) })
}

// gated reports whether a project has anything to run.
func gated(project *keeper.Project, global *config.Global) bool {
	return project != nil && project.Gates != nil && (len(project.Gates.EntryPoints) > 0 ||
		len(project.Config.Gauntlet.StopHook.Runner) > 0 || len(global.StopHook.Runner) > 0)
}

// Judge implements keeper.Keeper. The first tree that is red answers; all have the same
// time.
func (k Keeper) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	var all []keeper.Verdict
	var trees []event.Tree
	var cost event.Cost
	for i := range call.Trees {
		tree := &call.Trees[i]
		if !gated(tree.Project, call.Global) {
			continue
		}
		others := slices.ContainsFunc(call.Trees[i+1:], func(other keeper.Tree) bool { return gated(other.Project, call.Global) })
		v := k.judge(ctx, call, tree, i > 0, others)
		trees, cost = append(trees, v.Trees...), cost.Plus(v.Cost)
		if v.Trees, v.Cost = trees, cost; v.Blocks() {
			return v
		}
		all = append(all, v)
	}
	v := keeper.Together(all)
	v.Trees, v.Cost = trees, cost
	return v
}

// judge looks at one tree. After it others may have to be judged in the same time.
func (k Keeper) judge(ctx context.Context, call *keeper.Call, tree *keeper.Tree, elsewhere, others bool) keeper.Verdict {
	stop := Stop{
		Options: Options{
			Project: tree.Project, StateDir: k.StateDir, Global: call.Global, Environ: call.Env, Now: k.Now,
			Baseline: tree.Baseline, Found: tree.Found, Red: tree.Red, Since: tree.Since, Prompt: call.Prompt,
			OnlyReads: call.OnlyReads, Plan: call.Payload.Common().PermissionMode == "plan", Others: others,
		},
		Active:    call.BlockedBefore,
		Shortened: call.Shortened,
		Log:       k.Log,
	}

	r := Decide(ctx, stop)
	if r.Status == Failed && len(tree.Project.Edited) > 0 {
		r.Edited = trust.Advice(tree.Project.Edited, tree.Project.Absent)
	}
	if elsewhere {
		r.Elsewhere = plain.Name(tree.Project.Root)
	}

	v := stop.Verdict(&r)
	if v.Status != keeper.WouldBlock {
		v.Message = personMessage(&r, quiet(call.Global, tree.Project))
	}
	if elsewhere {
		v = v.About(tree.Project.Root)
	}
	v.Trees = []event.Tree{stop.Record(&r)}
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

// Verdict is what a run comes to that does not block.
func Verdict(r *Result) keeper.Verdict {
	v := keeper.Verdict{Status: string(r.Status), Summary: summaryOf(r), Cost: r.cost()}
	switch {
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
