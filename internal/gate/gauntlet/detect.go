package gauntlet

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
)

// Detection is what a run would look at.
type Detection struct {
	Base      string // what the changes are counted from
	MergeBase string
	Note      string // why everything counts as changed, if it does
	Baseless  bool   // it does for want of a base
	Files     []string
	Jobs      []*Job
	Open      []string // the ids of jobs with an open failure
	Limit     bool     // the retry limit is reached
}

// Detect finds out what a run would do, and does nothing.
func Detect(ctx context.Context, o Options) (Detection, error) {
	e := newExecution(o)
	position, err := e.tree.Position(ctx, e.Scope)
	if err != nil {
		return Detection{}, err
	}
	set, err := e.tree.Changes(ctx, e.Scope, position)
	if err != nil {
		return Detection{}, err
	}
	state, err := e.ledger.Read()
	if err != nil {
		return Detection{}, err
	}
	jobs, _ := e.withOpen(e.plan.jobs(set.Files), &state)
	d := Detection{
		Base: position.Base, MergeBase: position.MergeBase, Baseless: position.Baseless(), Note: set.Note,
		Files: set.Files, Jobs: e.meant(jobs), Limit: state.Series.Limit,
	}
	for _, failure := range state.Open {
		d.Open = append(d.Open, failure.Job)
	}
	return d, nil
}

// ProvenJobs are the ids of the jobs that a run would not start: they passed before for exactly what there is now. Where
// that cannot be found out, all would run.
func ProvenJobs(ctx context.Context, o Options, jobs []*Job) map[string]bool {
	e := newExecution(o)
	v := &view{}
	var err error
	if v.state, err = e.ledger.Read(); err != nil || v.state.Damaged {
		return nil
	}
	if e.look(ctx, v) != nil {
		return nil
	}

	found, prover := map[string]bool{}, e.prover(v, v.tree)
	for _, job := range jobs {
		if _, ok := e.proven(ctx, v, prover, job, prover.key(ctx, job)); ok {
			found[job.ID()] = true
		}
	}
	return found
}

// Jobs lists every job of a project, whatever has changed.
func Jobs(project *keeper.Project, environ []string) []*Job {
	return planner{root: project.Root, gates: project.Gates, ci: inCI(environ)}.all()
}

// AnyRuns reports whether a gate of the project runs where we are, CI or not, once files lead to it.
func AnyRuns(project *keeper.Project, environ []string) bool {
	p := planner{gates: project.Gates, ci: inCI(environ)}
	return slices.ContainsFunc(project.Gates.EntryPoints, func(ep config.EntryPoint) bool {
		return slices.ContainsFunc(ep.Checks, func(c *config.Check) bool { return p.here(&c.Gate) }) ||
			slices.ContainsFunc(ep.Reviews, func(r *config.Review) bool { return p.here(&r.Gate) })
	})
}

// Clean archives the logs of a project. If a person asks for it, the series of retries is
// over; an agent's own does not start it anew while something is open. Open failures stay
// open. It reports whether there was anything to archive.
func Clean(ctx context.Context, stateDir, root, logDir string, person bool, now time.Time) (bool, error) {
	logs := logdir.At(logPath(root, logDir))
	lock, err := logs.Acquire(now)
	if err != nil {
		return false, err
	}
	moved, err := logs.Clean()
	if err == nil {
		err = logsMoved(ctx, ledger.Open(stateDir, root), person)
	}
	return moved, errors.Join(err, lock.Release())
}

// logsMoved notes that logs were archived. The series of retries is over where a person says so, or
// nothing is open.
func logsMoved(ctx context.Context, book *ledger.Ledger, person bool) error {
	return book.Update(ctx, func(state *ledger.State) error {
		state.LogsMoved()
		if person || len(state.Open) == 0 {
			state.EndSeries()
		}
		return nil
	})
}
