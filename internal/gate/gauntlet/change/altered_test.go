package change

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// kept keeps the tree as it is.
func kept(t testing.TB, w *Worktree) string {
	t.Helper()
	found := tree(t, w)
	check(t, w.Keep(t.Context(), found))
	return found.ID
}

func altered(t testing.TB, w *Worktree, found string) []string {
	t.Helper()
	names, _, err := w.Altered(t.Context(), tree(t, w), found)
	check(t, err)
	return names
}

// What git takes no notice of has changed all the same.
func TestAlteredIsWhatIsNotAsItWas(t *testing.T) {
	tests := map[string]struct {
		before, session func(r *gittest.Repo)
		want            []string
	}{
		"nothing": {},
		"an edit": {session: func(r *gittest.Repo) { r.Write("a", "2\n") }, want: []string{"a"}},
		"an edit that was taken back": {session: func(r *gittest.Repo) {
			r.Write("a", "2\n")
			r.Write("a", "1\n")
		}},
		"a commit of what was there": {
			before:  func(r *gittest.Repo) { r.Write("a", "2\n") },
			session: func(r *gittest.Repo) { r.Commit("two") },
		},
		"line ends": {
			before:  func(r *gittest.Repo) { r.Write(".gitattributes", "* text=auto\n"); r.Commit("attributes") },
			session: func(r *gittest.Repo) { r.Write("text", "1\r\n2\r\n"); r.Git("add", "--all") },
			want:    []string{"text"},
		},
		"line ends that git would write too": {
			before:  func(r *gittest.Repo) { r.Git("config", "core.autocrlf", "true") },
			session: func(r *gittest.Repo) { r.Write("text", "1\r\n2\r\n"); r.Git("add", "--all") },
			want:    []string{"text"},
		},
		"line ends and a commit of something else": {
			before: func(r *gittest.Repo) { r.Write(".gitattributes", "* text=auto\n"); r.Commit("attributes") },
			session: func(r *gittest.Repo) {
				r.Write("text", "1\r\n2\r\n", "a", "2\n")
				r.Commit("two")
			},
			want: []string{"text"}, // the commit counts by itself
		},
		"an ident": {
			before:  func(r *gittest.Repo) { r.Write("a", "$Id$\n", ".gitattributes", "a ident\n"); r.Commit("ident") },
			session: func(r *gittest.Repo) { r.Write("a", "$Id: other $\n"); r.Git("add", "--all") },
			want:    []string{"a"},
		},
		"a file that git does not track is gone": {
			before:  func(r *gittest.Repo) { r.Write("new", "1\n") },
			session: func(r *gittest.Repo) { r.Remove("new") },
			want:    []string{"new"},
		},
		"an edit of before was thrown away": {
			before:  func(r *gittest.Repo) { r.Write("a", "2\n") },
			session: func(r *gittest.Repo) { r.Git("checkout", "--quiet", "a") },
			want:    []string{"a"},
		},
		"a pull": {
			before:  func(r *gittest.Repo) { theirs(r, "a", "2\n", "their", "1\n") },
			session: func(r *gittest.Repo) { r.Git("merge", "--quiet", "theirs") },
		},
		"a pull that deletes": {
			before: func(r *gittest.Repo) {
				r.Git("switch", "--quiet", "--create", "theirs")
				r.Git("rm", "--quiet", "a")
				r.Commit("theirs")
				r.Git("switch", "--quiet", "-")
			},
			session: func(r *gittest.Repo) { r.Git("merge", "--quiet", "theirs") },
		},
		"a pull of files that git converts": {
			before: func(r *gittest.Repo) {
				r.Git("config", "core.autocrlf", "true")
				theirs(r, "text", "3\n4\n", "their", "1\n")
			},
			session: func(r *gittest.Repo) { r.Git("merge", "--quiet", "theirs") },
		},
		"a pull, and other line ends in what came": {
			before: func(r *gittest.Repo) {
				r.Write(".gitattributes", "* text=auto\n")
				r.Commit("attributes")
				theirs(r, "a", "2\n", "text", "3\n")
			},
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Write("text", "3\r\n")
				r.Git("add", "--all")
			},
			want: []string{"text"},
		},
		"a pull, and an edit": {
			before:  func(r *gittest.Repo) { theirs(r, "a", "2\n") },
			session: func(r *gittest.Repo) { r.Git("merge", "--quiet", "theirs"); r.Write("b", "2\n") },
			want:    []string{"b"},
		},
		"another branch, and back": {
			before: func(r *gittest.Repo) {
				r.Git("config", "core.autocrlf", "true")
				r.Remove("text")
				r.Git("checkout", "--quiet", "text")
				theirs(r, "text", "3\n")
			},
			session: func(r *gittest.Repo) {
				r.Git("switch", "--quiet", "theirs")
				r.Git("switch", "--quiet", "-")
			},
		},
		"before the first commit": {
			before:  func(r *gittest.Repo) { r.Git("switch", "--quiet", "--orphan", "fresh"); r.Write("a", "1\n") },
			session: func(r *gittest.Repo) { r.Write("a", "2\n") },
			want:    []string{"a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := small(t)
			if test.before != nil {
				test.before(r)
			}
			w := open(t, r)
			found := kept(t, w)
			if test.session != nil {
				test.session(r)
			}
			if got := altered(t, w, found); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// theirs makes a branch of that name with a commit.
func theirs(r *gittest.Repo, namesAndContents ...string) {
	r.Git("switch", "--quiet", "--create", "theirs")
	r.Write(namesAndContents...)
	r.Commit("theirs")
	r.Git("switch", "--quiet", "-")
}

// The set and the diff have what git does not show, each once.
func TestAlteredFilesAreShown(t *testing.T) {
	r := small(t)
	r.Write(".gitattributes", "* text=auto\n")
	r.Commit("attributes")
	r.Origin()
	w := open(t, r)
	found := kept(t, w)
	r.Write("text", "1\r\n2\r\n", "a", "2\n")
	r.Git("add", "--all")
	scope := Scope{Altered: altered(t, w, found)}
	if set := changes(t, w, scope); !slices.Equal(set.Files, []string{"a", "text"}) {
		t.Errorf("got %q", set.Files)
	}
	diff, err := w.Diff(t.Context(), scope, position(t, w, scope), everything, 1<<20)
	check(t, err)
	for _, name := range []string{"a", "text"} {
		if n := strings.Count(string(diff.Text), "+++ b/"+name); n != 1 {
			t.Errorf("%s is shown %d times:\n%s", name, n, diff.Text)
		}
	}
}

func TestAlteredWithoutAKeptTree(t *testing.T) {
	w := open(t, small(t))
	if _, _, err := w.Altered(t.Context(), tree(t, w), "unknown"); err == nil {
		t.Error("that nothing is known is no error")
	}
}

// What is kept does not grow without end.
func TestKeptTreesAreForgotten(t *testing.T) {
	r := small(t)
	w := open(t, r)
	first := kept(t, w)
	var last string
	for i := range leastKept + 2 {
		r.Write("a", strings.Repeat("x", i))
		last = kept(t, w)
	}
	wantKept := func(n int) {
		t.Helper()
		if all, err := os.ReadDir(w.keptDir()); len(all) != n || err != nil {
			t.Errorf("%d trees are kept, want %d; %v", len(all), n, err)
		}
	}
	wantKept(leastKept + 3) // there is room

	check(t, os.Truncate(w.keptFile(last), maxRoom))
	forget(w.keptDir())
	wantKept(leastKept)
	if _, err := os.Stat(w.keptFile(last)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(w.keptFile(first)); err == nil {
		t.Error("the oldest is kept")
	}
}
