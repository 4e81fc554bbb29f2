package gauntlet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Voucher is a pass of a job on another machine, for exactly what Covers names.
type Voucher struct {
	Job    string
	Covers string
	By     string // whose word it is
	At     time.Time
}

// vouched is the result of a job whose gate accepts a pass on another machine, if there is one for
// what there is here. A red gate has to run, as it would with a proof of its own.
func (e *execution) vouched(ctx context.Context, v *view, prover *prover, job *Job) (GateResult, bool) {
	if len(e.Vouched) == 0 || !job.Gate().AcceptProof || v.unseen != nil || isOpen(&v.state, job) {
		return GateResult{}, false
	}
	covers := prover.covers(ctx, job)
	for _, voucher := range e.Vouched {
		if covers != "" && voucher.Covers == covers && voucher.Job == job.ID() {
			r := job.result(GateProven, fmt.Sprintf("attested by %s on %s", voucher.By, voucher.At.UTC().Format("2006-01-02 15:04 UTC")))
			r.AttestedBy = voucher.By
			return r, true
		}
	}
	return GateResult{}, false
}

// notVouched says why a gate that accepts a pass on another machine runs, where there are such passes; empty
// where none is accepted for it.
func (e *execution) notVouched(ctx context.Context, v *view, prover *prover, job *Job) string {
	gate := job.Gate()
	attested := slices.ContainsFunc(e.Vouched, func(voucher Voucher) bool { return voucher.Job == job.ID() })
	switch {
	case len(e.Vouched) == 0, !gate.AcceptProof:
		return ""
	case isOpen(&v.state, job):
		return "it failed here before"
	case v.unseen != nil:
		return "the working tree cannot be read: " + v.unseen.Error()
	case !gate.Cache:
		return "it has cache: false"
	case prover.readsGit(job):
		return "it reads git"
	case !attested:
		return "it is not attested"
	}

	if _, err := e.committed(ctx); err != nil {
		return err.Error()
	}
	var other []string
	for _, name := range gate.Env {
		other = append(other, "the value of "+name)
	}
	for _, tool := range gate.Tools {
		other = append(other, "what "+plain.Line(tool)+" prints")
	}
	if job.Check == nil {
		other = append(other, "the merge base")
	}
	if len(other) == 0 {
		other = []string{"the gate's description (is it another version of stopgate?)"}
	}
	return "not the same here as where it was attested: " + strings.Join(other, ", or ")
}
