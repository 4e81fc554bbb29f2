//go:build unix

package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/web"
	"github.com/stopgate/stopgate/internal/sys/git"
)

// diffOf is the diff of a repository since a commit.
func diffOf(t *testing.T, root, from string) web.Diff {
	t.Helper()
	diff, err := diffIn(t.Context(), git.At(root, os.Environ()), root, from)
	check(t, err)
	return diff
}

// committed is a repository with a file, and its commit.
func committed(t *testing.T) (root, from string, run func(...string)) {
	t.Helper()
	root, run = repository(t)
	put(t, root, "main.go", "package main\n")
	run("add", ".")
	run("commit", "-qm", "x")
	from, _, err := git.At(root, os.Environ()).Commit(t.Context(), "HEAD")
	check(t, err)
	return root, from, run
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
}

// A diff has what was changed, committed or not, and new files; of a huge change the beginning.
func TestIssue18ADiffHasWhatWasChanged(t *testing.T) {
	root, from, run := committed(t)
	if diff := diffOf(t, root, from); diff != (web.Diff{}) {
		t.Errorf("unchanged: %+v", diff)
	}
	put(t, root, "main.go", "package main\n\nfunc main() {}\n")
	put(t, root, "notes.txt", "one\ntwo\n")
	diff := diffOf(t, root, from)
	for _, want := range []string{"diff --git a/main.go b/main.go\n", "\n+func main() {}\n", "diff --git a/notes.txt b/notes.txt\nnew file\n@@ -0,0 +1 @@\n+one\n+two\n"} {
		if !strings.Contains(diff.Text, want) || diff.Cut {
			t.Errorf("no %q in\n%s", want, diff.Text)
		}
	}
	run("commit", "-qam", "y")
	if again := diffOf(t, root, from); again != diff {
		t.Errorf("committed:\n%s", again.Text)
	}
	put(t, root, "main.go", strings.Repeat("// a long line of a long file\n", 20_000))
	diff = diffOf(t, root, from)
	if !diff.Cut || len(diff.Text) > maxDiff+1000 || !strings.HasSuffix(diff.Text, "line of a long file\ndiff --git a/notes.txt b/notes.txt\nnew file\nnot shown: 8 bytes\n") {
		t.Errorf("%d bytes, %t: %s", len(diff.Text), diff.Cut, diff.Text[len(diff.Text)-200:])
	}
}

// An agent cannot hide a new file from the person who approves: what is not shown is named.
func TestIssue18ADiffNamesWhatItDoesNotShow(t *testing.T) {
	for name, test := range map[string]struct {
		make func(root string)
		want string
	}{
		"large":  {func(root string) { put(t, root, "odd", strings.Repeat("x", maxNewFile+1)) }, "16385 bytes"},
		"binary": {func(root string) { put(t, root, "odd", "\x00\x01") }, "binary, 2 bytes"},
		"latin":  {func(root string) { put(t, root, "odd", "caf\xe9\n") }, "binary, 5 bytes"},
		"link":   {func(root string) { check(t, os.Symlink("/etc/a\nb", filepath.Join(root, "odd"))) }, `link to "/etc/a\nb"`},
		"a repository": {func(root string) {
			_, inner := repository(t)
			inner("init", "-q", filepath.Join(root, "odd"))
			put(t, filepath.Join(root, "odd"), "file", "text")
		}, "folder with a repository of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			root, from, _ := committed(t)
			test.make(root)
			diff := diffOf(t, root, from)
			if !diff.Cut || !strings.HasPrefix(diff.Text, "diff --git a/odd") || !strings.HasSuffix(diff.Text, "\nnew file\nnot shown: "+test.want+"\n") {
				t.Errorf("%+v", diff)
			}
		})
	}
}

