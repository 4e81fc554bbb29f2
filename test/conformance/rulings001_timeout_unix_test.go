//go:build unix

package conformance

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/gauntlet"
	"github.com/stopgate/stopgate/internal/stop"
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

// nothingIsLeft demands that all processes that were noted have ended.
func (g *gated) nothingIsLeft() {
	g.t.Helper()
	pids := strings.Fields(slurp(g.t, g.beside("runs")))
	if len(pids) == 0 {
		g.t.Error("nothing ever ran")
	}
	for _, pid := range pids {
		eventually(g.t, "process "+pid+" ends", func() bool { return syscall.Kill(atoi(g.t, pid), 0) != nil || defunct(g.t, pid) })
	}
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
	g.set("GAUNTLET_STOP_HOOK_DEADLINE=2")
	a := g.stop()
	a.is(t, "infrastructure_error", "the time for the whole run was over")
	g.nothingIsLeft()
	if exists(g.log(".gauntlet-run.lock")) {
		t.Error("the lock was left")
	}
}

// Within the client's 300 seconds a gate fails before the run's time is over, and
// that before the hook's.
func TestRuling115DefaultsFitIntoEachOther(t *testing.T) {
	g := newGated(t, hanging)
	gate := g.options().Project.Gates.EntryPoints[0].Checks[0].Timeout
	run := config.ResolveStopHook(nil, config.StopHook{}, config.StopHook{}).Deadline
	hook := stop.Budget(300 * time.Second)
	if gate != 240*time.Second || run != 270*time.Second || hook != 285*time.Second {
		t.Errorf("gate %s, run %s, hook %s", gate, run, hook)
	}
}

// alone runs a test in a process of its own, and reports whether it did. Who ends a gate ends
// all that has left its group below the process: in ours that would be the tmux servers of
// other tests.
func alone(t *testing.T) bool {
	t.Helper()
	const child = "CONFORMANCE_ALONE"
	if os.Getenv(child) != "" {
		return false
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

func TestRuling115WhoIsOverItsTimeReturns(t *testing.T) {
	if alone(t) {
		return
	}
	g := newGated(t, hanging)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if r := gauntlet.Execute(ctx, g.options()); r.Status != gauntlet.InfrastructureError || r.Interrupted {
		t.Errorf("%+v", r)
	}
	g.nothingIsLeft()
}
