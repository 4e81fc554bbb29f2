package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/process"
)

// locked runs the gates. Nobody else runs any in this log directory meanwhile.
func (e *execution) locked(ctx context.Context, v *view) Result {
	if why := e.changedContext(ctx, v); why != "" {
		if err := e.autoClean(ctx, why); err != nil {
			// The gates can run all the same.
			e.forPerson = append(e.forPerson, "cannot archive the logs of earlier work: "+err.Error())
		}
	}
	if state, err := e.ledger.Read(); err == nil { // others may have written before we had the lock
		v.state = state
	}
	s, err := e.selected(ctx, v)
	if err != nil {
		r, _ := e.ended(ctx, v, err)
		return r
	}
	log, n, err := e.logs.Console()
	if err != nil {
		return e.cannotRun(ctx, v, "cannot write the log directory: "+err.Error())
	}
	defer log.Close()
	e.openConsole(log, n, s.note)

	e.takeEdits(v)
	jobs, gone := e.due(v, s)
	e.debug("RUN_START base_ref=%s files_changed=%d gates=%d", v.position.Base, s.changed, len(jobs))
	end := e.settled(ctx, verdicts{v, e.gates(ctx, v, jobs), gone})
	v, gone = end.view, end.gone
	r := e.result(v)
	r.spared, r.Gates = unaffected, end.gates
	r.Notes = append(slices.Clip(r.Notes), e.unproven...)
	if v.position.Baseless() && slices.ContainsFunc(r.Gates, GateResult.reviewed) {
		r.Told = append(r.Told, "reviews saw every file: "+v.position.Note)
	}
	e.keepLogs(r.Gates)
	if len(r.Gates) == 0 && len(gone) == 0 {
		r.Status = NoApplicableGates
		return e.finish(ctx, v, r, log)
	}
	if r.withheld() {
		r.Status = Failed
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

// due lists the jobs of the run, and the open failures whose gate is gone.
func (e *execution) due(v *view, s *selection) (jobs []*Job, gone []string) {
	jobs = s.jobs
	if v.state.Damaged {
		e.say("note: the ledger is damaged; every gate runs")
		jobs = e.plan.all()
	}
	jobs, gone = e.withOpen(jobs, &v.state)
	if !e.whole() {
		gone = nil // a run of some says nothing about the others
	}
	return e.meant(jobs), gone
}

// cannotRun is the result when no gate can be run at all. Those that are red stay
// so.
func (e *execution) cannotRun(ctx context.Context, v *view, why string) Result {
	jobs, _ := e.withOpen(nil, &v.state)
	if e.robbed(ctx) {
		jobs = e.plan.all()
	}
	if jobs = e.meant(jobs); len(jobs) == 0 {
		return unavailable(why)
	}
	r := e.result(v)
	r.spared = notJudged(why)
	for _, job := range jobs {
		gate := job.result(GateCouldNotRun, why)
		if e.robbed(ctx) {
			e.cutOff(&gate)
		}
		r.Gates = append(r.Gates, gate)
	}
	e.record(ctx, v, &r, nil)
	for i := range r.Gates {
		e.console.finished(&r.Gates[i])
	}
	return e.announce(r)
}

// robbed reports whether the time is over because Claude Code's settings grant less of it than the
// hook was installed with. An agent can write these: what it left no time for is red.
func (e *execution) robbed(ctx context.Context) bool {
	return e.Limit.Shortened > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// owedTime reports whether a gate that there was no time to start is red: it has finished in time before.
func (e *execution) owedTime(ctx context.Context, job *Job) bool {
	_, finished := job.Before(e.history)
	return finished && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// openConsole begins the log of a run's console.
func (e *execution) openConsole(log io.Writer, n int, note string) {
	e.n = n
	e.console.to = append(e.console.to, log)
	for _, line := range e.notes {
		e.say("%s", line)
	}
	if note != "" {
		e.say("note: %s", note)
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
		if v.unseen == nil {
			job.key = prover.key(ctx, job)
		}
		if result, ok := e.proven(ctx, v, prover, job, job.key); ok && !e.NoCache {
			results[i] = result
			proven = append(proven, job)
			continue
		}
		if why := e.notVouched(ctx, v, prover, job); why != "" && !e.NoCache {
			e.unproven = append(e.unproven, fmt.Sprintf("%s runs: %s", job.ID(), why))
			e.say("note: %s", e.unproven[len(e.unproven)-1])
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
			switch {
			case e.robbed(ctx):
				e.cutOff(&r)
			case r.late && e.owedTime(ctx, r.job):
				e.notReached(&r)
			}
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
