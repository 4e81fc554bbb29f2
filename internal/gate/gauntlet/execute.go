package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Execute runs the gates that the changes touch, and those with an open failure,
// and says how it went. It never ends the process, and it returns soon after ctx
// ends, with nothing left running.
func Execute(ctx context.Context, o Options) (result Result) {
	start := time.Now()
	defer func() {
		if r := recover(); r != nil {
			result = Result{Status: Error, Message: fmt.Sprintf("Gauntlet: internal error: %v.", r), ErrorMessage: fmt.Sprintf("%v\n%s", r, debug.Stack())}
		}
		result.Duration = time.Since(start)
		result.DurationMS = result.Duration.Milliseconds()
	}()
	e := newExecution(o)
	result = e.run(ctx)
	e.keepTree(ctx, &result)
	return result
}

const (
	// proving is how long it may take to find out what the passes of a run prove. They
	// are only worth the time of another run.
	proving = 10 * time.Second
	// looking is how long git may take to say what has changed. 100,000 files take a
	// second.
	looking = 30 * time.Second
	// keeping is how long git may take to say how it writes files in repositories that are new.
	keeping = 5 * time.Second
)

// execution is one run on its way.
type execution struct {
	Options
	logs    logdir.Dir
	ledger  *ledger.Ledger
	tree    *change.Worktree
	seen    change.Tree // as it was when the run last looked
	own     []string    // what the agent has altered in it since its baseline
	plan    planner
	console console
	debug   func(format string, args ...any)
	n       int      // the number of the run
	notes   []string // for the console
	// unproven are the gates that run although they accept passes elsewhere, and why.
	unproven  []string
	forPerson []string            // for the person, whatever the outcome
	remarks   map[string][]string // on the agent's words, by job
	clear     bool                // nothing is open after the run
	mark      string              // an environment entry of all that the run starts
	board     board               // of the gates that run
	again     bool                // gates run for the second time
	history   ledger.Finishes
	proving   time.Duration
	looking   time.Duration
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
		history: ledger.OpenHistory(o.StateDir, o.Project.Root).Read(),
		proving: proving,
		looking: looking,
		tree:    change.Open(o.Project.Root, o.Project.Config.Gauntlet.LogDir, book.IndexFile(), o.Environ, o.Now),
		plan:    planner{root: o.Project.Root, gates: o.Project.Gates, ci: inCI(o.Environ)},
	}

	if o.Limit.Shortened > 0 {
		e.forPerson = append(e.forPerson, fmt.Sprintf("the settings of Claude Code give stopgate's hook only %s, less than it was installed with (see: stopgate doctor)", o.Limit.Shortened))
	}
	if o.Console != nil {
		e.console.to = []io.Writer{o.Console}
	}
	return e
}

func (e *execution) run(ctx context.Context) Result {
	for {
		v, r, decided := e.before(ctx)
		if decided {
			return r
		}
		if r, withheld := withheldBefore(e.Project); withheld {
			r.Tree = v.tree.Mark()
			return r
		}

		lock, err := e.acquire()
		var held *logdir.HeldError
		switch {
		case errors.As(err, &held) && e.isPartOf(held.Owner):
			return within()
		case errors.As(err, &held) && !e.waits(v):
			return locked(held.Owner, held.Path)
		case errors.As(err, &held):
			if !e.await(ctx) {
				return e.outwaited(ctx, v, held)
			}
			continue // what the other run has done may be all that was to do
		case err != nil:
			return e.cannotRun(ctx, v, "cannot write a log: "+err.Error())
		}
		defer lock.Release()

		if lock.Left != (logdir.Owner{}) {
			process.EndMarked(runMark(lock.Left)) // it may have left gates that go on
		}
		e.mark = runMark(lock.Owner)
		e.board.Run, e.board.file = lock.Owner.Mark(), runningFile(e.StateDir, e.Project.Root)
		defer e.board.close()
		return e.locked(ctx, v)
	}
}

// isPartOf reports whether a gate of that run started this process.
func (e *execution) isPartOf(run logdir.Owner) bool {
	return run != (logdir.Owner{}) && slices.Contains(e.Environ, runMark(run))
}

// within is the result for an agent that a gate started. To wait for the run would be a deadlock: it waits for the gate, and
// the gate for the agent.
func within() Result {
	r := said(LockExists, "A gate of the run that is in progress has started this session; nothing was checked for it.")
	r.spared = notJudged("it is part of another run")
	return r
}

// waits reports whether the run waits for another one to end. The older tool's hook lets
// the agent go instead, unless something is open.
func (e *execution) waits(v *view) bool {
	return e.Answers && (e.Session == "" || len(v.state.Open) > 0 || v.state.Damaged)
}

