package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

var check = checktest.OK

// children are what the test binary is besides.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) { processtest.Main(m, children) }

// patient is longer than any test may take.
const patient = time.Minute

func mustAcquire(t *testing.T, path string) (release func()) {
	t.Helper()
	release, err := Acquire(context.Background(), path, patient)
	check(t, err)
	return release
}

func wantBusy(t *testing.T, path string, patience time.Duration) {
	t.Helper()
	release, err := Acquire(context.Background(), path, patience)
	if err == nil {
		release()
	}
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	n, most, done := 0, 0, 0
	var count sync.Mutex
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			release, err := Acquire(context.Background(), path, patient)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			change := func(by int) {
				count.Lock()
				defer count.Unlock()
				n += by
				most = max(most, n)
			}
			change(1)
			defer change(-1)
			done++ // the race detector sees who is alone
		})
	}
	all.Wait()
	if most != 1 || done != 16 {
		t.Errorf("%d at once, %d in all", most, done)
	}
}

func TestPatienceEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release := mustAcquire(t, path)
	wantBusy(t, path, 0)
	wantBusy(t, path, -time.Second)
	const patience = 50 * time.Millisecond
	start := time.Now()
	wantBusy(t, path, patience)
	if took := time.Since(start); took < patience {
		t.Errorf("gave up after %v", took)
	}
	release()
	mustAcquire(t, path)()
}

// A wait ends with the context, and whoever has none left does not begin.
func TestAWaitEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	defer mustAcquire(t, path)()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	for _, path := range []string{path, filepath.Join(dir, "free")} {
		if _, err := Acquire(ctx, path, patient); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestALockThatIsReleasedIsGivenToWhoWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release := mustAcquire(t, path)
	got := make(chan error)
	go func() {
		release, err := Acquire(context.Background(), path, patient)
		if err == nil {
			release()
		}
		got <- err
	}()
	release()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestLocksAreApart(t *testing.T) {
	dir := t.TempDir()
	a, b := mustAcquire(t, filepath.Join(dir, "a")), mustAcquire(t, filepath.Join(dir, "b"))
	a()
	b()
}

// A lock that is removed no longer locks.
func TestTheFileStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mustAcquire(t, path)()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// Who holds a lock may remove its file: those that had opened it take the next one.
func TestOneAtATimeWhileFilesAreRemoved(t *testing.T) {
	rounds := 500
	if runtime.GOOS == "windows" {
		rounds = 20 // each takes a hundred times as long
	}
	path := filepath.Join(t.TempDir(), "lock")
	var all sync.WaitGroup
	var inside atomic.Int32
	for range 8 {
		all.Go(func() {
			for range rounds {
				release, err := Acquire(context.Background(), path, patient)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two at once")
				}
				inside.Add(-1)
				if err := Remove(path, release); err != nil { // the last that it does
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	file := func(name string, age time.Duration) string {
		t.Helper()
		path := filepath.Join(dir, name)
		check(t, os.WriteFile(path, nil, 0o600))
		check(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
		return path
	}
	file("old", 2*time.Hour)
	file("old.lock", 3*time.Hour)
	file("bare", 2*time.Hour)
	file("orphan.lock", 2*time.Hour)
	file("held", 2*time.Hour)
	release := mustAcquire(t, filepath.Join(dir, "held.lock"))
	defer release()
	file("new", 0)
	file("new.lock", 3*time.Hour) // a lock is never written
	folder := filepath.Join(dir, "folder")
	check(t, os.Mkdir(folder, 0o700))
	check(t, os.Chtimes(folder, now.Add(-2*time.Hour), now.Add(-2*time.Hour)))
	Prune(dir, now.Add(-time.Hour))
	Prune(filepath.Join(dir, "none"), now)
	entries, err := os.ReadDir(dir)
	check(t, err)
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := "folder held held.lock new new.lock"; strings.Join(left, " ") != want {
		t.Errorf("left are %q, want %s", left, want)
	}
}

func TestWhatIsNoLockIsAnErrorAtOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	check(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{filepath.Join(file, "lock"), dir} {
		if _, err := Acquire(context.Background(), path, patient); err == nil || errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", path, err)
		}
	}
	tells := runtime.GOOS != "windows" // which does not find what is below a file
	if held, err := Held(filepath.Join(file, "lock")); tells && err == nil || held {
		t.Errorf("held %t, %v", held, err)
	}
}

func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	want := func(want bool) {
		t.Helper()
		if held, err := Held(path); held != want || err != nil {
			t.Errorf("held %t, %v", held, err)
		}
	}
	want(false)
	if _, err := os.Lstat(path); err == nil {
		t.Error("looking made the file")
	}
	release := mustAcquire(t, path)
	want(true)
	release()
	want(false)
	mustAcquire(t, path)() // nobody who looked kept it
}

// One who opened a lock that was removed before it was locked does not have the lock that others
// find.
func TestALockThatWasRemovedIsNotTheLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed on Windows")
	}
	path := filepath.Join(t.TempDir(), "lock")
	stale := flock.New(path, flock.SetFlag(open|os.O_CREATE))
	if ok, err := stale.TryLock(); !ok || err != nil || !inPlace(stale) {
		t.Fatalf("taken %t, in place %t (%v)", ok, inPlace(stale), err)
	}
	defer stale.Close()
	if err := os.Remove(path); err != nil || inPlace(stale) {
		t.Errorf("a lock that is gone counts (%v)", err)
	}
	release, err := Acquire(t.Context(), path, 0)
	check(t, err)
	defer release()
	if inPlace(stale) {
		t.Error("a lock that is another's counts")
	}
}

// Those who share a lock do so at once, and keep out one who wants it alone.
func TestShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if _, err := Share(t.Context(), path, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is no file: %v", err)
	}
	release, err := Acquire(t.Context(), path, 0)
	check(t, err)
	if _, err := Share(t.Context(), path, 0); !errors.Is(err, ErrBusy) {
		t.Errorf("shared with one who has it alone: %v", err)
	}
	release()
	for range 2 {
		release, err := Share(t.Context(), path, 0)
		check(t, err)
		defer release()
	}
	if _, err := Acquire(t.Context(), path, 0); !errors.Is(err, ErrBusy) {
		t.Errorf("taken alone beside two: %v", err)
	}
}
