package watch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/event"
	"github.com/stopgate/stopgate/internal/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wait is for what must come; it fails only where the code does.
func wait[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
		panic("")
	}
}

// follow sends the calls of records, and "." for each look that is over.
func follow(t *testing.T, j *journal.Journal, dir string, from journal.Position, ask <-chan struct{}) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	seen, done := make(chan string), make(chan struct{})
	go func() {
		defer close(done)
		for entry, err := range Follow(ctx, j, dir, from, nil, ask) {
			what := "."
			switch {
			case err != nil:
				what = err.Error()
			case entry.Record != nil:
				what = entry.Record.Call
			case entry.Damage != nil:
				what = "damage"
			}
			select {
			case seen <- what:
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return seen
}

// until reads up to the record of a call, and returns how many others it saw.
func until(t *testing.T, seen <-chan string, call string) (others int) {
	t.Helper()
	for {
		switch got := wait(t, seen); got {
		case call:
			return others
		case ".":
		default:
			others++
		}
	}
}

func appendCall(t *testing.T, j *journal.Journal, call string) journal.Position {
	t.Helper()
	at, err := j.Append(&event.Record{Call: call, Kind: event.Received, Event: "Stop"})
	check(t, err)
	return at
}

func TestFollowSeesWhatIsThereAndWhatComes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := journal.New(dir, journal.Limits{SegmentSize: 300})
	after := appendCall(t, j, "first")
	appendCall(t, j, "second")
	seen := follow(t, j, dir, after, nil)
	if n := until(t, seen, "second"); n != 0 {
		t.Errorf("%d records came first", n)
	}
	if got := wait(t, seen); got != "." {
		t.Errorf("after the look came %q", got)
	}
	for _, call := range []string{"third", "fourth", "fifth"} { // in new segments
		appendCall(t, j, call)
		if n := until(t, seen, call); n != 0 {
			t.Errorf("%d records came before %s", n, call)
		}
	}
}

func TestFollowBeginsBeforeTheJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "journal")
	j := journal.New(dir, journal.Limits{})
	seen := follow(t, j, dir, journal.Position{}, nil)
	wait(t, seen)
	appendCall(t, j, "first")
	until(t, seen, "first")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestFollowLooksWhenAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	ask := make(chan struct{})
	seen := follow(t, journal.New(dir, journal.Limits{}), dir, journal.Position{}, ask)
	wait(t, seen)
	for range 3 {
		ask <- struct{}{}
		wait(t, seen)
	}
}

func TestFollowEndsWithAnErrorOfTheJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := journal.New(dir, journal.Limits{})
	seen := follow(t, j, dir, journal.Position{Segment: 7}, nil)
	if got := wait(t, seen); got == "." {
		t.Error("a place that is not there is no error")
	}
}

func TestChangesOfADirectoryThatIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	check(t, os.Mkdir(dir, 0o700))
	ctx, cancel := context.WithCancel(context.Background())
	changes, err := Changes(ctx, dir)
	check(t, err)
	defer func() {
		cancel()
		for range changes { // until it is closed
		}
	}()
	check(t, os.Remove(dir))
	wait(t, changes)
	check(t, os.Mkdir(dir, 0o700))
	wait(t, changes) // it is watched again
	check(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	wait(t, changes)
}

func TestChangesOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	check(t, os.WriteFile(path, nil, 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	changes, err := Changes(ctx, path)
	check(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	check(t, err)
	_, err = f.WriteString("more")
	check(t, err)
	check(t, f.Close())
	wait(t, changes)
	cancel()
	for range changes {
	}
}

func TestChangesOfWhatIsNotThere(t *testing.T) {
	if _, err := Changes(t.Context(), filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("no error")
	}
}
