//go:build unix

package conformance

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// begun is a hook that was started and not waited for.
type begun struct {
	*exec.Cmd
	t              *testing.T
	stdout, stderr bytes.Buffer
}

func (g *gated) begin() *begun {
	g.t.Helper()
	b := &begun{Cmd: g.command("stop-hook"), t: g.t}
	b.Stdin, b.Stdout, b.Stderr = bytes.NewReader(g.stopPayload(nil)), &b.stdout, &b.stderr
	check(g.t, b.Start())
	return b
}

// answer waits for the hook to end.
func (b *begun) answer() answer {
	b.t.Helper()
	_ = b.Wait() // the exit code is in the result
	return b.said()
}

// said is the answer of a hook that has ended.
func (b *begun) said() answer {
	b.t.Helper()
	return understand(b.t, result{b.stdout.String(), b.stderr.String(), b.ProcessState.ExitCode()})
}

func (b *begun) signal(s syscall.Signal) {
	b.t.Helper()
	check(b.t, b.Process.Signal(s))
}

// endLeft ends what a killed hook has left behind.
func (g *gated) endLeft() {
	for _, pid := range strings.Fields(slurp(g.t, g.beside("runs"))) {
		_ = syscall.Kill(atoi(g.t, pid), syscall.SIGKILL)
	}
}

func TestHole03StaleLockIsReclaimed(t *testing.T) {
	g := newGated(t, hanging)
	hook := g.begin()
	eventually(t, "the check runs", func() bool { return strings.Count(slurp(t, g.beside("runs")), "\n") == 3 })
	hook.signal(syscall.SIGKILL)
	_ = hook.Wait()
	g.endLeft()
	if !exists(g.log(".gauntlet-run.lock")) {
		t.Fatal("a killed hook leaves its lock behind; where is it?")
	}
	g.write(".gauntlet/config.yml", theCheck)
	g.stop().is(t, "passed")
	if exists(g.log(".gauntlet-run.lock")) {
		t.Error("the lock was left again")
	}
}

// A lock of ours whose process number belongs to another process by now.
func TestHole03TheLockOfADeadProcessIsReclaimed(t *testing.T) {
	g := newGated(t, strings.Replace(theCheck, "echo run", `cp gauntlet_logs/.gauntlet-run.lock "$RUNS.lock"; echo run`, 1))
	g.stop().is(t, "passed")
	g.write("work.txt", "more\n")
	g.write("gauntlet_logs/.gauntlet-run.lock", slurp(t, g.beside("runs.lock")))
	g.stop().is(t, "passed")
	if g.runs() != 2 {
		t.Errorf("%d runs", g.runs())
	}
}

func TestHole10SignalsEndTheGatesAndTheAnswerIsValid(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			g := newGated(t, hanging)
			hook := g.begin()
			eventually(t, "the check runs", func() bool { return strings.Count(slurp(t, g.beside("runs")), "\n") == 3 })
			hook.signal(s)
			hook.answer().is(t, "infrastructure_error", "interrupted")
			g.nothingIsLeft()
			if exists(g.log(".gauntlet-run.lock")) {
				t.Error("the lock was left")
			}
			g.write(".gauntlet/config.yml", theCheck)
			g.stop().is(t, "passed")
		})
	}
}

func TestHole10GrandchildrenEndWithTheirGate(t *testing.T) {
	g := newGated(t, hanging+"        timeout: 1\n")
	g.stop().is(t, "failed")
	g.nothingIsLeft()
}

func TestHole03TwoConcurrentHooksAreOneRun(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", `until test -e "$RUNS.go"; do sleep 0.01; done`))
	first := g.begin()
	eventually(t, "the check runs", func() bool { return g.runs() == 1 })
	second := g.stop()
	second.is(t, "lock_exists")
	contains(t, second.stderr, "gauntlet already running")
	spill(t, g.beside("runs.go"), "")
	first.answer().is(t, "passed")
	if g.runs() != 1 {
		t.Errorf("%d runs", g.runs())
	}
}
