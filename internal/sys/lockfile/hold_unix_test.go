//go:build unix

package lockfile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A lock that was held for a process is free when that has ended, not when we let go.
func TestAChildHoldsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "lock")
	file, release, err := Hold(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sleep", "1000")
	child.ExtraFiles = []*os.File{file}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	release()
	if _, _, err := Hold(t.Context(), path, 0); !errors.Is(err, ErrBusy) {
		t.Errorf("the child's lock: %v", err)
	}
	if _, err := Acquire(t.Context(), path, 0); !errors.Is(err, ErrBusy) {
		t.Errorf("the child's lock: %v", err)
	}

	_ = child.Process.Kill()
	_ = child.Wait() // it was killed
	_, release, err = Hold(t.Context(), path, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// A lock that its holder removed is none: the file is made again.
func TestALockThatIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	_, release, err := Hold(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, again, err := Hold(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if held, err := Held(path); err != nil || !held {
		t.Errorf("%v, %v", held, err)
	}
	again()
}
