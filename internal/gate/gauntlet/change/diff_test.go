package change

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func diff(t testing.TB, w *Worktree, scope Scope, include func(string) bool, limit int64) (string, bool) {
	t.Helper()
	d, err := w.Diff(t.Context(), scope, position(t, w, scope), include, limit)
	check(t, err)
	cut := slices.ContainsFunc(d.Missing, func(m Missing) bool { return m.Why == IsCut })
	return string(d.Text), cut
}

// shown lists the files that a diff is about.
func shown(text string) (names []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "diff --git ") {
			var s section
			s.start(strings.TrimSuffix(line, "\n"))
			names = append(names, s.name)
		}
	}
	return names
}

// A review is about the same files as the changes that led to it, but for those
// that differ in the end from nothing.
func TestDiffHasTheScopeOfChanges(t *testing.T) {
	r, _ := busy(t)
	for _, dir := range []string{".", "sub"} {
		for _, scope := range []Scope{{}, {Uncommitted: true}, {Commit: "HEAD"}, {Commit: "HEAD^"}, {CI: true}, {Base: "nope"}} {
			t.Run(fmt.Sprintf("%s %+v", dir, scope), func(t *testing.T) {
				w := openAt(t, r, dir)
				text, truncated := diff(t, w, scope, everything, 1<<20)
				var want []string
				for _, name := range changes(t, w, scope).Files {
					reverted := reflect.DeepEqual(scope, Scope{}) && dir == "." && name == "edited"
					if gone := scope.Base == "nope" && name == "gone"; !reverted && !gone {
						want = append(want, name)
					}
				}
				got := map[string]bool{}
				for _, name := range shown(text) {
					got[name] = true
				}
				for _, name := range want {
					if !got[name] {
						t.Errorf("%s is not shown", name)
					}
				}
				if len(got) != len(want) || truncated {
					t.Errorf("truncated: %t; shown: %v, want %v", truncated, got, want)
				}
			})
		}
	}
}

func TestDiff(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1\n2\n3\n", "bin", "\x00\x01", "touched", "same\n", "gone", "1\n", "excluded", "1\n")
	r.Commit("one")
	r.Origin()
	r.Write("a", "1\ntwo\n3\n")
	r.Commit("two")
	r.Write("a", "1\ntwo\nthree", "bin", "\x00\x02", "touched", "same\n", "excluded", "secret\n")
	r.Write("new/empty", "", "new/file", "x\ny\n", "new/no end", "x", "new/bin", "\x00")
	r.Remove("gone")
	r.Git("config", "diff.noprefix", "true")
	r.Git("config", "color.diff", "always")
	want := `diff --git a/a b/a
index 01e79c3..e093a5a 100644
--- a/a
+++ b/a
@@ -1,3 +1,3 @@
 1
-2
-3
+two
+three
\ No newline at end of file
diff --git a/gone b/gone
deleted file mode 100644
index d00491f..0000000
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-1
Binary file bin changed
Binary file new/bin changed
diff --git a/new/empty b/new/empty
new file mode 100644
diff --git a/new/file b/new/file
new file mode 100644
--- /dev/null
+++ b/new/file
@@ -0,0 +1,2 @@
+x
+y
diff --git a/new/no end b/new/no end
new file mode 100644
--- /dev/null
+++ b/new/no end
@@ -0,0 +1,1 @@
+x
\ No newline at end of file
`
	got, truncated := diff(t, open(t, r), Scope{}, func(name string) bool { return name != "excluded" }, 1<<20)
	if diff := cmp.Diff(want, got); diff != "" || truncated {
		t.Error(truncated, diff)
	}
	if got, _ := diff(t, open(t, r), Scope{}, func(string) bool { return false }, 1<<20); got != "" {
		t.Errorf("nothing is included: %q", got)
	}
}

// Where git cannot compare, the whole file is better than nothing.
func TestDiffShowsWhatGitWasToldNotToSee(t *testing.T) {
	r := small(t)
	r.Git("update-index", "--assume-unchanged", "a", "b")
	r.Write("a", "evil\n")
	r.Remove("b")
	got, _ := diff(t, open(t, r), Scope{}, everything, 1<<20)
	if !strings.Contains(got, "+evil\n") || !strings.Contains(got, "File b is gone\n") {
		t.Errorf("got %s", got)
	}
}

