package gauntlet

import (
	"context"
	"fmt"
	"time"
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
