package gauntlet

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/stopgate/stopgate/internal/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/process"
)

// locked runs the gates. Nobody else runs any in this log directory meanwhile.
func (e *execution) locked(ctx context.Context, v *view) Result {
	if why := e.changedContext(ctx, v); why != "" {
		if err := e.autoClean(ctx, why); err != nil {
			return unavailable("the logs of earlier work cannot be put away", err)
		}
	}
	state, err := e.ledger.Read() // others may have written before we had the lock
	if err != nil {
		return unavailable("the ledger cannot be read", err)
	}
	v.state = state
	s, err := e.selected(ctx, v)
	if err != nil {
		return e.blind(ctx, err)
	}
	log, n, err := e.logs.Console()
	if err != nil {
		return e.cannotRun(ctx, v, "the log directory cannot be written: "+err.Error())
	}
	defer log.Close()
	e.open(log, n)

	if s.note != "" {
		e.say("note: %s", s.note)
	}
	e.takeEdits(v)
	jobs := s.jobs
	if v.state.Damaged {
		e.say("note: the ledger is damaged; every gate runs")
		jobs = e.plan.all()
	}
	jobs, gone := e.withOpen(jobs, &v.state)
	if !e.whole() {
		gone = nil
	}
	e.debug("RUN_START base_ref=%s files_changed=%d gates=%d", v.position.Base, s.changed, len(jobs))
	r := e.result(v)
	if r.Gates = e.gates(ctx, v, e.meant(jobs)); len(r.Gates) == 0 && len(gone) == 0 {
		r.Status = NoApplicableGates
		return e.finish(ctx, v, r, log)
	}
	if interrupted(ctx, &r) {
		// Somebody stopped it: it says nothing, and counts as nothing.
		r.Status, r.Interrupted = InfrastructureError, true
		return e.finish(ctx, v, r, log)
	}
	e.record(ctx, v, &r, gone)
	return e.finish(ctx, v, r, log)
}

// cannotRun is the result when no gate can be run at all. Those that are red stay
// so.
func (e *execution) cannotRun(ctx context.Context, v *view, why string) Result {
	jobs, _ := e.withOpen(nil, &v.state)
	if jobs = e.meant(jobs); len(jobs) == 0 {
		return unavailable(why, nil)
	}
	r := e.result(v)
	for _, job := range jobs {
		r.Gates = append(r.Gates, job.result(GateCouldNotRun, why))
	}
	e.record(ctx, v, &r, nil)
	r.Message = messageFor(&r)
	return r
}

// open begins the console of a run.
func (e *execution) open(log io.Writer, n int) {
	e.n = n
	e.console.to = []io.Writer{log}
	if e.Console != nil {
		e.console.to = append(e.console.to, e.Console)
	}
	for _, note := range e.notes {
		e.say("%s", note)
	}
}

func (e *execution) say(format string, args ...any) { e.console.say(format, args...) }

// gates runs the jobs that are not proven.
func (e *execution) gates(ctx context.Context, v *view, jobs []*Job) []GateResult {
	results := make([]GateResult, len(jobs))
	var due, proven []*Job
	var at []int
	prover := e.prover(v, v.tree)
	for i, job := range jobs {
		job.key = prover.key(ctx, job)
		if proof, ok := e.proof(&v.state, job, job.key); ok && !e.NoCache {
			results[i] = provenResult(job, proof)
			proven = append(proven, job)
			continue
		}
		due, at = append(due, job), append(at, i)
	}
	e.watch(Event{Planned: jobs, Proven: proven})
	for i := range results {
		if results[i].Outcome == GateProven {
			e.console.finished(&results[i])
		}
	}
	g := e.Project.Config.Gauntlet
	gates := gateRunner{execution: e, view: v, logs: e.logs.Apart(ids(jobs))}
	process.Adopt()
	ran := schedule{parallel: g.AllowParallel, most: g.MaxParallel, run: gates.run}.all(ctx, due)
	if ctx.Err() != nil || slices.ContainsFunc(ran, func(r GateResult) bool { return r.timedOut }) {
		process.EndOrphans() // of gates that had to be ended
	}
	for i, r := range ran {
		if r.Outcome == GateNotStarted {
			e.console.finished(&r)
			e.watch(Event{Finished: &r})
		}
		results[at[i]] = r
	}
	return results
}

func ids(jobs []*Job) []string {
	out := make([]string, len(jobs))
	for i, job := range jobs {
		out[i] = job.ID()
	}
	return out
}

// watch tells the watcher. The console's lock makes it one call at a time.
func (e *execution) watch(event Event) {
	if e.Watch == nil {
		return
	}
	e.console.mu.Lock()
	defer e.console.mu.Unlock()
	e.Watch(event)
}

