package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/stopgate/stopgate/internal/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/git"
	"github.com/stopgate/stopgate/internal/process"
)

// Execute runs the gates that the changes touch, and those with an open failure,
// and says how it went. It never ends the process, and it returns soon after ctx
// ends, with nothing left running.
func Execute(ctx context.Context, o Options) (result Result) {
	start := time.Now()
	defer func() {
		if r := recover(); r != nil {
			result = Result{Status: Error, Message: fmt.Sprintf("Gauntlet broke down: %v.", r), ErrorMessage: fmt.Sprintf("%v\n%s", r, debug.Stack())}
		}
		result.Duration = time.Since(start)
		result.DurationMS = result.Duration.Milliseconds()
	}()
	return newExecution(o).run(ctx)
}

// proving is how long it may take to find out what the passes of a run prove. They
// are only worth the time of another run.
const proving = 10 * time.Second

// execution is one run on its way.
type execution struct {
	Options
	logs    logdir.Dir
	ledger  *ledger.Ledger
	tree    *change.Worktree
	plan    planner
	console console
	debug   func(format string, args ...any)
	n       int                 // the number of the run
	notes   []string            // for the person
	remarks map[string][]string // on the agent's words, by job
	clear   bool                // nothing is open after the run
	proving time.Duration
}

func newExecution(o Options) *execution {
	if o.Scope.Base == "" {
		o.Scope.Base = o.Project.Config.Gauntlet.BaseBranch
	}
	book := ledger.Open(o.StateDir, o.Project.Root)
	logs := logsOf(o.Project)
	e := &execution{
		Options: o,
		logs:    logs,
		debug:   debugLog(logs, o.Project, o.Global, o.Now),
		ledger:  book,
		remarks: map[string][]string{},
		proving: proving,
		tree:    change.Open(o.Project.Root, o.Project.Config.Gauntlet.LogDir, book.IndexFile(), o.Environ, o.Now),
		plan:    planner{root: o.Project.Root, gates: o.Project.Gates, ci: inCI(o.Environ)},
	}
	if o.Console != nil {
		e.console.to = []io.Writer{o.Console}
	}
	return e
}

func (e *execution) run(ctx context.Context) Result {
	v := &view{}
	var err error
	if v.state, err = e.ledger.Read(); err != nil {
		return unavailable("the ledger cannot be read", err)
	}
	if err := e.look(ctx, v); err != nil {
		return e.blind(ctx, v, err)
	}
	if r, ok := e.withoutRunning(ctx, v); ok {
		return r
	}
	lock, err := e.logs.Acquire(e.Now())
	var held *logdir.HeldError
	switch {
	case errors.As(err, &held):
		return locked(held.Owner, held.Path)
	case err != nil:
		return e.cannotRun(ctx, v, "the log directory cannot be written: "+err.Error())
	}
	defer lock.Release()
	if lock.Reclaimed {
		process.EndMarked(e.mark()) // the run that was killed may have left gates that go on
	}
	return e.locked(ctx, v)
}

// mark is an environment entry of all that runs under this log directory's lock.
func (e *execution) mark() string { return "STOPGATE_RUN=" + e.logs.Path() }

// view is what there is to see before a gate runs.
type view struct {
	position change.Position
	tree     change.Tree
	state    ledger.State
	chosen   *selection   // what the changes lead to; nil before anyone asked
	look     *ledger.Look // to be remembered; nil where the ledger has it
	outside  string       // likewise, see ledger.Look
}

// look finds out where the working tree stands and what it holds. Both ask git;
// they do it at the same time.
func (e *execution) look(ctx context.Context, v *view) (err error) {
	treed := make(chan error, 1)
	go func() { treed <- e.lookAtTree(ctx, v) }()
	v.position, err = e.tree.Position(ctx, e.Scope)
	if treeErr := <-treed; err == nil {
		err = treeErr
	}
	return err
}

// lookAtTree lets no panic out of its goroutine.
func (e *execution) lookAtTree(ctx context.Context, v *view) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("look at the working tree: %v", r)
		}
	}()
	v.tree, err = e.tree.Tree(ctx)
	return err
}

// IsBadRevision reports whether an error is about a base or a commit that somebody
// named and that is none.
func IsBadRevision(err error) bool {
	var base *change.BaseError
	return errors.As(err, &base) || errors.Is(err, git.ErrNoSuchRef)
}

// blind is the result when the changes cannot be seen.
func (e *execution) blind(ctx context.Context, v *view, err error) Result {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		r := unavailable(over(ctx), nil)
		r.Interrupted = true
		return r
	case ctx.Err() != nil:
		return e.cannotRun(ctx, v, over(ctx))
	case IsBadRevision(err):
		return Result{Status: Error, Message: sentence(err.Error()), ErrorMessage: err.Error(), Err: err}
	}
	return e.cannotRun(ctx, v, "the changes cannot be seen: "+err.Error())
}