func TestDiffOfSubmodulesAndNestedRepositories(t *testing.T) {
	module := gittest.New(t)
	module.Write("m", "1\n")
	module.Commit("one")
	r := gittest.New(t)
	r.Git("submodule", "--quiet", "add", "file://"+module.Dir, "module")
	r.Commit("one")
	r.Origin()
	r.Write("module/m", "2\n", "nested/x", "")
	gittest.At(t, r.Path("nested")).Git("init", "--quiet")
	got, _ := diff(t, open(t, r), Scope{}, everything, 1<<20)
	if !strings.Contains(got, "-dirty\n") || !strings.Contains(got, "Repository nested changed\n") {
		t.Errorf("got %s", got)
	}
}

// What is left out is named, and what is shown is whole hunks.
func TestDiffLimit(t *testing.T) {
	r := gittest.New(t)
	lines := strings.Repeat("line\n", 100)
	r.Write("a", lines, "b", lines, "z", "1\n")
	r.Commit("one")
	r.Origin()
	r.Write("a", "first\n"+lines+"last\n", "b", strings.ReplaceAll(lines, "l", "L"), "huge", strings.Repeat("x", 100_000), "z", "2\n")
	w := open(t, r)
	whole, truncated := diff(t, w, Scope{}, everything, 1<<20)
	if truncated || len(whole) < 100_000 {
		t.Fatalf("%d bytes, truncated: %t", len(whole), truncated)
	}
	some, truncated := diff(t, w, Scope{}, everything, 600)
	body, note, _ := strings.Cut(some, "[")
	if !truncated || len(body) > 600 || note != "The diff is longer than 600 bytes. Not shown, or not whole: b, huge]\n" {
		t.Errorf("truncated: %t, %d bytes, note %q", truncated, len(body), note)
	}
	if diff := cmp.Diff([]string{"a", "z"}, shown(body)); diff != "" {
		t.Error(diff)
	}
	onlyA := func(name string) bool { return name == "a" }
	both, _ := diff(t, w, Scope{}, onlyA, 1<<20)
	first, truncated := diff(t, w, Scope{}, onlyA, int64(len(both)-1))
	if !truncated || !strings.Contains(first, "+first\n") || strings.Contains(first, "+last\n") || !strings.HasSuffix(first, "whole: a]\n") {
		t.Errorf("truncated: %t, %s", truncated, first)
	}
	for limit := int64(0); limit < 700; limit += 7 {
		some, truncated := diff(t, w, Scope{}, func(name string) bool { return name != "huge" }, limit)
		body, note, _ := strings.Cut(some, "[")
		if !truncated || note == "" || int64(len(body)) > limit {
			t.Fatalf("limit %d: truncated: %t, %d bytes, note %q", limit, truncated, len(body), note)
		}
		for line := range strings.Lines(body) {
			if !strings.Contains(whole, line) || !strings.HasSuffix(line, "\n") {
				t.Fatalf("limit %d: %q", limit, line)
			}
		}
	}
}

