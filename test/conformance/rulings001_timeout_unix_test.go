//go:build unix

package conformance

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/project/config"
)

// hanging is a check that hangs, with a child and a grandchild in a session of its
// own; each notes its process.
const hanging = `base_branch: main
entry_points:
  - path: .
    checks:
      - name: tests
        command: echo $$ >> "$RUNS"; (sleep 600 & echo $! >> "$RUNS"); setsid sh -c 'echo $$ >> "$RUNS"; exec sleep 600' & wait; sleep 600
`

// nothingIsLeft demands that all processes that were noted have ended. What had little time may
// have ended before it noted any.
func (g *gated) nothingIsLeft() {
	g.t.Helper()
	for _, pid := range g.noted() {
		eventually(g.t, "process "+pid+" ends", func() bool { return syscall.Kill(atoi(g.t, pid), 0) != nil || defunct(g.t, pid) })
	}
}

// noted are the processes that were.
func (g *gated) noted() []string {
	g.t.Helper()
	return strings.Fields(slurp(g.t, g.beside("runs")))
}

func TestRuling115AGateBeyondItsTimeFailed(t *testing.T) {
	g := newGated(t, hanging+"        timeout: 1\n")
	a := g.stop()
	a.is(t, "failed")
	contains(t, a.Reason, "Timed out after 1s")
	g.nothingIsLeft()
}

func TestRuling115ARunBeyondItsDeadlineCouldNotRun(t *testing.T) {
	g := newGated(t, hanging)
	g.set("GAUNTLET_STOP_HOOK_DEADLINE=10")
	a := g.stop()
	a.is(t, "infrastructure_error", "cut off after", "stop_hook.deadline (10s)")
	g.nothingIsLeft()
	if exists(g.log(".gauntlet-run.lock")) {
		t.Error("the lock was left")
	}
}

// Nothing but the hook's timeout bounds a run and its gates, where the configuration is
// silent; the hook answers before the client would end it.
func TestRuling115DefaultsFitIntoEachOther(t *testing.T) {
	g := newGated(t, hanging)
	gate := g.options().Project.Gates.EntryPoints[0].Checks[0].Timeout
	run := config.ResolveStopHook(nil, config.StopHook{}, config.StopHook{}, config.HookDefaults).Deadline
	hook := stop.Budget(300 * time.Second)
	if gate != 0 || run != 0 || hook != 285*time.Second {
		t.Errorf("gate %s, run %s, hook %s", gate, run, hook)
	}
}

var isAlone = flag.Bool("alone", false, "run the test here, in the process that was started for it")

// alone runs a test in a process of its own, and reports whether it did. Who ends a gate ends
// all that has left its group below the process: in ours that would be the tmux servers of
// other tests.
func alone(t *testing.T) bool {
	t.Helper()
	if *isAlone {
		return false
	}
	t.Parallel()
	self, err := os.Executable()
	check(t, err)
	if out, err := exec.Command(self, "-alone", "-test.run=^"+t.Name()+"$").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

// overtime is a context whose time is over when the function that comes with it is called.
type overtime struct{ context.Context }

func (o overtime) Err() error {
	if o.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

func newOvertime(parent context.Context) (overtime, func()) {
	ctx, end := context.WithCancelCause(parent)
	return overtime{ctx}, func() { end(context.DeadlineExceeded) }
}

func TestRuling115WhoIsOverItsTimeReturns(t *testing.T) {
	if alone(t) {
		return
	}
	g := newGated(t, hanging)
	ctx, end := newOvertime(context.Background())
	done := make(chan gauntlet.Result)
	go func() { done <- gauntlet.Execute(ctx, g.options()) }()
	eventually(t, "all three run", func() bool { return len(g.noted()) == 3 })
	end()
	if r := <-done; r.Status != gauntlet.InfrastructureError || r.Interrupted {
		t.Errorf("%+v", r)
	}
	g.nothingIsLeft()
}
