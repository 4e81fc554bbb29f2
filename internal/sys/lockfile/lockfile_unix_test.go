//go:build unix

package lockfile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() {
	children["hold"] = childHold
	children["count"] = childCount
}

// childHold takes the lock, says so, and keeps it until it is killed.
func childHold(args []string) error {
	if _, err := Acquire(context.Background(), args[0], patient); err != nil {
		return err
	}
	fmt.Print("x")
	return processtest.Stop()
}

func TestTheLockEndsWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 3 {
		holder := processtest.Child(t, "hold", path)
		ready, err := holder.StdoutPipe()
		check(t, err)
		check(t, holder.Start())
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		wantBusy(t, path, 0)
		check(t, holder.Process.Kill())
		_ = holder.Wait() // it was killed
		mustAcquire(t, path)()
	}
}

// childCount adds lines to a file. Each of them is the number of those before it.
func childCount(args []string) error {
	for range 25 {
		if err := countOne(args[0], args[1]); err != nil {
			return err
		}
	}
	return nil
}

func countOne(lock, file string) error {
	release, err := Acquire(context.Background(), lock, patient)
	if err != nil {
		return err
	}
	defer release()
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, fmt.Appendf(text, "%d\n", strings.Count(string(text), "\n")), 0o600)
}

func TestProcessesTakeTurns(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "count")
	check(t, os.WriteFile(file, nil, 0o600))
	cmds := make([]*exec.Cmd, 4)
	for i := range cmds {
		cmds[i] = processtest.Child(t, "count", filepath.Join(dir, "lock"), file)
		check(t, cmds[i].Start())
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(file)
	check(t, err)
	var want strings.Builder
	for n := range 25 * len(cmds) {
		fmt.Fprintln(&want, n)
	}
	if string(text) != want.String() {
		t.Errorf("counted\n%s", text)
	}
}

func TestOnlyTheOwnerMayUseIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "below", "lock")
	mustAcquire(t, path)()
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700, filepath.Dir(filepath.Dir(path)): os.ModeDir | 0o700} {
		info, err := os.Stat(name)
		check(t, err)
		if info.Mode() != want {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
}

// The file of a lock may be removed between two looks at it. A link that leads nowhere is there for
// the first look alone as well.
func TestLookingMakesNoFile(t *testing.T) {
	dir := t.TempDir()
	link, gone := filepath.Join(dir, "lock"), filepath.Join(dir, "gone")
	check(t, os.Symlink(gone, link))
	if held, err := Held(link); held || err != nil {
		t.Errorf("held %t, %v", held, err)
	}
	if _, err := os.Lstat(gone); err == nil {
		t.Error("looking made the file")
	}
}

// Opening a pipe would wait for a writer for ever.
func TestAPipeDoesNotHang(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	check(t, syscall.Mkfifo(path, 0o600))
	mustAcquire(t, path)()
	if held, err := Held(path); held || err != nil {
		t.Errorf("held %t, %v", held, err)
	}
}