// before looks at what there is, and answers where no gate has to run.
func (e *execution) before(ctx context.Context) (v *view, r Result, decided bool) {
	v = &view{}
	var err error
	if v.state, err = e.ledger.Read(); err != nil {
		e.notes = append(e.notes, "cannot read the ledger, so every gate runs: "+err.Error())
		v.state.Damaged = true
	}
	if err := e.look(ctx, v); err != nil {
		if r, decided := e.ended(ctx, v, err); decided {
			return v, r, true
		}
		v.unseen = err
	}
	if e.untouched(v) {
		return v, e.unchanged(ctx, v), true
	}
	r, decided = e.withoutRunning(ctx, v)
	return v, r, decided
}

// untouched reports whether the agent has nothing to answer for: the tree is the one that
// it found, and it was not refused on it. A plan changes nothing unless the tree says that
// something has changed.
func (e *execution) untouched(v *view) bool {
	if !e.Answers || e.Red {
		return false
	}
	now := v.tree.Mark()
	if e.Baseline == "" || now == "" {
		return e.Plan || v.onlyRead
	}
	return now == e.Baseline || v.idle || v.onlyRead
}

// onlyReads reports whether the agent has only read, so that others made the changes. After a refusal that does not matter.
func (e *execution) onlyReads() bool { return !e.Red && e.OnlyReads != nil && e.OnlyReads() }

// unchanged is the result for a tree that is the one that the agent found.
func (e *execution) unchanged(ctx context.Context, v *view) Result {
	r := said(Unchanged, "Nothing has changed since the agent started; no gate ran.")
	r.Tree, r.since = v.tree.Mark(), e.Found
	switch {
	case v.onlyRead:
		r.Message, r.since = "The agent only read, so the changes are not its work; no gate ran.", event.SinceReads
	case r.Tree == "" || e.Baseline == "":
		r.spared, r.since = notJudged("plan mode"), event.SincePlan
	}
	if aside := e.aside(ctx, v); len(aside) > 0 {
		r.Told = append(r.Told, notSeen(aside))
	}
	return r
}

// aside is what the session has put where no gate looks.
func (e *execution) aside(ctx context.Context, v *view) []string {
	return e.tree.Aside(ctx, e.Scope, v.position, v.tree, e.Since)
}

// notSeen says what a session has put where no gate looks.
func notSeen(aside []string) string { return "no gate has seen " + strings.Join(aside, ", ") }

// acquire takes the run's lock.
func (e *execution) acquire() (*logdir.Lock, error) {
	lock, err := e.logs.Acquire(e.Now())
	if err != nil && !errors.Is(err, logdir.ErrHeld) && e.useSpareLogs(err) {
		return e.logs.Acquire(e.Now())
	}
	return lock, err
}

// useSpareLogs replaces a log directory that cannot be used by one in the state directory:
// where the logs are says nothing about the work. It reports whether that is news.
func (e *execution) useSpareLogs(why error) bool {
	spare := e.spareLogs()
	if e.logs.Path() == spare.Path() {
		return false
	}
	e.forPerson = append(e.forPerson, fmt.Sprintf("%v; the logs of this run are in %s", why, spare.Path()))
	e.logs = spare
	return true
}

// spareLogs is the log directory for a project's runs that is not in the project.
func (e *execution) spareLogs() logdir.Dir {
	return logdir.At(filepath.Join(e.StateDir, "logs", "runs", trust.ProjectKey(e.Project.Root)))
}

// await waits for another run to end; false when our own time is over before.
func (e *execution) await(ctx context.Context) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		if !e.logs.Busy() {
			return true
		}
	}
}

// outwaited is the result when another run did not end in time. It says nothing about the
// work, so it does not count as a retry; but an agent that was red, or has changed
// something, is still blocked.
func (e *execution) outwaited(ctx context.Context, v *view, held *logdir.HeldError) Result {
	r := locked(held.Owner, held.Path)
	if errors.Is(ctx.Err(), context.Canceled) {
		r.Interrupted = true
		return r
	}
	if len(v.state.Open) > 0 || v.state.Damaged || e.leftBaseline(v) {
		r.Status = Failed
		r.Gates = []GateResult{{Job: "lock", Kind: KindCheck, Name: "lock", Outcome: GateFailed, Message: r.Message + " Stop again when that run has ended."}}
	}
	return r
}

// leftBaseline reports whether the tree is not the one that the agent found.
func (e *execution) leftBaseline(v *view) bool {
	return e.Baseline == "" || v.tree.Mark() != e.Baseline
}

