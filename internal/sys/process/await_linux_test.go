package process

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

// sleeper is a process that lives until its input ends, and what ends that.
func sleeper(t *testing.T) (child *exec.Cmd, end func()) {
	t.Helper()
	child = exec.Command("cat")
	stdin, err := child.StdinPipe()
	check(t, err)
	check(t, child.Start())
	return child, func() { _ = stdin.Close() }
}

func identity(pid int) Identity { return Identity{pid, StartTime(pid), BootID()} }

func TestAwaitEnd(t *testing.T) {
	child, end := sleeper(t)
	id := identity(child.Process.Pid)
	ctx, cancel := context.WithCancel(t.Context())
	ended, gaveUp := make(chan error, 1), make(chan error, 1)
	go func() { ended <- id.AwaitEnd(t.Context()) }()
	go func() { gaveUp <- id.AwaitEnd(ctx) }()

	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if later := (Identity{id.PID, id.Start + "1", id.Boot}).AwaitEnd(t.Context()); later != nil {
		t.Errorf("of another process with its number: %v", later)
	}
	select {
	case err := <-ended:
		t.Fatalf("it lives: %v", err)
	default:
	}
	end()
	check(t, <-ended)
	check(t, id.AwaitEnd(t.Context())) // its parent has not waited for it
	check(t, child.Wait())
	check(t, id.AwaitEnd(t.Context()))
	if err := (Identity{}).AwaitEnd(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("of no process: %v", err)
	}
}

func TestReapLeavesNothing(t *testing.T) {
	child, end := sleeper(t)
	pid := child.Process.Pid
	Reap(child.Process)
	end()
	for late := time.Now().Add(time.Minute); disk.Exists("/proc/" + strconv.Itoa(pid)); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it is still there")
		}
	}
}

// Those that wait leave descriptors for files: the others look now and then.
func TestAwaitEndLeavesDescriptors(t *testing.T) {
	child, end := sleeper(t)
	waited.Add(mostWaited()) // as if so many were waited for
	err := identity(child.Process.Pid).AwaitEnd(t.Context())
	waited.Add(-mostWaited())
	if !errors.Is(err, errors.ErrUnsupported) || waited.Load() != 0 {
		t.Errorf("%v, %d are counted", err, waited.Load())
	}
	end()
	check(t, child.Wait())
}
