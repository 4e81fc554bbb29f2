package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// age makes a file as old as d.
func age(t testing.TB, path string, d time.Duration) {
	t.Helper()
	at := time.Now().Add(-d)
	check(t, os.Chtimes(path, at, at))
}

const (
	ancient = forgetAfter + time.Hour
	recent  = forgetAfter - time.Hour
)

func fileNames(t testing.TB, d Dir) []string {
	t.Helper()
	entries, err := os.ReadDir(d.path)
	check(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestPrune(t *testing.T) {
	removed := []string{
		"supervisor-old.json", ".supervisor-old.lock", "supervisor-old-output.jsonl", "supervisor-old.json.damaged",
		"supervisor-old.json.damaged-2", "supervisor-nolock.json", ".supervisor-nostate.lock", ".stopgate-12345",
	}
	stays := []string{
		"hook-invocation.log", "hook-invocation.log.1", ".hook-invocation.lock", "notes.txt", "supervisor-old.log",
		"supervisor-.json", "supervisor-a b.json", "supervisor-old.json.bak", "other.json",
	}
	young := []string{"supervisor-new.json", "supervisor-new-output.jsonl", "supervisor-new.json.damaged", ".stopgate-678"}
	d := newDir(t)
	check(t, os.MkdirAll(d.path, 0o700))
	write := func(name string, old time.Duration) {
		check(t, os.WriteFile(d.join(name), []byte("{}"), 0o600))
		age(t, d.join(name), old)
	}
	for _, name := range slices.Concat(removed, stays) {
		write(name, ancient)
	}
	for _, name := range young {
		write(name, recent)
	}
	write(".supervisor-new.lock", ancient)                           // a lock is as old as its session
	check(t, os.MkdirAll(d.join("supervisor-dir.json/full"), 0o700)) // cannot go, so its lock stays
	age(t, d.join("supervisor-dir.json"), ancient)
	check(t, os.Mkdir(d.join(litterPrefix+"dir"), 0o700)) // no file of ours
	age(t, d.join(litterPrefix+"dir"), ancient)
	write(".supervisor-dir.lock", ancient)

	d.Prune(time.Now())
	want := slices.Concat(stays, young, []string{".supervisor-new.lock", ".supervisor-dir.lock", "supervisor-dir.json", litterPrefix + "dir"})
	slices.Sort(want)
	if diff := cmp.Diff(want, fileNames(t, d)); diff != "" {
		t.Errorf("(-want +left)\n%s", diff)
	}
	At(filepath.Join(t.TempDir(), "missing")).Prune(time.Now())
}

func TestPruneLeavesWhatIsLocked(t *testing.T) {
	d := newDir(t)
	update(t, d, someSession, countOne)
	age(t, d.StateFile(someSession), ancient)
	age(t, d.lockFile(someSession), ancient)
	unlock, err := lockfile.Acquire(t.Context(), d.lockFile(someSession), lockPatience)
	check(t, err)
	d.Prune(time.Now())
	if got := fileNames(t, d); len(got) != 2 {
		t.Errorf("left %q", got)
	}
	unlock()
	d.Prune(time.Now())
	if got := fileNames(t, d); len(got) != 0 {
		t.Errorf("left %q", got)
	}
}

// A clock that was set back makes nothing old.
func TestPruneInThePast(t *testing.T) {
	d := newDir(t)
	update(t, d, someSession, countOne)
	d.Prune(time.Now().Add(-10 * ancient))
	if got := fileNames(t, d); len(got) != 2 {
		t.Errorf("left %q", got)
	}
}

// A new session prunes, by the clock of the file system and not by the one that
// it is told; a known session does not.
func TestNewSessionPrunes(t *testing.T) {
	d := newDir(t)
	update(t, d, "known", countOne)
	update(t, d, "old", countOne)
	age(t, d.StateFile("old"), ancient)
	age(t, d.lockFile("old"), ancient)
	update(t, d, "known", countOne)
	if !exists(d.StateFile("old")) {
		t.Error("a known session pruned")
	}
	_, err := d.Update(t.Context(), "new", time.Now().Add(10*ancient), func(*State) error { return nil })
	check(t, err)
	want := []string{".supervisor-known.lock", ".supervisor-new.lock", "supervisor-known.json", "supervisor-new.json"}
	if diff := cmp.Diff(want, fileNames(t, d)); diff != "" {
		t.Errorf("(-want +left)\n%s", diff)
	}
}

// Whatever we have kept goes, and so does the directory, unless it holds something else.
func TestRemove(t *testing.T) {
	ours := []string{
		"supervisor-s.json", "supervisor-s.json.damaged", "supervisor-s.json.damaged-2", "supervisor-s-output.jsonl", ".supervisor-s.lock",
		"hook-invocation.log", "hook-invocation.log.1", ".hook-invocation.lock", ".stopgate-12345.jsonl",
	}
	for _, name := range append(ours, "notes.txt", "supervisor-s.txt") {
		d := At(filepath.Join(t.TempDir(), "a[b")) // which is no pattern
		check(t, os.MkdirAll(d.path, 0o700))
		if !d.Exists() {
			t.Error("an empty one is ours")
		}
		check(t, os.WriteFile(d.join(name), nil, 0o600))
		isOurs := slices.Contains(ours, name)
		if d.Exists() != isOurs {
			t.Errorf("%s: exists is %t", name, !isOurs)
		}
		check(t, d.Remove())
		if exists(d.path) == isOurs || exists(d.join(name)) == isOurs {
			t.Errorf("%s: removed is %t", name, !isOurs)
		}
	}
	if At(filepath.Join(t.TempDir(), "missing")).Exists() {
		t.Error("one that is not there exists")
	}
}
