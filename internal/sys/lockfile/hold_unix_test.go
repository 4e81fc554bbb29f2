//go:build unix

package lockfile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
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

// Who has opened the file before it was removed does not have the lock that others find, however often that happens.
func TestOneHoldsAtATimeWhileFilesAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var all sync.WaitGroup
	var inside atomic.Int32
	for range 8 {
		all.Go(func() {
			for range 500 {
				_, release, err := Hold(t.Context(), path, patient)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two at once")
				}
				inside.Add(-1)
				if err := Remove(path, release); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Nothing stays open of a lock that could not be had, and a link in its place is none.
func TestHoldLeavesNothingOpen(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "lock"), filepath.Join(dir, "link")
	_, release, err := Hold(t.Context(), path, 0)
	check(t, err)
	defer release()
	if file, _, err := Hold(t.Context(), path, 0); !errors.Is(err, ErrBusy) || file != nil {
		t.Errorf("%v, %v", file, err)
	}

	check(t, os.Symlink(filepath.Join(dir, "elsewhere"), link))
	for name, take := range map[string]func() error{
		"hold":    func() error { _, _, err := Hold(t.Context(), link, 0); return err },
		"acquire": func() error { _, err := Acquire(t.Context(), link, 0); return err },
	} {
		if err := take(); err == nil || errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("a file was made behind the link")
	}
}