func TestDiffWithoutARepository(t *testing.T) {
	r := gittest.At(t, gittest.Dir(t))
	r.Write("a", "1\n", logDir+"/x.log", "")
	got, _ := diff(t, open(t, r), Scope{}, everything, 1<<20)
	want := "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+1\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The truest test of a diff: applied to the base it gives the working tree.
func TestDiffCanBeApplied(t *testing.T) {
	names := []string{"a", "b c", "sub/d", "sub/ü", "x"}
	contents := []string{"", "1\n", "1\n2\n3\n", "no end", "diff --git a/a b/a\n@@ -1 +1 @@\n", "-- \n++ \n", "\r\n", "\n\n\n", strings.Repeat("l\n", 50), strings.Repeat("l\n", 20) + "new\n" + strings.Repeat("l\n", 30)}
	rapid.Check(t, func(rt *rapid.T) {
		r := gittest.New(t)
		edit := func(when string) {
			for _, name := range names {
				switch rapid.IntRange(0, 3).Draw(rt, when+" "+name) {
				case 0:
					r.Remove(name)
				case 1, 2:
					r.Write(name, rapid.SampledFrom(contents).Draw(rt, "content"))
				}
			}
		}
		edit("base")
		base := r.Commit("base")
		r.Origin()
		edit("commit")
		r.Commit("commit")
		edit("work")
		if rapid.Bool().Draw(rt, "stage") {
			r.Git("add", "--all")
		}
		w := open(t, r)
		want := exact(t, w)
		text, truncated := diff(t, w, Scope{}, everything, 1<<20)
		if truncated {
			rt.Fatal("truncated")
		}
		patch := r.Path(".git/patch")
		if err := os.WriteFile(patch, []byte(text), 0o600); err != nil {
			rt.Fatal(err)
		}
		r.Git("add", "--all")
		r.Git("reset", "--quiet", "--hard", base)
		if text != "" {
			r.Git("-c", "core.whitespace=cr-at-eol", "apply", patch)
		}
		if exact(t, w) != want {
			rt.Fatalf("applied to the base, this does not give the working tree:\n%s", text)
		}
	})
}

// However the diff comes in pieces, and whatever it is, the same is kept of it:
// whole lines, never more than the limit, never a file that is not wanted.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\ndiff --git a/no b/no\nnew file mode 100644\n@@ -0,0 +1 @@\n+secret\n"), 60, 7)
	f.Add([]byte("diff --git a/b b/b\nBinary files a/b and b/b differ\ndiff --git \"a/x\\n\" \"b/x\\n\"\n@@ -1 +1 @@\n+1\n"), 1000, 1)
	f.Fuzz(func(t *testing.T, data []byte, limit, piece int) {
		limit, piece = min(max(limit, 0), 10_000), min(max(piece, 1), 1<<16)
		cut := func(piece int) (string, bool) {
			p := &patch{limit: limit, include: func(name string) bool { return name != "no" }, sights: map[string]sight{}}
			for rest := data; len(rest) > 0; {
				n := min(piece, len(rest))
				if m, err := p.Write(rest[:n]); m != n || err != nil {
					t.Fatal(m, err)
				}
				rest = rest[n:]
			}
			return string(p.end()), len(p.left) > 0
		}
		whole, truncated := cut(len(data) + 1)
		if pieces, also := cut(piece); pieces != whole || also != truncated {
			t.Fatalf("in pieces of %d: %q, else %q", piece, pieces, whole)
		}
		if !truncated && len(whole) > limit {
			t.Fatalf("%d bytes, limit %d", len(whole), limit)
		}
		for _, name := range shown(whole) {
			if name == "no" {
				t.Fatalf("not wanted: %q", whole)
			}
		}
	})
}

// What a session pushed is reviewed all the same, and what others pushed is not.
func TestE12ADiffShowsWhatWasPushed(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1\n", "shared", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	first := r.Commit("one")
	r.Git("checkout", "-q", "-b", "theirs")
	r.Write("theirs", "1\n", "shared", "theirs\n2\n3\n4\n5\n6\n7\n8\n9\n")
	r.Commit("theirs")
	r.Git("checkout", "-q", "-b", "work", first)
	r.Write("mine", "1\n", "sub/mine", "1\n", "shared", "mine\n2\n3\n4\n5\n6\n7\n8\n9\n")
	made := r.Commit("mine")
	_, _ = r.Try("merge", "theirs")
	r.Write("shared", "both\n2\n3\n4\n5\n6\n7\n8\n9\n")
	merge := r.Commit("merge")
	r.Git("branch", "base")
	r.Write("a", "2\n")
	unpushed := r.Commit("two")
	scope := Scope{Base: "base", Made: []string{strings.Repeat("0", 40), made, merge, unpushed}}

	for _, c := range []struct {
		dir     string
		include func(string) bool
		want    []string
	}{
		{".", everything, []string{"a", "mine", "shared", "sub/mine", "shared"}},
		{"sub", everything, []string{"mine"}},
		{".", func(name string) bool { return name == "a" }, []string{"a"}},
		{".", func(name string) bool { return name == "theirs" }, nil},
	} {
		text, cut := diff(t, openAt(t, r, c.dir), scope, c.include, 1<<20)
		if got := shown(text); !slices.Equal(got, c.want) || cut {
			t.Errorf("in %s %v is shown, want %v; cut: %t\n%s", c.dir, got, c.want, cut, text)
		}
		if named := strings.Contains(text, "Commit "+made+", which base already has:\n"); named != slices.Contains(c.want, "mine") {
			t.Errorf("in %s the commit is named: %t\n%s", c.dir, named, text)
		}
	}
	if text, cut := diff(t, open(t, r), scope, everything, 150); !cut || len(shown(text)) != 1 || !strings.Contains(text, "mine") {
		t.Errorf("without room for it, cut: %t\n%s", cut, text)
	}
}
