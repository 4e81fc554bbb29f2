package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

var check = checktest.OK

// wait is for what must come; it fails only where the code does.
func wait[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
		panic("")
	}
}

// watching runs Directory until the test ends. It returns what it says.
func watching(t *testing.T, dir string) (looks chan struct{}, told chan error) {
	t.Helper()
	looks, told = make(chan struct{}, 1), make(chan error, 100)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		Directory(ctx, dir, func() {
			select {
			case looks <- struct{}{}:
			default:
			}
		}, func(err error) { told <- err })
	})
	t.Cleanup(func() { cancel(); all.Wait() })
	return looks, told
}

func TestDirectoryThatIsMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	looks, told := watching(t, dir)
	check(t, wait(t, told))
	wait(t, looks)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	check(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	wait(t, looks)
}

// What cannot be watched is looked at all the same, and watched as soon as it can be.
func TestDirectoryThatCannotBeWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	check(t, os.WriteFile(dir, nil, 0o600)) // in its way
	looks, told := watching(t, dir)
	for range 3 {
		if err := wait(t, told); err == nil {
			t.Error("no error")
		}
		wait(t, looks)
	}
	check(t, os.Remove(dir))
	for err := errors.New(""); err != nil; {
		err = wait(t, told)
	}
	wait(t, looks)
	check(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	wait(t, looks)
}

func TestChangesOfADirectoryThatIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	check(t, os.Mkdir(dir, 0o700))
	ctx, cancel := context.WithCancel(context.Background())
	all, err := changes(ctx, dir)
	check(t, err)
	defer func() {
		cancel()
		for range all { // until it is closed
		}
	}()
	check(t, os.Remove(dir))
	wait(t, all)
	check(t, os.Mkdir(dir, 0o700))
	wait(t, all) // it is watched again
	check(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	wait(t, all)
}
