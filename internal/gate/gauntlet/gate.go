package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/check"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
)

// result begins the result of a job.
func (j *Job) result(outcome Outcome, message string) GateResult {
	return GateResult{job: j, Job: j.ID(), Kind: j.Kind, Entry: j.Entry, Name: j.Gate().Name, Outcome: outcome, Message: message}
}

// gateRunner runs the jobs of an execution.
type gateRunner struct {
	*execution
	view *view
	logs logdir.Dir // with names that keep the jobs apart
}

// run runs a job. Whatever breaks is a gate that could not run.
func (g gateRunner) run(ctx context.Context, job *Job) (r GateResult) {
	start, began := time.Now(), g.Now()
	defer func() {
		if p := recover(); p != nil {
			r = job.result(GateCouldNotRun, fmt.Sprintf("internal error: %v", p))
			g.say("%s", debug.Stack())
		}
		if r.Outcome == GateCouldNotRun && job.Gate().OnError == config.BlockOnError && ctx.Err() == nil {
			r.Outcome = GateFailed
			r.Message = "could not run, and on_error is block: " + r.Message
		}

		g.board.end(job)
		r.start, r.Duration = began, time.Since(start)
		r.DurationMS = r.Duration.Milliseconds()
		g.console.finished(&r)
		g.debug("GATE_RESULT %s status=%s duration=%.3fs violations=%d", r.Job, r.Outcome, r.Duration.Seconds(), len(r.Violations))
		g.watch(Event{Finished: &r})
	}()

	g.board.start(job, g.Now())
	g.console.started(job)
	g.watch(Event{Started: job})
	if job.Kind == KindReview {
		return g.review(ctx, job)
	}
	return g.check(ctx, job)
}

func (g gateRunner) check(ctx context.Context, job *Job) GateResult {
	log, err := g.createLog(job)
	if err != nil {
		return job.result(GateCouldNotRun, "cannot write the log directory: "+err.Error())
	}
	defer log.Close()

	dir := filepath.Join(g.Project.Root, filepath.FromSlash(job.Dir))
	c := check.Run(ctx, check.Request{
		Name:            job.Check.Name,
		Command:         job.Check.Command,
		Dir:             dir,
		Run:             g.Project.Content.Run,
		Env:             g.environ(baseVariable + "=" + g.baseBranch(g.view)),
		Timeout:         job.Check.Timeout,
		FixInstructions: job.Check.FixInstructions,
		Log:             log,
		Echo:            g.echo(job),
		Now:             g.Now,
	})

	r := job.result(GateCouldNotRun, c.Message)
	r.Log, r.Tail, r.timedOut, r.killed, r.ended = log.Name(), c.Tail, c.TimedOut, c.Killed, c.Ran && !c.TimedOut
	switch {
	case c.Passed:
		r.Outcome = GatePassed
	case c.Ran:
		r.Outcome, r.FixInstructions = GateFailed, job.Check.FixInstructions
	case errors.Is(c.Err, trust.ErrWithheld):
		r.Outcome, r.Message, r.withheld = GateFailed, c.Err.Error(), true
	case c.Missing:
		g.vanished(&r)
	case c.CutOff:
		g.cutOff(&r)
	}
	return r
}

// createLog makes the file for the output of a check. A gate may have removed the log directory (`git clean -fdx`), or
// taken its permissions: then it is made again, or the file is in the state directory. Where the logs are says nothing
// about the work.
func (g gateRunner) createLog(job *Job) (*os.File, error) {
	if g.again {
		_ = os.Remove(g.logs.CheckLog(job.ID(), g.n)) // of the first time, if the gate ran then
	}
	log, err := g.logs.CreateCheckLog(job.ID(), g.n)
	if err == nil {
		return log, nil
	}
	spare := g.spareLogs().Path()
	if os.MkdirAll(spare, 0o700) != nil {
		return nil, err
	}
	if log, spared := os.CreateTemp(spare, logdir.Stem(job.ID())+".*.log"); spared == nil {
		return log, nil
	}
	return nil, err
}

// vanished makes a gate that could not be found a failed one, if it could be before: then
// it is the work that has lost it.
func (g gateRunner) vanished(r *GateResult) {
	if before, known := r.job.Ran(g.history, g.Project.Root); known {
		r.Outcome = GateFailed
		r.Message += fmt.Sprintf("; it ran here before, on %s", before.At.Local().Format(time.DateTime))
	}
}

// cutOff makes a gate that did not end in time a failed one, if it did before.
func (e *execution) cutOff(r *GateResult) {
	r.unseen = true
	before, known := r.job.Before(e.history)
	if e.Limit.Shortened > 0 {
		r.Outcome = GateFailed
		r.Message += "; " + e.Limit.Advice()
		return
	}
	if !known {
		r.Message += ", and has never finished in time; " + e.Limit.Advice()
		return
	}
	r.Outcome = GateFailed
	r.Message += fmt.Sprintf("; it took %s before. If it needs longer now, %s", before.In.Round(time.Second), e.Limit.Advice())
}

// notReached makes a gate that there was no time to start a failed one.
func (e *execution) notReached(r *GateResult) {
	r.Outcome, r.unseen = GateFailed, true
	r.Message += "; it finished in time before. Other gates took the time: " + e.Limit.Advice()
}

// environ is what gates run with, and more.
func (g gateRunner) environ(more ...string) []string {
	return slices.Concat(g.Environ, []string{g.mark}, more)
}

// echo shows the watcher the last line that a job printed; nil without one.
func (g gateRunner) echo(job *Job) io.Writer {
	if g.Watch == nil {
		return nil
	}
	return &lines{say: func(line string) { g.watch(Event{Printed: job, Line: line}) }}
}