// runMark is an environment entry of all that one run starts.
func runMark(owner logdir.Owner) string { return "STOPGATE_RUN=" + owner.Mark() }

// view is what there is to see before a gate runs.
type view struct {
	position change.Position
	tree     change.Tree
	state    ledger.State
	idle     bool         // the tree differs from the baseline only in what comes and goes without any work
	onlyRead bool         // whoever made the changes, the agent did not: it has only read
	chosen   *selection   // what the changes lead to; nil before anyone asked
	look     *ledger.Look // to be remembered; nil where the ledger has it
	outside  string       // likewise, see ledger.Look
	after    *change.Tree // the tree after the run; nil before lookAfter
	unseen   error        // why the tree could not be looked at; then everything counts as changed
}

// look finds out where the working tree stands and what it holds. Both ask git;
// they do it at the same time, which has a limit of its own: a pipe in place of .gitignore
// must not use up the time of the gates.
func (e *execution) look(ctx context.Context, v *view) (err error) {
	ctx, cancel := context.WithTimeout(ctx, e.looking)
	defer cancel()
	looked := make(chan error, 1)
	go func() { looked <- e.lookAtTree(ctx, v) }()
	tree := sync.OnceValues(func() (change.Tree, error) { err := <-looked; return v.tree, err })
	v.position, err = e.tree.PositionBeside(ctx, e.Scope, tree)
	if _, treeErr := tree(); err == nil {
		err = treeErr
	}
	if err == nil && e.whole() {
		e.Scope.Made, err = e.tree.Made(ctx, v.position, e.Since)
	}
	e.Scope.Altered, e.Scope.Moved, e.Scope.Visiting, e.own = nil, nil, false, []string{change.Everything}
	switch {
	case err != nil || !e.Answers || !e.leftBaseline(v):
	case e.onlyReads():
		v.onlyRead, e.own = true, nil
	case e.Baseline != "":
		err = e.lookAtAltered(ctx, v)
	}
	if err == nil && e.Answers && !e.Red && (e.Baseline == "" || e.Scope.Moved != nil) {
		e.Scope.Visiting = e.tree.Visiting(ctx, e.Scope, v.position, v.tree, e.baseline(), e.Since)
	}
	return err
}

// lookAtAltered finds out what the agent has altered. If that is nothing, all that is new came from others, and what is
// not committed is a person's.
func (e *execution) lookAtAltered(ctx context.Context, v *view) error {
	altered, err := e.tree.Altered(ctx, v.tree, e.baseline())
	if err != nil {
		return err
	}
	e.Scope.Altered, e.own, v.idle = altered.Files, altered.Files, altered.Idle
	if len(altered.Files) == 0 && !e.Red {
		e.Scope.Moved = altered.Moved
	}
	return nil
}

// keepTree keeps the tree of a result that the session goes on from: what differs from it at the next stop
// counts as changed.
func (e *execution) keepTree(ctx context.Context, r *Result) {
	if e.Answers && r.Status.settles() && r.Tree != "" && r.Tree != e.Baseline && r.Tree == e.seen.Mark() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keeping)
		defer cancel()
		_ = e.tree.Keep(ctx, e.seen, e.baseline(), e.own...) // without it everything counts as changed then
	}
}

// baseline is the tree that the agent found, as its session knows it.
func (e *execution) baseline() change.Baseline {
	return change.Baseline{Session: e.Since.Session, Tree: e.Baseline}
}

// lookAtTree lets no panic out of its goroutine.
func (e *execution) lookAtTree(ctx context.Context, v *view) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("read the working tree: %v", r)
		}
	}()
	v.tree, err = e.tree.Tree(ctx)
	e.seen = v.tree
	return err
}

// IsBadRevision reports whether an error is about a base or a commit that somebody
// named and that is none.
func IsBadRevision(err error) bool {
	var base *change.BaseError
	return errors.As(err, &base) || errors.Is(err, git.ErrNoSuchRef)
}

// ended is the result when looking failed because the run is over, or because a person
// named a base or commit that does not exist. Any other error means that everything counts as
// changed.
func (e *execution) ended(ctx context.Context, v *view, err error) (Result, bool) {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		r := unavailable(whyEnded(ctx))
		r.Interrupted = true
		return r, true
	case ctx.Err() != nil:
		return e.cannotRun(ctx, v, whyEnded(ctx)), true
	case IsBadRevision(err) && !e.Answers:
		return Result{Status: Error, Message: sentence(err.Error()), ErrorMessage: err.Error(), Err: err}, true
	}
	return Result{}, false
}