// Of many new files the first are shown, more are named, and the others are counted.
func TestIssue18ADiffCountsTheFilesThatItDoesNotName(t *testing.T) {
	root, from, _ := committed(t)
	for i := range maxNames + 3 {
		put(t, root, fmt.Sprintf("new-%03d", i), "text\n")
	}
	diff := diffOf(t, root, from)
	if n := strings.Count(diff.Text, "\n+text\n"); n != maxNewFiles {
		t.Errorf("%d are shown", n)
	}
	if n := strings.Count(diff.Text, "\nnot shown: 5 bytes\n"); n != maxNames-maxNewFiles {
		t.Errorf("%d are named", n)
	}
	if diff.Unnamed != 3 || !diff.Cut {
		t.Errorf("%d more, cut: %t", diff.Unnamed, diff.Cut)
	}
}

// A change cannot be hidden behind a long one: the files that are not shown are named, and past some counted.
func TestIssue18ADiffNamesTheChangesBehindALongOne(t *testing.T) {
	root, _, run := committed(t)
	for i := range maxNames + 2 {
		put(t, root, fmt.Sprintf("z-%03d", i), "text\n")
	}
	put(t, root, "a\té", "text\n")
	put(t, root, "é\n", "text\n")
	run("add", ".")
	run("commit", "-qm", "more")
	from, _, err := git.At(root, os.Environ()).Commit(t.Context(), "HEAD")
	check(t, err)
	put(t, root, "main.go", strings.Repeat("// a long line of a long file\n", 20_000))
	put(t, root, "a\té", "evil\n")
	put(t, root, "é\n", "evil\n")
	for i := range maxNames + 2 {
		put(t, root, fmt.Sprintf("z-%03d", i), "evil\n")
	}
	diff := diffOf(t, root, from)
	if n := strings.Count(diff.Text, "\nnot shown: changed\n"); n != maxNames || diff.Unnamed != 3 || !diff.Cut {
		t.Errorf("%d are named, %d are not", n, diff.Unnamed)
	}
	if strings.Count(diff.Text, "diff --git a/main.go") != 1 || !strings.Contains(diff.Text, "diff --git a/z-000 b/z-000\nnot shown: changed\n") {
		t.Errorf("%s", diff.Text[len(diff.Text)-3000:])
	}

	diff = web.Diff{Text: "diff --git a/main.go b/main.go\nindex 1..2 100644\n--- a/main.go\n"} // cut before its first line
	check(t, nameRest(t.Context(), git.At(root, os.Environ()), from, &diff))
	if !strings.Contains(diff.Text, "diff --git a/main.go b/main.go\nnot shown: changed\n") {
		t.Errorf("%s", diff.Text)
	}
}

// A name with a newline makes no files and lines that are not there.
func TestIssue18AFilesNameForgesNothingInADiff(t *testing.T) {
	root, from, _ := committed(t)
	put(t, root, "x\n@@ -0,0 +1 @@\n+harmless", "evil\n")
	want := `diff --git "a/x\n@@ -0,0 +1 @@\n+harmless" "b/x\n@@ -0,0 +1 @@\n+harmless"` + "\nnew file\n@@ -0,0 +1 @@\n+evil\n"
	if diff := diffOf(t, root, from); diff.Text != want {
		t.Errorf("%s", diff.Text)
	}
}

// A diff that could not be made is an error, and not no changes.
func TestIssue18ADiffThatCannotBeMadeIsAnError(t *testing.T) {
	root, from, _ := committed(t)
	put(t, root, "notes.txt", "one\n")
	repo := git.At(root, os.Environ())
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if diff, err := diffIn(over, repo, root, from); err == nil {
		t.Errorf("cancelled: %+v", diff)
	}
	if diff, err := diffIn(t.Context(), repo, root, strings.Repeat("1", 40)); err == nil {
		t.Errorf("from a commit that is not there: %+v", diff)
	}
	check(t, os.WriteFile(filepath.Join(root, ".git", "index"), []byte("broken"), 0o600))
	if diff, err := diffIn(t.Context(), repo, root, from); err == nil {
		t.Errorf("with a broken index: %+v", diff)
	}
}
