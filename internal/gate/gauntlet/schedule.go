package gauntlet

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// schedule says how the jobs of a run share the machine.
type schedule struct {
	parallel bool // gates may run at once at all
	most     int  // how many; 0 means one more than there are cores
	run      func(ctx context.Context, job *Job) GateResult
}

// all runs the jobs and returns their results in the order of the jobs. Those
// that may run beside others do, up to the limit; the others run one after
// another beside them.
func (s schedule) all(ctx context.Context, jobs []*Job) []GateResult {
	most := s.most
	if most <= 0 {
		most = runtime.NumCPU() + 1 // no core waits while a gate starts or ends
	}

	r := &round{schedule: s, jobs: jobs, slots: make(chan struct{}, most), results: make([]GateResult, len(jobs))}
	var beside, inTurn []int
	for i, job := range jobs {
		r.results[i] = job.result(GateNotStarted, "was not started")
		if s.parallel && job.Gate().Parallel {
			beside = append(beside, i)
		} else {
			inTurn = append(inTurn, i)
		}
	}

	var group sync.WaitGroup
	if len(inTurn) > 0 {
		r.slots <- struct{}{} // one is theirs until all of them are done
		group.Go(func() {
			defer func() { <-r.slots }()
			for _, i := range inTurn {
				r.begin(ctx, i, func() { r.do(ctx, i) })
			}
		})
	}
	for _, i := range beside {
		r.start(ctx, i, func() {
			group.Go(func() {
				defer func() { <-r.slots }()
				r.do(ctx, i)
			})
		})
	}
	group.Wait()
	return r.results
}

// round is one pass over the jobs.
type round struct {
	schedule
	jobs    []*Job
	slots   chan struct{}
	results []GateResult

	mu     sync.Mutex
	halted *Job // the gate that keeps others from starting
}

// start waits for a slot and begins a job in it, unless nothing more may start.
func (r *round) start(ctx context.Context, i int, do func()) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
	}
	if !r.begin(ctx, i, do) && ctx.Err() == nil {
		<-r.slots
	}
}

// begin begins a job, unless nothing more may start.
func (r *round) begin(ctx context.Context, i int, do func()) bool {
	switch by := r.haltedBy(); {
	case ctx.Err() != nil:
		r.results[i].Message, r.results[i].late = "was not started: "+whyEnded(ctx), true
	case by != nil:
		r.results[i].Message = "was not started: " + by.ID() + " failed and has fail_fast"
	default:
		do()
		return true
	}
	return false
}

// whyEnded says why nothing goes on.
func whyEnded(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "the whole run timed out"
	}
	return "the run was interrupted"
}

// do runs a job in the slot that it has.
func (r *round) do(ctx context.Context, i int) {
	job := r.jobs[i]
	r.results[i] = r.run(ctx, job)
	if job.Check != nil && job.Check.FailFast && r.results[i].Outcome == GateFailed {
		r.halt(job)
	}
}

func (r *round) halt(job *Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halted == nil {
		r.halted = job
	}
}

func (r *round) haltedBy() *Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halted
}
