package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// A daemon starts its machine's hub, and again when that was killed. The hub outlives the daemon, and ends with
// the machine's membership.
func TestTheDaemonKeepsTheHubRunning(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	t.Cleanup(func() { _ = member.Forget(f.state("a")) }) // it may be done
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	keeper := Keeper{StateDir: f.state("a"), Environ: os.Environ(), Program: os.Executable, Log: slog.New(slog.DiscardHandler)}
	go func() { keeper.Run(ctx); close(ended) }()
	f.usable("a")
	first := PID(f.state("a"))
	process, err := os.FindProcess(first)
	check(t, err)
	check(t, process.Kill())
	checktest.Succeeds(t, "the hub runs again", func() error {
		if now := PID(f.state("a")); now == 0 || now == first {
			return fmt.Errorf("its process is %d", now)
		}
		return nil
	})
	f.usable("a")
	second := PID(f.state("a"))
	cancel()
	<-ended
	if PID(f.state("a")) != second {
		t.Error("the hub has ended with its daemon")
	}
	check(t, member.Forget(f.state("a")))
	checktest.Succeeds(t, "the hub ends with the membership", func() error {
		if Runs(f.state("a")) {
			return errors.New("it runs")
		}
		return nil
	})
}

// A machine without a hub, or without a fleet, starts none.
func TestNoHubIsStartedWhereNoneIsNeeded(t *testing.T) {
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	f.join("b")
	for _, name := range []string{"b", "never"} {
		keeper := Keeper{StateDir: f.state(name), Program: func() (string, error) { return "", errors.New("not needed") }, Log: slog.New(slog.DiscardHandler)}
		if keeper.look() {
			t.Errorf("%s starts a hub", name)
		}
	}
}
