//go:build unix

package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// worksAgain demands that the next stops work as ever.
func (g *gated) worksAgain() {
	g.t.Helper()
	g.write("bad", "")
	g.stop().is(g.t, "failed")
	g.remove("bad")
	g.stop().is(g.t, "passed")
}

func TestFaultHugeAndBinaryStdin(t *testing.T) {
	t.Parallel()
	const huge = 20 << 20
	for name, input := range map[string][]byte{
		"20 MB of one JSON": []byte(`{"stop_hook_active": false, "x": "` + strings.Repeat("x", huge) + `"}`),
		"20 MB of zeros":    make([]byte, huge),
		"20 MB of brackets": bytes.Repeat([]byte("["), huge),
		"deep objects":      bytes.Repeat([]byte(`{"a":`), 1<<20),
		"binary":            {0, 0xff, 0xfe, 0x80, '{', '}', 0x1b, '\n'},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			understand(t, g.call(input, "stop-hook")).is(t, "invalid_input")
			g.worksAgain()
		})
	}
}

// Both at once, since each waits for the hook's patience.
func TestFaultStdinThatIsNeverClosed(t *testing.T) {
	g := newGated(t, theCheck)
	hooks := map[string]*begun{}
	for want, text := range map[string]string{"passed": string(g.stopPayload(nil)), "invalid_input": "{"} {
		b, input := g.beginAndHold()
		defer input.Close()
		if _, err := io.WriteString(input, text); err != nil {
			t.Fatal(err)
		}
		hooks[want] = b
	}
	for want, b := range hooks {
		b.answer().is(t, want)
	}
	g.worksAgain()
}

// A machine whose clock was set back: everything on its disk is from the future.
func TestFaultClockInThePast(t *testing.T) {
	g := newGated(t, theCheck)
	future := func() time.Time { return time.Now().Add(30 * 24 * time.Hour) }
	state := filepath.Join(g.home, ".local", "state", "stopgate")
	service := stop.Service{
		StateDir: state, GlobalConfig: filepath.Join(g.home, "none.yml"), Environ: g.env, Now: future, Stderr: t.Output(),
		Keepers: []keeper.Keeper{gauntlet.Keeper{StateDir: state, Now: future, Log: t.Logf}},
	}
	g.write("bad", "")
	service.Handle(context.Background(), hook.Stop, bytes.NewReader(g.stopPayload(nil)))
	g.remove("bad")
	reply := service.StopHook(context.Background(), bytes.NewReader(g.stopPayload(nil)))
	understand(t, result{stdout: string(reply.Stdout)}).is(t, "passed")
	g.backdate(future())
	before := g.runs()
	g.set("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES=10")
	g.stop().is(t, "passed")
	if g.runs() != before+1 {
		t.Errorf("a proof from the future was taken: %d runs after %d", g.runs(), before)
	}
	g.set("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES=0")
	g.worksAgain()
	if a := g.chain(nil); a.blocks() {
		t.Errorf("%s", a.stdout)
	}
}

// backdate gives every file of the project and of our state a time.
func (g *gated) backdate(at time.Time) {
	g.t.Helper()
	err := filepath.WalkDir(filepath.Dir(g.root), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	check(g.t, err)
}

// Fifty hooks are started and then let loose together. One runs the gates, which
// last until all others have answered.
func TestFaultFiftyConcurrentStops(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", `until test -e "$RUNS.go"; do sleep 0.01; done; test ! -e bad`))
	hooks, inputs := make([]*begun, 50), make([]io.WriteCloser, 50)
	for i := range hooks {
		hooks[i], inputs[i] = g.beginAndHold()
	}
	ended := make(chan *begun, len(hooks))
	for i, b := range hooks {
		if _, err := inputs[i].Write(g.stopPayload(nil)); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = b.Wait() // the exit code is in the answer
			ended <- b
		}()
	}
	for _, input := range inputs {
		input.Close()
	}
	eventually(t, "everybody has answered or runs", func() bool { return len(ended)+g.runs() >= len(hooks) })
	spill(t, g.beside("runs.go"), "")
	count := map[string]int{}
	for range hooks {
		count[(<-ended).said().Status]++
	}
	if count["passed"] != 1 || count["lock_exists"] != len(hooks)-1 || g.runs() != 1 {
		t.Errorf("%d runs, %v", g.runs(), count)
	}
	g.worksAgain()
}

// beginAndHold starts a hook that waits for its payload.
func (g *gated) beginAndHold() (*begun, io.WriteCloser) {
	g.t.Helper()
	b := &begun{Cmd: g.command("stop-hook"), t: g.t}
	b.Stdout, b.Stderr = &b.stdout, &b.stderr
	input, err := b.StdinPipe()
	if err == nil {
		err = b.Start()
	}
	check(g.t, err)
	return b, input
}

// Whenever the hook is killed, the next stop works and tells the truth.
func TestFaultKilledAtAnyMoment(t *testing.T) {
	g := newGated(t, theCheck+"max_retries: 1000\n")
	random := seedtest.New(t)
	start := time.Now()
	g.stop().is(t, "passed")
	usual, killed := time.Since(start), 0
	for i := range 60 {
		g.write("work.txt", fmt.Sprint(i))
		if bad := g.path("bad"); i%2 == 0 {
			spill(t, bad, fmt.Sprint(i))
		} else {
			removeAll(t, bad)
		}
		hook := g.begin()
		kill := time.AfterFunc(time.Duration(random.Int64N(int64(usual))), func() { _ = hook.Process.Signal(syscall.SIGKILL) })
		_ = hook.Wait()
		if !kill.Stop() {
			killed++
		}
		g.stop().is(t, map[bool]string{true: "failed", false: "passed"}[i%2 == 0])
	}
	if killed == 0 {
		t.Error("the hook was always faster")
	}
	if left := g.logs(); len(left) > 40 {
		t.Errorf("%d files were left: %q", len(left), left)
	}
	g.worksAgain()
}

// A gate that hangs, with nothing configured but shorter times in their order:
// gate before run before hook.
func TestFaultAGateThatHangsEndsInsideTheHooksTime(t *testing.T) {
	g := newGated(t, hanging+"        timeout: 1\n")
	g.set("GAUNTLET_STOP_HOOK_DEADLINE=20")
	a := g.stop()
	a.is(t, "failed")
	contains(t, a.Reason, "Timed out after 1s")
	g.nothingIsLeft()
}
