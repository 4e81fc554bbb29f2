package logdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

// tree maps the files below the directory to what they hold.
func tree(t testing.TB, d Dir) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(d.Path(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(d.Path(), path)
		files[filepath.ToSlash(rel)] = read(t, path)
		return err
	})
	check(t, err)
	return files
}

func wantTree(t testing.TB, d Dir, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, tree(t, d)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func clean(t testing.TB, d Dir) bool {
	t.Helper()
	moved, err := d.Clean()
	check(t, err)
	return moved
}

// plant writes files of a run, each with the same content.
func plant(t testing.TB, d Dir, text string, names ...string) {
	t.Helper()
	for _, name := range names {
		write(t, d.file(name), text)
	}
}

func TestSeedStateFileClearedOnClean(t *testing.T) {
	d := tempDir(t)
	plant(t, d, "1", "console.1.log", "check_._a.1.log", "review_._b_claude@1.1.json", "review_._b_claude@1.1.log", ".execution_state")
	if !clean(t, d) {
		t.Error("says that nothing was moved")
	}
	wantTree(t, d, map[string]string{
		"previous/console.1.log": "1", "previous/check_._a.1.log": "1", "previous/.execution_state": "1",
		"previous/review_._b_claude@1.1.json": "1", "previous/review_._b_claude@1.1.log": "1",
	})
	if clean(t, d) {
		t.Error("says that something was moved again")
	}
}

func TestRuling110ArchiveAfterAPassKeepsTheState(t *testing.T) {
	d := tempDir(t)
	plant(t, d, "1", "console.1.log", ".execution_state")
	check(t, d.Archive())
	check(t, d.Archive())
	wantTree(t, d, map[string]string{"previous/console.1.log": "1", ".execution_state": "1"})
	// Its logs are archived already; it joins them.
	clean(t, d)
	wantTree(t, d, map[string]string{"previous/console.1.log": "1", "previous/.execution_state": "1"})
	// Not so a state that comes after another one.
	plant(t, d, "2", ".execution_state")
	clean(t, d)
	wantTree(t, d, map[string]string{
		"previous/.execution_state": "2", "previous/2/console.1.log": "1", "previous/2/.execution_state": "1",
	})
}

func TestThreeGenerationsAreKept(t *testing.T) {
	d := tempDir(t)
	for _, round := range []string{"1", "2", "3", "4", "5"} {
		plant(t, d, round, "console.1.log", "check_"+round+".1.log", ".execution_state")
		clean(t, d)
	}
	wantTree(t, d, map[string]string{
		"previous/console.1.log": "5", "previous/check_5.1.log": "5", "previous/.execution_state": "5",
		"previous/2/console.1.log": "4", "previous/2/check_4.1.log": "4", "previous/2/.execution_state": "4",
		"previous/3/console.1.log": "3", "previous/3/check_3.1.log": "3", "previous/3/.execution_state": "3",
	})
}

// Once there are three generations, no directory is made or deleted any more: some file systems
// take a millisecond for that.
func TestDirectoriesAreUsedAgain(t *testing.T) {
	d := tempDir(t)
	round := func() {
		plant(t, d, "1", "console.1.log")
		clean(t, d)
	}
	directories := func() (all []os.FileInfo) {
		for _, name := range []string{nextName, lastName, secondName, thirdName} {
			info, err := os.Stat(d.archived(name))
			check(t, err)
			all = append(all, info)
		}
		return all
	}
	for range 4 {
		round()
	}
	before := directories()
	round()
	for i, now := range directories() {
		if !slices.ContainsFunc(before, func(info os.FileInfo) bool { return os.SameFile(info, now) }) {
			t.Errorf("the directory %d is a new one", i)
		}
	}
}

func TestForeignFilesStay(t *testing.T) {
	d := tempDir(t)
	foreign := []string{
		".gitignore", lockName, ".debug.log", ".debug.log.1", "notes.txt", "x.1.log", "console.log", "console.1.json",
		"check_a.1.json", "check_a.log", "sub/console.1.log", "previous/notes.txt", "previous/x.1.log",
	}
	plant(t, d, "foreign", foreign...)
	check(t, os.MkdirAll(d.file("check_dir.1.log"), 0o755))
	check(t, os.WriteFile(d.file("check_dir.1.log/f"), []byte("foreign"), 0o600))
	want := tree(t, d)
	if clean(t, d) {
		t.Error("says that something of ours was there")
	}
	wantTree(t, d, want)
	for range 5 {
		plant(t, d, "ours", "console.1.log")
		clean(t, d)
	}
	for _, path := range []string{"previous/", "previous/2/", "previous/3/"} {
		want[path+"console.1.log"] = "ours"
	}
	wantTree(t, d, want)
}

func TestNothingToClean(t *testing.T) {
	d := tempDir(t)
	if clean(t, d) || disk.Exists(d.Path()) {
		t.Error("a directory that is not there was cleaned")
	}
	check(t, d.Archive())
	if disk.Exists(d.Path()) {
		t.Error("archiving nothing made the directory")
	}
}

func TestArchiveThatCannotBe(t *testing.T) {
	d := tempDir(t)
	plant(t, d, "1", "console.1.log")
	write(t, d.file("previous"), "a file")
	if _, err := d.Clean(); err == nil || !strings.Contains(err.Error(), d.Path()) {
		t.Errorf("got %v", err)
	}
	wantTree(t, d, map[string]string{"console.1.log": "1", "previous": "a file"})
}

// count is how many files hold the text.
func count(files map[string]string, text string) (n int) {
	for _, held := range files {
		if held == text {
			n++
		}
	}
	return n
}

// Where a move can have been killed, and what the next makes of it.
func TestKilledMoveIsFinished(t *testing.T) {
	whole := map[string]string{
		"previous/console.1.log": "new", "previous/check_a.1.log": "new",
		"previous/2/console.1.log": "old", "previous/2/check_a.1.log": "old",
		"previous/3/console.1.log": "older",
	}
	tests := []struct {
		name string
		left map[string]string
	}{
		{"before", map[string]string{
			"console.1.log": "new", "check_a.1.log": "new",
			"previous/console.1.log": "old", "previous/check_a.1.log": "old", "previous/2/console.1.log": "older", "previous/3/console.1.log": "oldest",
		}},
		{"collecting", map[string]string{
			"console.1.log": "new", "previous/.next/check_a.1.log": "new",
			"previous/console.1.log": "old", "previous/check_a.1.log": "old", "previous/2/console.1.log": "older", "previous/3/console.1.log": "oldest",
		}},
		{"collected", map[string]string{
			"previous/.next/console.1.log": "new", "previous/.next/check_a.1.log": "new",
			"previous/console.1.log": "old", "previous/check_a.1.log": "old", "previous/2/console.1.log": "older", "previous/3/console.1.log": "oldest",
		}},
		{"shifting", map[string]string{
			"previous/.next/console.1.log": "new", "previous/.next/check_a.1.log": "new",
			"previous/console.1.log": "old", "previous/.last/check_a.1.log": "old", "previous/2/console.1.log": "older", "previous/3/console.1.log": "oldest",
		}},
		{"the oldest is deleted", map[string]string{
			"previous/.next/console.1.log": "new", "previous/.next/check_a.1.log": "new",
			"previous/.last/console.1.log": "old", "previous/.last/check_a.1.log": "old", "previous/2/console.1.log": "older",
		}},
		{"3 is spare", map[string]string{
			"previous/.next/console.1.log": "new", "previous/.next/check_a.1.log": "new",
			"previous/.last/console.1.log": "old", "previous/.last/check_a.1.log": "old", "previous/2/console.1.log": "older", "previous/.spare/empty": "",
		}},
		{"2 is 3", map[string]string{
			"previous/.next/console.1.log": "new", "previous/.next/check_a.1.log": "new",
			"previous/.last/console.1.log": "old", "previous/.last/check_a.1.log": "old", "previous/3/console.1.log": "older",
		}},
		{"shifted", map[string]string{
			"previous/.next/console.1.log": "new", "previous/.next/check_a.1.log": "new",
			"previous/2/console.1.log": "old", "previous/2/check_a.1.log": "old", "previous/3/console.1.log": "older",
		}},
		{"ready", map[string]string{
			"previous/.ready/console.1.log": "new", "previous/.ready/check_a.1.log": "new",
			"previous/2/console.1.log": "old", "previous/2/check_a.1.log": "old", "previous/3/console.1.log": "older",
		}},
		{"publishing", map[string]string{
			"previous/.ready/console.1.log": "new", "previous/check_a.1.log": "new",
			"previous/2/console.1.log": "old", "previous/2/check_a.1.log": "old", "previous/3/console.1.log": "older",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tempDir(t)
			for name, text := range tt.left {
				write(t, d.file(name), text)
			}
			clean(t, d)
			wantTree(t, d, whole)
			clean(t, d)
			wantTree(t, d, whole)
		})
		t.Run(tt.name+", and runs went on", func(t *testing.T) {
			d := tempDir(t)
			for name, text := range tt.left {
				write(t, d.file(name), text)
			}
			plant(t, d, "newest", "console.1.log")
			before := count(tree(t, d), "new")
			clean(t, d)
			got := tree(t, d)
			if count(got, "new") != before {
				t.Errorf("%d files of the move are left of %d", count(got, "new"), before)
			}
			if got["previous/console.1.log"] != "newest" {
				t.Errorf("the newest is not in its place: %v", got)
			}
			for path := range got {
				if strings.Contains(path, "/.") {
					t.Errorf("%s is stuck", path)
				}
			}
		})
	}
}
