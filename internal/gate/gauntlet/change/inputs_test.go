package change

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func inputs(t *testing.T, w *Worktree, patterns ...string) Tree {
	t.Helper()
	got, err := w.Inputs(t.Context(), patterns, "")
	check(t, err)
	return got
}

func (t Tree) names() (names []string) {
	for _, f := range t.files {
		names = append(names, f.path)
	}
	return names
}

func TestInputs(t *testing.T) {
	r := small(t)
	r.Write("ignored", "1", "sub/x.o", "1", "sub/deep/y.o", "1", "sub/deep/z", "1", logDir+"/x.o", "1", "sub-x", "1", ".hidden/h", "1", "app/[id]/page", "1", "app/[id]/deep/page", "1")
	nested := gittest.At(t, r.Path("nested"))
	r.Write("nested/n.o", "1")
	nested.Git("init", "--quiet")
	w := open(t, r)
	tree(t, w) // what it knows must not show
	tests := []struct {
		patterns []string
		want     []string
		exact    bool
	}{
		{nil, nil, true},
		{[]string{"nope"}, nil, false},
		{[]string{"a", "nope/**"}, []string{"a"}, false},
		{[]string{"no*", "a"}, []string{"a"}, false},
		{[]string{"a/b"}, nil, false},
		{[]string{"a"}, []string{"a"}, true},
		{[]string{"./a", "a", "b"}, []string{"a", "b"}, true},
		{[]string{"ignored"}, []string{"ignored"}, true},
		{[]string{"sub"}, []string{"sub/c", "sub/deep/y.o", "sub/deep/z", "sub/x.o"}, true},
		{[]string{"sub/"}, []string{"sub/c", "sub/deep/y.o", "sub/deep/z", "sub/x.o"}, true},
		{[]string{"sub/*"}, []string{"sub/c", "sub/x.o"}, true},
		{[]string{"*/*.o"}, []string{"nested/n.o", "sub/x.o"}, true},
		{[]string{"**/*.o"}, []string{"nested/n.o", "sub/deep/y.o", "sub/x.o"}, true},
		{[]string{"sub/{x.o,deep/y.o}"}, []string{"sub/deep/y.o", "sub/x.o"}, true},
		{[]string{"sub/**/y.o", "?"}, []string{"a", "b", "sub/deep/y.o"}, true},
		{[]string{"nested"}, []string{"nested/n.o"}, true},
		{[]string{"."}, []string{".gitignore", ".hidden/h", "a", "app/[id]/deep/page", "app/[id]/page", "b", "ignored", "nested/n.o", "sub-x", "sub/c", "sub/deep/y.o", "sub/deep/z", "sub/x.o", "text"}, true},
		{[]string{"**"}, []string{".gitignore", ".hidden/h", "a", "app/[id]/deep/page", "app/[id]/page", "b", "ignored", "nested/n.o", "sub-x", "sub/c", "sub/deep/y.o", "sub/deep/z", "sub/x.o", "text"}, true},
		{[]string{logDir}, nil, false},
		{[]string{logDir + "/*"}, nil, false},
		{[]string{"**/config"}, nil, false},
		{[]string{".git/config"}, []string{".git/config"}, true}, // somebody wants it
		{[]string{".hid*"}, nil, false},
		{[]string{".hidden"}, []string{".hidden/h"}, true},
		{[]string{".hidden/*"}, []string{".hidden/h"}, true},
		{[]string{"app/[id]"}, []string{"app/[id]/deep/page", "app/[id]/page"}, true},
		{[]string{"app/[id]/page"}, []string{"app/[id]/page"}, true},
		{[]string{"app/[id]/*"}, []string{"app/[id]/page"}, true},
		{[]string{"app/[id]/**"}, []string{"app/[id]/deep/page", "app/[id]/page"}, true},
		{[]string{"[ab]"}, []string{"a", "b"}, true},
		{[]string{"[ab]", "[xy]"}, []string{"a", "b"}, false},
		{[]string{"../x", "a"}, []string{"a"}, false},
		{[]string{"sub/../../x"}, nil, false},
		{[]string{"/etc/passwd"}, nil, false},
		{[]string{"[", "a"}, []string{"a"}, false},
	}
	for _, tt := range tests {
		got := inputs(t, w, tt.patterns...)
		if diff := cmp.Diff(tt.want, got.names()); diff != "" || got.Exact != tt.exact {
			t.Errorf("%q: exact: %t %s, %s", tt.patterns, got.Exact, got.Why, diff)
		}
		cold := inputs(t, open(t, r), tt.patterns...)
		if cold.ID != got.ID {
			t.Errorf("%q: it depends on the index", tt.patterns)
		}
	}
}

func TestInputsSeeIgnoredFiles(t *testing.T) {
	r := small(t)
	r.Write("x.o", "1")
	w := open(t, r)
	whole, some, other := exact(t, w), inputs(t, w, "*.o").ID, inputs(t, w, "a").ID
	r.Write("x.o", "2")
	if exact(t, w) != whole || inputs(t, w, "a").ID != other {
		t.Error("an ignored file counts where nobody named it")
	}
	if inputs(t, w, "*.o").ID == some {
		t.Error("an ignored file does not count where it is named")
	}
	// Both kinds of files stay in the index, whoever looks next.
	exact(t, w)
	names := []string{}
	for _, e := range loadIndex(w.indexFile) {
		names = append(names, e.path)
	}
	if !slices.Contains(names, "x.o") || !slices.Contains(names, "a") {
		t.Errorf("got %q", names)
	}
}

// The patterns of a gate that runs in a folder are read from there as well, whatever the folder is called.
func TestInputsOfAFolder(t *testing.T) {
	r := small(t)
	w := open(t, r)
	r.Write("src/x", "1", "package.json", "1", "p/[id]/src/y", "1", "p/[id]/package.json", "1", "p/i/src/z", "1", "p/i/a", "1", "p/file", "1")
	for _, tt := range []struct {
		dir      string
		patterns []string
		want     []string
		missing  []string
	}{
		{"p/[id]", []string{"src/**", "package.json"}, []string{"p/[id]/package.json", "p/[id]/src/y", "package.json", "src/x"}, nil},
		{"p/i", []string{"src/**", "package.json"}, []string{"p/i/src/z", "package.json", "src/x"}, nil},
		{"p/i", []string{"."}, []string{".gitignore", "a", "b", "p/[id]/package.json", "p/[id]/src/y", "p/file", "p/i/a", "p/i/src/z", "package.json", "src/x", "sub/c", "text"}, nil},
		{"p/i", []string{"src/z", "test/**"}, []string{"p/i/src/z"}, []string{"test/**"}},
		{"p/gone", []string{"src"}, []string{"src/x"}, nil},
		{"p/file", []string{"src"}, []string{"src/x"}, nil},
		{".", []string{"a"}, []string{"a"}, nil},
	} {
		got, err := w.Inputs(t.Context(), tt.patterns, tt.dir)
		check(t, err)
		if diff := cmp.Diff(tt.want, got.names()); diff != "" || got.Exact != (tt.missing == nil) {
			t.Errorf("%s %q: exact: %t %s, %s", tt.dir, tt.patterns, got.Exact, got.Why, diff)
		}
		if diff := cmp.Diff(tt.missing, w.Unmatched(t.Context(), tt.patterns, tt.dir)); diff != "" {
			t.Errorf("%s %q: %s", tt.dir, tt.patterns, diff)
		}
	}
}
