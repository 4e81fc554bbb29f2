package gauntlet

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
)

// record writes down what the gates said and decides what that comes to. It does
// so although the time of the run is over.
func (e *execution) record(ctx context.Context, v *view, r *Result, gone []string) {
	ctx = context.WithoutCancel(ctx)
	run := ledger.Run{
		Tree:    v.tree.ID, // of what is known of it: what is not must not count as changed
		Whole:   e.whole(),
		Removed: gone,
		Gates:   e.gateRuns(ctx, v, r),
	}
	conclusion, known := e.enter(ctx, run, v.toRemember(), r)
	if !known {
		// What failed has failed; it is only not counted. Where every stop counts as
		// the first, Claude Code's flag ends the loop.
		conclusion = ledger.Conclusion{Failed: len(r.with(GateFailed)) > 0}
	}
	if err := ledger.OpenHistory(e.StateDir, e.Project.Root).Add(ctx, e.endings(r)); err != nil {
		r.Notes = append(r.Notes, err.Error())
	}
	r.Warnings = append(r.Warnings, conclusion.Warnings...)
	r.Failures, r.NewLimit = conclusion.Failures, conclusion.NewLimit
	e.clear = len(conclusion.StillOpen) == 0 && known
	r.Status = e.status(r, conclusion)
}

// enter puts a run into the ledger, and a look where it is not nil. What cannot be written is noted.
func (e *execution) enter(ctx context.Context, run ledger.Run, look *ledger.Look, r *Result) (conclusion ledger.Conclusion, known bool) {
	run.Now, run.MaxRetries = e.Now(), e.Project.Config.Gauntlet.MaxRetries
	run.Answers, run.Prompt, run.Session = e.Answers && !e.Observe, e.Prompt, e.Session
	err := e.ledger.Update(ctx, func(state *ledger.State) error {
		conclusion = state.Record(run)
		if look != nil {
			state.Look = look
		}
		return nil
	})
	if err != nil {
		r.Notes = append(r.Notes, "cannot write the ledger, so this run is not recorded: "+err.Error())
	}
	return conclusion, err == nil
}

// endings are the gates that have ended by themselves.
func (e *execution) endings(r *Result) ledger.Finishes {
	ended := ledger.Finishes{}
	for _, g := range r.Gates {
		if g.ended {
			ended[g.Job] = ledger.Finish{At: e.Now().UTC(), In: g.Duration, Command: g.job.command()}
		}
	}
	return ended
}

// gateRuns are the results as the ledger keeps them. A pass proves something only
// if all that the gate may have read is the same after the run as before it.
func (e *execution) gateRuns(ctx context.Context, v *view, r *Result) []ledger.GateRun {
	ctx, cancel := context.WithTimeout(ctx, e.proving)
	defer cancel()

	var after *prover
	if slices.ContainsFunc(r.Gates, func(g GateResult) bool { return g.Outcome == GatePassed && g.job.key != "" }) {
		after = e.proverAfter(ctx, v, r)
	}

	var runs []ledger.GateRun
	for i := range r.Gates {
		g := &r.Gates[i]
		run := ledger.GateRun{
			Job: g.Job, Kind: string(g.Kind), Name: g.Name, Entry: g.Entry,
			Definition: g.job.definition(),
			Result:     ledger.Result(g.Outcome),
			Unseen:     g.unseen,
			Message:    g.Message,
			Log:        g.Log,
			Kept:       g.kept,
			Files:      g.Reviews,
			Violations: g.Violations,
			Warnings:   g.Warnings,
		}
		if g.Outcome == GateFailed || g.Outcome == GatePassed && g.job.key != "" && after.key(ctx, g.job) == g.job.key {
			run.Key = g.job.key // a failure takes a proof back
		}

		runs = append(runs, run)
		for _, other := range g.job.also {
			run.Job, run.Entry, run.Definition, run.Key = other.ID(), other.Entry, other.definition(), ""
			run.Warnings = nil // said once
			runs = append(runs, run)
		}
	}
	return runs
}

// proverAfter names what passes hold for as it is after the run.
func (e *execution) proverAfter(ctx context.Context, v *view, r *Result) *prover {
	if v.after == nil {
		tree := e.lookAfter(ctx)
		v.after = &tree
	}
	after := e.prover(v, *v.after)
	if slices.ContainsFunc(r.Gates, func(g GateResult) bool { return after.readsGit(g.job) }) {
		after.position, _ = e.tree.Position(ctx, e.Scope) // another one where it fails
	}
	return after
}

// status is what the results come to.
func (e *execution) status(r *Result, conclusion ledger.Conclusion) Status {
	// A gate that is red and could not run now is still red.
	for i := range r.Gates {
		g := &r.Gates[i]
		if g.Outcome != GateFailed && slices.ContainsFunc(conclusion.StillOpen, g.job.standsFor) {
			g.Message += "; it failed before and has not passed since"
			g.Outcome = GateFailed
		}
	}
	switch {
	case conclusion.LimitReached:
		return RetryLimitExceeded
	case conclusion.Failed:
		return Failed
	case len(r.with(GateCouldNotRun, GateNotStarted)) > 0:
		return InfrastructureError
	case len(r.Warnings) > 0:
		return PassedWithWarnings
	}
	return Passed
}