// record writes down what the gates said and decides what that comes to. It does
// so although the time of the run is over.
func (e *execution) record(ctx context.Context, v *view, r *Result, gone []string) {
	ctx = context.WithoutCancel(ctx)
	run := ledger.Run{
		Now:        e.Now(),
		Tree:       v.tree.ID, // of what is known of it: what is not must not count as changed
		MaxRetries: e.Project.Config.Gauntlet.MaxRetries,
		Whole:      e.whole(),
		Removed:    gone,
		Gates:      e.gateRuns(ctx, v, r),
	}
	var outcome ledger.Outcome
	err := e.ledger.Update(ctx, func(state *ledger.State) error {
		outcome = state.Record(run)
		if look := v.toRemember(); look != nil {
			state.Look = look
		}
		return nil
	})
	if err != nil {
		// What failed has failed; it is only not counted. Where every stop counts as
		// the first, the client's flag ends the loop.
		r.Notes = append(r.Notes, "the ledger cannot be written, so nothing of this run is remembered: "+err.Error())
		outcome = ledger.Outcome{Failed: len(r.with(GateFailed)) > 0}
	}
	r.Warnings = append(r.Warnings, outcome.Warnings...)
	r.Failures, r.NewLimit = outcome.Failures, outcome.NewLimit
	e.clear = len(outcome.StillOpen) == 0 && err == nil
	r.Status = e.status(r, outcome)
}

// gateRuns are the results as the ledger keeps them. A pass proves something only
// if all that the gate may have read is the same after the run as before it.
func (e *execution) gateRuns(ctx context.Context, v *view, r *Result) []ledger.GateRun {
	ctx, cancel := context.WithTimeout(ctx, e.proving)
	defer cancel()
	var after *prover
	if slices.ContainsFunc(r.Gates, func(g GateResult) bool { return g.Outcome == GatePassed && g.job.key != "" }) {
		tree, _ := e.tree.Tree(ctx) // not exact where it fails
		after = e.prover(v, tree)
	}
	var runs []ledger.GateRun
	for i := range r.Gates {
		g := &r.Gates[i]
		run := ledger.GateRun{
			Job: g.Job, Kind: string(g.Kind), Name: g.Name, Entry: g.Entry,
			Definition: g.job.definition(),
			Result:     ledger.Result(g.Outcome),
			Message:    g.Message,
			Log:        g.Log,
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

// status is what the results come to.
func (e *execution) status(r *Result, outcome ledger.Outcome) Status {
	// A gate that is red and could not run now is still red.
	for i := range r.Gates {
		g := &r.Gates[i]
		if g.Outcome != GateFailed && slices.ContainsFunc(outcome.StillOpen, g.job.standsFor) {
			g.Message += "; it failed before and has not passed since"
			g.Outcome = GateFailed
		}
	}
	switch {
	case outcome.LimitReached:
		return RetryLimitExceeded
	case outcome.Failed:
		return Failed
	case len(r.with(GateCouldNotRun, GateNotStarted)) > 0:
		return InfrastructureError
	case len(r.Warnings) > 0:
		return PassedWithWarnings
	}
	return Passed
}

// finish closes the run's logs and says how it went.
func (e *execution) finish(ctx context.Context, v *view, r Result, log *os.File) Result {
	r.Run, r.ConsoleLogPath = e.n, log.Name()
	r = e.conclude(r)
	e.console.summary(&r)
	e.debug("RUN_END status=%s passed=%d proven=%d failed=%d could_not_run=%d not_started=%d", r.Status,
		len(r.with(GatePassed)), len(r.with(GateProven)), len(r.with(GateFailed)), len(r.with(GateCouldNotRun)), len(r.with(GateNotStarted)))
	if slices.Contains([]Status{Passed, PassedWithWarnings, Failed, RetryLimitExceeded}, r.Status) {
		if err := e.logs.WriteState(e.executionState(ctx, v, &r)); err != nil {
			r.Notes = append(r.Notes, "the execution state cannot be written: "+err.Error())
		}
	}
	if r.Status == Passed && e.clear { // else they are what an agent was told to read
		_ = log.Close() // some systems do not rename a file that is open
		e.archive(&r)
	}
	return r
}

func (e *execution) executionState(ctx context.Context, v *view, r *Result) logdir.State {
	state := logdir.State{
		LastRunCompletedAt: e.Now(),
		Branch:             v.position.Branch,
		Commit:             v.position.Head,
		Status:             string(r.Status),
		Tree:               v.tree.Known(),
		Run:                r.Run,
		Partial:            !e.whole(),
	}
	if in, err := e.inBase(context.WithoutCancel(ctx), v.position.Head, v.position); err == nil && v.position.BaseCommit != "" {
		state.CommitInBase = &in
	}
	return state
}

// archive puts the logs of a pass away, and has the result name where they are
// now.
func (e *execution) archive(r *Result) {
	if err := e.logs.Archive(); err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the logs cannot be put away: %v", err))
		return
	}
	r.ConsoleLogPath = e.logs.Archived(r.ConsoleLogPath)
	for i := range r.Gates {
		g := &r.Gates[i]
		if g.Log != "" {
			g.Log = e.logs.Archived(g.Log)
		}
		for j, file := range g.Reviews {
			g.Reviews[j] = e.logs.Archived(file)
		}
	}
}
