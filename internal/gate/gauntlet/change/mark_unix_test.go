//go:build unix

package change

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A tree that cannot be read whole can be told from others all the same, by the stat of that. It proves
// nothing.
func TestMarkOfATreeThatCannotBeReadWhole(t *testing.T) {
	tests := map[string]struct {
		hide, touch func(t *testing.T, r *gittest.Repo)
		name        string
		user        bool // root reads everything
	}{
		"a pipe in the place of a file": {
			hide:  func(t *testing.T, r *gittest.Repo) { r.Remove("a"); check(t, syscall.Mkfifo(r.Path("a"), 0o600)) },
			touch: func(t *testing.T, r *gittest.Repo) { chmod(t, r, "a", 0o644) },
			name:  "a",
		},
		"a file": {
			hide:  func(t *testing.T, r *gittest.Repo) { chmod(t, r, "a", 0) },
			touch: func(t *testing.T, r *gittest.Repo) { chmod(t, r, "a", 0o200) },
			name:  "a", user: true,
		},
		"a folder": {
			hide:  func(t *testing.T, r *gittest.Repo) { r.Write("data/x", "1"); chmod(t, r, "data", 0) },
			touch: func(t *testing.T, r *gittest.Repo) { chmod(t, r, "data", 0o100) },
			name:  "data", user: true,
		},
		"a folder in a repository within": {
			hide: func(t *testing.T, r *gittest.Repo) {
				r.Git("init", "-q", "in")
				r.Write("in/data/x", "1", "in/y", "1")
				chmod(t, r, "in/data", 0)
			},
			touch: func(t *testing.T, r *gittest.Repo) { chmod(t, r, "in/data", 0o100) },
			name:  "in/data", user: true,
		},
		"a folder outside of git": {
			hide: func(t *testing.T, r *gittest.Repo) {
				r.Remove(".git")
				r.Write("data/x", "1")
				chmod(t, r, "data", 0)
			},
			touch: func(t *testing.T, r *gittest.Repo) { chmod(t, r, "data", 0o100) },
			name:  "data", user: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.user && os.Geteuid() == 0 {
				t.Skip("root reads everything")
			}
			r := small(t)
			test.hide(t, r)
			t.Cleanup(func() { _ = os.Chmod(r.Path(test.name), 0o700) })
			w := open(t, r)
			before := tree(t, w)
			check(t, w.Keep(t.Context(), before, Baseline{}))
			if before.Exact || before.Known() != "" || !strings.HasPrefix(before.Mark(), "~") {
				t.Fatalf("exact: %t, known: %q, mark: %q, why: %q", before.Exact, before.Known(), before.Mark(), before.Why)
			}
			if again := tree(t, open(t, r)); again.Mark() != before.Mark() {
				t.Error("nothing has changed, and the mark is another")
			}
			test.touch(t, r)
			if tree(t, w).Mark() == before.Mark() {
				t.Error("a change is not seen")
			}
			if got := altered(t, w, before.Mark()); !slices.Equal(got, []string{test.name}) {
				t.Errorf("altered: %q", got)
			}
		})
	}
}

func TestNoMarkWithoutNames(t *testing.T) {
	r := small(t)
	r.Write(".git/index", "nonsense")
	if got := tree(t, open(t, r)); got.Mark() != "" {
		t.Errorf("got %q", got.Mark())
	}
}

// A folder that cannot be listed is not called a repository.
func TestADiffNamesAFolderThatCannotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	r := small(t)
	r.Write("data/d", "1")
	check(t, os.Chmod(r.Path("data"), 0))
	t.Cleanup(func() { _ = os.Chmod(r.Path("data"), 0o700) }) // else it cannot be removed
	w := open(t, r)
	d, err := w.Diff(t.Context(), Scope{Altered: []string{"data"}}, position(t, w, Scope{}), everything, 1<<20)
	check(t, err)
	if want := []Missing{{"data", IsUnreadable}}; !slices.Equal(d.Missing, want) {
		t.Errorf("missing are %q, want %q", d.Missing, want)
	}
}
