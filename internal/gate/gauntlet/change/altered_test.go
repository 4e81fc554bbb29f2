package change

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// kept keeps the tree as it is.
func kept(t testing.TB, w *Worktree) string {
	t.Helper()
	found := tree(t, w)
	check(t, w.Keep(t.Context(), found, Baseline{Session: "s"}))
	return found.Mark()
}

func altered(t testing.TB, w *Worktree, found string) []string {
	t.Helper()
	altered, err := w.Altered(t.Context(), tree(t, w), Baseline{"s", found})
	check(t, err)
	return altered.Files
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
		"a pull, and ends of lines by a setting of the session": {
			before: func(r *gittest.Repo) { theirs(r, "text", "3\n4\n", "their", "1\n") },
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Git("config", "core.autocrlf", "true")
				again(r, "text", "their")
			},
			want: []string{"text", "their"},
		},
		"a setting of the session, and then the pull": {
			before: func(r *gittest.Repo) { theirs(r, "text", "3\n4\n") },
			session: func(r *gittest.Repo) {
				r.Git("config", "core.autocrlf", "true")
				r.Git("merge", "--quiet", "theirs")
			},
			want: []string{"text"},
		},
		"a pull without a setting that the session took away": {
			before: func(r *gittest.Repo) {
				r.Git("config", "core.autocrlf", "true")
				again(r, "text")
				theirs(r, "text", "3\n4\n")
				again(r, "text")
			},
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Git("config", "--unset", "core.autocrlf")
				again(r, "text")
			},
			want: []string{"text"},
		},
		"a setting of the session that has nothing to do with what came": {
			before: func(r *gittest.Repo) { theirs(r, "text", "3\n4\n", "their", "1\n") },
			session: func(r *gittest.Repo) {
				r.Git("config", "filter.other.smudge", "cat")
				r.Git("merge", "--quiet", "theirs")
			},
		},
		"a pull, and a filter of the session": {
			before: func(r *gittest.Repo) { theirs(r, "text", "good\n") },
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Git("config", "filter.x.smudge", "sed s/good/bad/")
				r.Git("config", "filter.x.clean", "sed s/bad/good/")
				r.Write(".git/info/attributes", "text filter=x\n")
				again(r, "text")
			},
			want: []string{"text"},
		},
		"a pull, and attributes of the session in the repository": {
			before: func(r *gittest.Repo) { theirs(r, "text", "3\n4\n") },
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Write(".git/info/attributes", "text text eol=crlf\n")
				again(r, "text")
			},
			want: []string{"text"},
		},
		"a pull, and attributes of the session in the user's file": {
			before: func(r *gittest.Repo) { theirs(r, "text", "3\n4\n") },
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				ofUser(r, ".config/git/attributes", "text text eol=crlf\n")
				again(r, "text")
			},
			want: []string{"text"},
		},
		"a pull, and attributes of the session in a file that was named before": {
			before: func(r *gittest.Repo) {
				r.Git("config", "--global", "core.attributesFile", "~/named")
				theirs(r, "text", "3\n4\n")
			},
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				ofUser(r, "named", "text text eol=crlf\n")
				again(r, "text")
			},
			want: []string{"text"},
		},
		"a pull, and attributes of the session in the tree": {
			before: func(r *gittest.Repo) { theirs(r, "text", "3\n4\n", "sub/c", "5\n") },
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Write("sub/.gitattributes", "c text eol=crlf\n")
				again(r, "sub/c")
			},
			want: []string{"sub/.gitattributes", "sub/c"},
		},
		"a pull, and attributes of the session at the top": {
			before: func(r *gittest.Repo) { theirs(r, "text", "3\n4\n", "sub/deep/c", "5\n") },
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Write(".gitattributes", "c text eol=crlf\n")
				again(r, "sub/deep/c")
			},
			want: []string{".gitattributes", "sub/deep/c"},
		},
		"a pull that brings attributes": {
			before:  func(r *gittest.Repo) { theirs(r, "text", "3\n4\n", ".gitattributes", "* text eol=crlf\n") },
			session: func(r *gittest.Repo) { r.Git("merge", "--quiet", "theirs") },
		},
		"a pull with the attributes and filters of before": {
			before: func(r *gittest.Repo) {
				r.Git("config", "--global", "filter.x.smudge", "sed s/good/better/")
				r.Git("config", "--global", "filter.x.clean", "sed s/better/good/")
				r.Git("config", "core.eol", "crlf")
				ofUser(r, ".config/git/attributes", "their filter=x\n")
				r.Write(".git/info/attributes", "text text\n")
				theirs(r, "text", "3\n4\n", "their", "good\n")
			},
			session: func(r *gittest.Repo) { r.Git("merge", "--quiet", "theirs") },
		},
		"a pull, and an edit that was staged": {
			before: func(r *gittest.Repo) { theirs(r, "text", "3\n4\n") },
			session: func(r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Write("text", "3\n5\n")
				r.Git("add", "--all")
			},
			want: []string{"text"},
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

// again lets git write files anew.
func again(r *gittest.Repo, names ...string) {
	r.Remove(names...)
	r.Git(append([]string{"checkout", "--quiet", "--"}, names...)...)
}

// ofUser writes a file into the user's home.
func ofUser(r *gittest.Repo, name, content string) {
	home := *r
	home.Dir = environ.Get(r.Env, "HOME")
	home.Write(name, content)
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

// keptByAnOlderProgram is kept as it was before sessions knew of settings and of their own files: files and HEAD alone.
func keptByAnOlderProgram(t testing.TB, w *Worktree) string {
	t.Helper()
	id := kept(t, w)
	check(t, os.Remove(w.knowledgeFile(Baseline{"s", id})))
	return id
}

// A session goes on while stopgate is updated: what came with a pull is not its own, and what it has edited is.
func TestAlteredSinceATreeThatAnOlderProgramKept(t *testing.T) {
	r := small(t)
	r.Git("config", "core.autocrlf", "true")
	theirs(r, "text", "3\n4\n", "their", "1\n2\n")
	r.Write("note", "a person's\n")
	w := open(t, r)
	found := keptByAnOlderProgram(t, w)
	if got := altered(t, w, found); len(got) != 0 {
		t.Errorf("nothing was done: %q", got)
	}
	r.Git("merge", "--quiet", "theirs")
	if got := altered(t, w, found); len(got) != 0 {
		t.Errorf("a pull: %q", got)
	}
	r.Write("b", "2\n")
	if got := altered(t, w, found); !slices.Equal(got, []string{"b"}) {
		t.Errorf("an edit: %q", got)
	}

	now := tree(t, w)
	check(t, w.Keep(t.Context(), now, Baseline{"s", found}, "b"))
	if was, err := w.kept(Baseline{"s", now.Mark()}); err != nil || len(was.Settings) != 1 || !was.Own["b"] {
		t.Errorf("the next tree is kept as %v, %v; %v", was.Settings, was.Own, err)
	}
}

// The settings that count are those that the session found, in whichever turn it changes them, and a new session finds
// those that there are. The same holds for the files that it has altered.
func TestSettingsAreThoseOfTheSession(t *testing.T) {
	r := small(t)
	theirs(r, "text", "3\n4\n")
	w := open(t, r)
	first := kept(t, w)
	r.Git("config", "core.autocrlf", "true")
	r.Write("b", "2\n")
	second := tree(t, w)
	check(t, w.Keep(t.Context(), second, Baseline{"s", first}, "b"))
	check(t, w.Keep(t.Context(), second, Baseline{Session: "new"}))
	r.Git("merge", "--quiet", "theirs")

	then, err := w.Altered(t.Context(), tree(t, w), Baseline{"s", second.Mark()})
	check(t, err)
	if !slices.Equal(then.Files, []string{"text"}) || !slices.Contains(then.Moved, "b") {
		t.Errorf("in the next turn: %q of %q", then.Files, then.Moved)
	}
	now, err := w.Altered(t.Context(), tree(t, w), Baseline{"new", second.Mark()})
	check(t, err)
	if len(now.Files) != 0 || slices.Contains(now.Moved, "b") {
		t.Errorf("in another session, which found the same tree: %q of %q", now.Files, now.Moved)
	}
}

// What is not committed is a person's only where nothing has become of the repositories within the tree.
func TestE13WhatBecomesOfRepositoriesWithinHasMoved(t *testing.T) {
	r := small(t)
	within := func(name string) *gittest.Repo {
		r.Write(name+"/x", "1\n")
		one := gittest.At(t, r.Path(name))
		one.Git("init", "--quiet")
		one.Commit("first")
		return one
	}
	within("same")
	moves, goes := within("moves"), within("goes")
	w := open(t, r)
	found := kept(t, w)
	moves.Git("commit", "--quiet", "--allow-empty", "--message", "second")
	check(t, os.RemoveAll(goes.Dir))
	within("comes")
	got, err := w.Altered(t.Context(), tree(t, w), Baseline{"s", found})
	check(t, err)
	if want := []string{"comes", "comes/x", "goes", "goes/x", "moves"}; !slices.Equal(got.Moved, want) {
		t.Errorf("moved: %q, want %q", got.Moved, want)
	}
}

func TestAlteredWithoutAKeptTree(t *testing.T) {
	w := open(t, small(t))
	if _, err := w.Altered(t.Context(), tree(t, w), Baseline{"s", "unknown"}); err == nil {
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
