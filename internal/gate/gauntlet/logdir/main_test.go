package logdir

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// children are what the test binary is besides.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) { processtest.Main(m, children) }

var (
	check = checktest.OK
	write = checktest.Write
	read  = checktest.Read
)

// tempDir is a log directory that does not exist yet.
func tempDir(t testing.TB) Dir {
	t.Helper()
	return At(filepath.Join(t.TempDir(), "gauntlet_logs"))
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func acquire(t testing.TB, d Dir) *Lock {
	t.Helper()
	lock, err := d.Acquire(noon)
	check(t, err)
	return lock
}

// wantHeld fails unless everybody finds the lock held, by the owner if one is
// given.
func wantHeld(t testing.TB, d Dir, pid int) {
	t.Helper()
	owner, held, err := d.Held()
	if !held || err != nil || owner.PID != pid {
		t.Errorf("Held gives %v, %t, %v; want process %d", owner, held, err, pid)
	}
	if !d.Busy() {
		t.Error("those who wait for it think that it is free")
	}
	lock, err := d.Acquire(noon)
	if !errors.Is(err, ErrHeld) {
		t.Fatalf("Acquire gives %v, %v; want ErrHeld", lock, err)
	}
	if e, ok := errors.AsType[*HeldError](err); !ok || e.Owner.PID != pid {
		t.Errorf("Acquire says %v, want process %d", err, pid)
	}
}

// wantLooksHeld checks that a lock counts for those who look, and whether it is one for
// those who want it.
func wantLooksHeld(t testing.TB, d Dir) (taking error) {
	t.Helper()
	if owner, held, err := d.Held(); !held || err != nil {
		t.Errorf("Held gives %v, %t, %v; want it held", owner, held, err)
	}
	lock, err := d.Acquire(noon)
	if err == nil {
		check(t, lock.Release())
	}
	return err
}

func wantFree(t testing.TB, d Dir) {
	t.Helper()
	if owner, held, err := d.Held(); held || err != nil {
		t.Errorf("Held gives %v, %t, %v; want it free", owner, held, err)
	}
	if d.Busy() {
		t.Error("those who wait for it think that it is held")
	}
	check(t, acquire(t, d).Release())
	if disk.Exists(d.file(lockName)) {
		t.Error("a released lock is still there")
	}
}
