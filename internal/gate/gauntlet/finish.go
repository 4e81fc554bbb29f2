package gauntlet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// finish closes the run's logs and says how it went.
func (e *execution) finish(ctx context.Context, v *view, r Result, log *os.File) Result {
	r.Run = e.n
	if disk.Exists(log.Name()) { // else a gate has removed the log directory
		r.ConsoleLogPath = log.Name()
	}
	r.Message = messageFor(&r)
	e.console.summary(&r)
	e.debug("RUN_END status=%s passed=%d proven=%d failed=%d could_not_run=%d not_started=%d", append([]any{r.Status}, r.counts()...)...)
	if v.unseen == nil && !r.withheld() && slices.Contains([]Status{Passed, PassedWithWarnings, Failed, RetryLimitExceeded}, r.Status) {
		if err := e.logs.WriteState(e.executionState(ctx, v, &r)); err != nil {
			r.Notes = append(r.Notes, "cannot write the execution state: "+err.Error())
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
		r.Notes = append(r.Notes, fmt.Sprintf("cannot archive the logs: %v", err))
		return
	}
	if r.ConsoleLogPath != "" {
		r.ConsoleLogPath = e.logs.Archived(r.ConsoleLogPath)
	}
	for i := range r.Gates {
		g := &r.Gates[i]
		if filepath.Dir(g.Log) == e.logs.Path() {
			g.Log = e.logs.Archived(g.Log)
		}
		for j, file := range g.Reviews {
			g.Reviews[j] = e.logs.Archived(file)
		}
	}
}
