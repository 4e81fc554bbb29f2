package gauntlet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/check"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// runnerJob is the name of an external gauntlet among the jobs.
const runnerJob = "runner"

// runExternal runs another gauntlet in place of our gates and reads its status
// off its exit code and its output. It takes the run's lock itself, as the older
// tool does, so we must not. What it fails at is an open failure as any other.
func runExternal(ctx context.Context, o Options, runner []string) (result Result) {
	if r, withheld := withheldBefore(o.Project); withheld {
		return r
	}

	e := newExecution(o)
	var v view
	defer func() { e.keepTree(ctx, &result) }()
	if e.look(ctx, &v) == nil && e.untouched(&v) {
		return e.unchanged(ctx, &v)
	}

	r := Result{Tree: v.tree.Mark(), MaxRetries: o.Project.Config.Gauntlet.MaxRetries}
	gate := GateResult{Job: runnerJob, Kind: KindCheck, Name: runnerJob, Outcome: GateCouldNotRun}
	file, n, err := e.logs.Console()
	if err != nil && e.useSpareLogs(err) {
		file, n, err = e.logs.Console()
	}
	if err != nil {
		r.Status, gate.Message = InfrastructureError, "cannot write the log directory: "+err.Error()
	} else {
		defer file.Close()
		r.ConsoleLogPath, r.Run, gate.Log = file.Name(), n, file.Name()
		r.Status = e.startRunner(ctx, runner, file, &gate)
	}

	r.Gates, r.spared = []GateResult{gate}, notJudged("stop_hook.runner runs instead of the gates")
	e.keepLogs(r.Gates)
	if r.withheld() {
		r.Message = messageFor(&r)
		return r
	}
	if r.Interrupted = errors.Is(ctx.Err(), context.Canceled); !r.Interrupted {
		e.recordRunner(ctx, &r, runner)
	}
	r.Message, r.Told = runnerMessage(&r), e.forPerson
	return r
}

// startRunner runs an external gauntlet, and says in gate how it ended.
func (e *execution) startRunner(ctx context.Context, runner []string, log io.Writer, gate *GateResult) Status {
	phrases := &phrases{}
	p := e.Project.Content.Run(ctx, process.Command{
		Args:   runner,
		Dir:    e.Project.Root,
		Env:    append(e.Environ[:len(e.Environ):len(e.Environ)], claude.ActiveVariable+"=1"),
		Output: io.MultiWriter(phrases, check.NewLog(log)), // a full disk must not hide what it says
	})
	gate.Message, gate.Tail = p.String(), plain.Text(p.Tail)
	if gate.withheld = errors.Is(p.Err, trust.ErrWithheld); gate.withheld {
		gate.Outcome, gate.Message = GateFailed, p.Err.Error()
		return Failed
	}
	if !p.Ran() {
		gate.Message = notRun(ctx, runner[0], p)
		return e.runnerVanished(ctx, runner, p, gate)
	}

	ended := ledger.Finishes{runnerJob: {At: e.Now().UTC(), In: p.Duration, Command: hashOf(runner)}}
	if err := ledger.OpenHistory(e.StateDir, e.Project.Root).Add(context.WithoutCancel(ctx), ended); err != nil {
		e.forPerson = append(e.forPerson, err.Error())
	}
	status := classify(p.OK(), phrases)
	gate.Outcome = GatePassed
	if status.IsBlocking() {
		gate.Outcome = GateFailed
	}
	return status
}

// runnerVanished is the status of a runner that could not run: failed if it could before, like a check.
func (e *execution) runnerVanished(ctx context.Context, runner []string, p process.Result, gate *GateResult) Status {
	cutOff := p.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded)
	before, known := e.history.Of(runnerJob, hashOf(runner))
	switch {
	case cutOff && (known || e.Limit.Shortened > 0):
		gate.Message += "; " + e.Limit.Advice()
	case known && (check.Missing(p, e.Project.Root) || unusable(p.Err)):
		gate.Message += fmt.Sprintf("; it ran here before, on %s", before.At.Local().Format(time.DateTime))
	default:
		return InfrastructureError
	}
	gate.Outcome = GateFailed
	return Failed
}

// unusable reports whether a program could not be started because it is not there, or may not be executed.
func unusable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) || errors.Is(err, syscall.EACCES)
}

func notRun(ctx context.Context, program string, p process.Result) string {
	if p.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("the external runner %q timed out", program)
	}
	return fmt.Sprintf("the external runner %q %s", program, p)
}

// recordRunner keeps what an external gauntlet failed at, and counts its failing
// runs.
func (e *execution) recordRunner(ctx context.Context, r *Result, runner []string) {
	ctx = context.WithoutCancel(ctx)
	tree, _ := e.tree.Tree(ctx) // without an id it counts as changed
	g := &r.Gates[0]
	conclusion, known := e.enter(ctx, ledger.Run{Tree: tree.ID, Gates: []ledger.GateRun{{
		Job: runnerJob, Kind: string(KindCheck), Name: runnerJob, Definition: strings.Join(runner, "\x00"),
		Result: ledger.Result(g.Outcome), Message: g.Message, Log: g.Log, Kept: g.kept,
	}}}, nil, r)
	if !known {
		return
	}
	r.Failures, r.NewLimit = conclusion.Failures, conclusion.NewLimit
	switch {
	case conclusion.LimitReached && conclusion.Failed:
		r.Status = RetryLimitExceeded
	case conclusion.Failed && r.Status == InfrastructureError:
		r.Status, g.Outcome = Failed, GateFailed
		g.Message += "; it failed before and has not passed since"
	}
}

// runnerMessage is messageFor an external gauntlet.
func runnerMessage(r *Result) string {
	switch r.Status {
	case Passed:
		return "Gauntlet passed: the external runner completed successfully."
	case NoApplicableGates:
		return "Gauntlet: the external runner reports no applicable gates."
	}
	return messageFor(r)
}

// classify follows the order of the specification: the exit code decides, and the
// output only says more about it.
func classify(ok bool, said *phrases) Status {
	switch {
	case ok && said.noGates:
		return NoApplicableGates
	case ok:
		return Passed
	case said.last != "":
		return said.last
	}
	return Failed
}

// phrases looks for a few words in output of any length.
type phrases struct {
	noGates bool
	last    Status // the latest termination condition
	rest    []byte // the end of what came, which may hold the start of a phrase
}

var terminations = []struct {
	words  string
	status Status
}{
	// The longer one first: it begins like the other.
	{"Status: Passed with warnings", TerminationWarnings},
	{"Status: Passed", TerminationPassed},
	{"Status: Retry limit exceeded", TerminationRetryLimit},
}

const longestPhrase = 64

// Write implements io.Writer.
func (p *phrases) Write(data []byte) (int, error) {
	text := append(p.rest, data...)
	p.noGates = p.noGates || bytes.Contains(text, []byte("No applicable gates"))
	p.last = lastTermination(string(text), p.last)
	p.rest = append([]byte(nil), text[max(0, len(text)-longestPhrase):]...)
	return len(data), nil
}

func lastTermination(text string, before Status) Status {
	at := strings.LastIndex(text, "Status: ")
	for at >= 0 {
		for _, t := range terminations {
			if strings.HasPrefix(text[at:], t.words) {
				return t.status
			}
		}
		at = strings.LastIndex(text[:at], "Status: ")
	}
	return before
}
