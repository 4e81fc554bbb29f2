package gauntlet

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
)

// withoutRunning answers where no gate has to run: none applies, or all that do
// are proven. It does not take the run's lock and leaves no log.
func (e *execution) withoutRunning(ctx context.Context, v *view) (Result, bool) {
	if len(v.state.Open) > 0 || v.state.Damaged || e.changedContext(ctx, v) != "" {
		return Result{}, false
	}

	s, err := e.selected(ctx, v)
	if err != nil {
		return e.ended(ctx, v, err)
	}

	r := e.result(v)
	r.spared = unaffected
	jobs := e.meant(s.jobs)
	if len(jobs) == 0 {
		r.Status = NoApplicableGates
		e.remember(ctx, v)
		return e.announce(r), true
	}

	if e.NoCache || v.unseen != nil {
		return Result{}, false
	}
	prover := e.prover(v, v.tree)
	for _, job := range jobs {
		gate, ok := e.proven(ctx, v, prover, job, prover.key(ctx, job))
		if !ok {
			return Result{}, false
		}
		r.Gates = append(r.Gates, gate)
	}

	r.Status = Passed
	for _, gate := range r.Gates {
		r.Warnings = append(r.Warnings, gate.Warnings...)
	}
	if len(r.Warnings) > 0 {
		r.Status = PassedWithWarnings
	}
	e.remember(ctx, v)
	return e.announce(r), true
}

// result begins the result of a run with what was seen.
func (e *execution) result(v *view) Result {
	r := Result{Tree: v.tree.Mark(), Base: v.position.Base, MergeBase: v.position.MergeBase, Notes: e.notes, Told: slices.Clone(e.forPerson), MaxRetries: e.Project.Config.Gauntlet.MaxRetries, Gates: []GateResult{}}
	if v.chosen != nil {
		r.Changed = v.chosen.changed
		if len(v.chosen.aside) > 0 {
			r.Told = append(r.Told, notSeen(v.chosen.aside))
		}
		if v.chosen.note != "" {
			r.Notes = append(r.Notes, v.chosen.note)
		}
	}
	return r
}

// announce says in words what a run without a log came to.
func (e *execution) announce(r Result) Result {
	r.Message = messageFor(&r)
	for _, note := range r.Notes {
		e.say("note: %s", note)
	}
	for i := range r.Gates {
		if r.Gates[i].AttestedBy != "" {
			e.console.finished(&r.Gates[i])
		}
	}
	e.say("%s", r.Sentence())
	if r.Status != NoApplicableGates {
		e.say("Status: %s", r.Status.line())
	}
	return r
}

func (e *execution) prover(v *view, tree change.Tree) *prover {
	return &prover{execution: e, tree: tree, base: e.baseBranch(v), position: v.position, versions: map[string]string{}}
}

// baseBranch is what checks are told that changes are counted from.
func (e *execution) baseBranch(v *view) string { return cmp.Or(v.position.Base, e.Scope.Base) }

// proven is the result of a job that need not run: it passed here before or, where the gate accepts
// that, elsewhere.
func (e *execution) proven(ctx context.Context, v *view, prover *prover, job *Job, key string) (GateResult, bool) {
	if proof, ok := e.proof(&v.state, job, key); ok {
		return provenResult(job, proof), true
	}
	return e.vouched(ctx, v, prover, job)
}

// proof finds the proof of a job. A red gate is never answered from the ledger.
func (e *execution) proof(state *ledger.State, job *Job, key string) (ledger.Proof, bool) {
	if key == "" || isOpen(state, job) {
		return ledger.Proof{}, false
	}
	return state.Proof(key, e.Now())
}

// isOpen reports whether the job, or one that it runs for, has an open failure.
func isOpen(state *ledger.State, job *Job) bool {
	return slices.ContainsFunc(state.Open, func(f ledger.Failure) bool { return job.standsFor(f.Job) })
}

func provenResult(job *Job, proof ledger.Proof) GateResult {
	r := job.result(GateProven, fmt.Sprintf("unchanged since it passed on %s", proof.At.Local().Format("2006-01-02 15:04")))
	r.Warnings = proof.Warnings
	return r
}
