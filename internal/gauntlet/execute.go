package gauntlet

import (
	"context"
	"errors"
	"fmt"
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
	return &execution{
		Options: o,
		logs:    logs,
		debug:   debugLog(logs, o.Project, o.Global, o.Now),
		ledger:  book,
		remarks: map[string][]string{},
		proving: proving,
		tree:    change.Open(o.Project.Root, o.Project.Config.Gauntlet.LogDir, book.IndexFile(), o.Environ, o.Now),
		plan:    planner{root: o.Project.Root, gates: o.Project.Gates, ci: inCI(o.Environ)},
	}
}

func (e *execution) run(ctx context.Context) Result {
	v, err := e.look(ctx)
	if err != nil {
		return e.blind(ctx, err)
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
func (e *execution) look(ctx context.Context) (*view, error) {
	v := &view{}
	treed := make(chan error, 1)
	go func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("look at the working tree: %v", r)
			}
			treed <- err
		}()
		v.tree, err = e.tree.Tree(ctx)
		return err
	}()
	position, err := e.tree.Position(ctx, e.Scope)
	if treeErr := <-treed; err == nil {
		err = treeErr
	}
	if err != nil {
		return nil, err
	}
	v.position = position
	v.state, err = e.ledger.Read()
	return v, err
}

// IsBadRevision reports whether an error is about a base or a commit that somebody
// named and that is none.
func IsBadRevision(err error) bool {
	var base *change.BaseError
	return errors.As(err, &base) || errors.Is(err, git.ErrNoSuchRef)
}

// blind is the result when the changes cannot be seen.
func (e *execution) blind(ctx context.Context, err error) Result {
	if ctx.Err() != nil {
		r := unavailable(over(ctx), nil)
		r.Interrupted = errors.Is(ctx.Err(), context.Canceled)
		return r
	}
	if IsBadRevision(err) {
		return Result{Status: Error, Message: sentence(err.Error()), ErrorMessage: err.Error(), Err: err}
	}
	return unavailable("the changes cannot be seen", err)
}
