package daemon

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git"
)

func TestDiffstat(t *testing.T) {
	diff := `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,3 +1,3 @@
 x
-diff --git a/b b/b
+++ y
+--- z
\ No newline at end of file
diff --git a/pic.png b/pic.png
index 1..2 100644
Binary files a/pic.png and b/pic.png differ
diff --git a/touched b/touched
diff --git "a/o\"dd\tname" "b/o\"dd\tname"
--- "a/o\"dd\tname"
+++ /dev/null
@@ -1 +0,0 @@
-Binary files
`
	want := []string{"a.go | +2 -1", "pic.png | binary", `"o\"dd\tname" | +0 -1`}
	for name, from := range map[string]io.Reader{
		"whole":         strings.NewReader(diff),
		"byte for byte": iotest.OneByteReader(strings.NewReader(diff)),
	} {
		var stat diffstat
		_, err := io.Copy(onlyWriter{&stat}, from)
		check(t, err)
		if diff := cmp.Diff(want, stat.end()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// onlyWriter hides what else a writer can do.
type onlyWriter struct{ io.Writer }

func TestDiffstatKeepsLittle(t *testing.T) {
	var stat diffstat
	fmt.Fprintf(&stat, "diff --git a/long b/long\n@@ -1 +1 @@\n+")
	for range 1000 {
		fmt.Fprint(&stat, strings.Repeat("x", 10_000))
	}
	if cap(stat.line) > 4*maxPrefix {
		t.Errorf("it keeps %d bytes", cap(stat.line))
	}
	fmt.Fprint(&stat, "\n")
	for n := range 99 {
		fmt.Fprintf(&stat, "diff --git a/%02d b/%02d\n@@ -1 +1 @@\n+\n", n, n)
	}
	lines := stat.end()
	if len(lines) != maxChanges || lines[0] != "long | +1 -0" || lines[maxChanges-1] != "… and 81 more" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

func FuzzDiffstat(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\n@@ -1 +1 @@\n+x\n-y\n"))
	f.Add([]byte("diff --git \n@@ \n+\ndiff --git \"\n@@ \n+"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var stat diffstat
		_, err := stat.Write(text)
		check(t, err)
		for _, line := range stat.end() {
			if strings.ContainsAny(line, "\n\x1b") {
				t.Errorf("%q is no line", line)
			}
		}
	})
}

// repository is one with a commit of a file.
func repository(t *testing.T) (dir string, run func(args ...string)) {
	t.Helper()
	environtest.Need(t, "git")
	dir = t.TempDir()
	run = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run("init", "-q")
	return dir, run
}

func TestChangesOfARepository(t *testing.T) {
	dir, run := repository(t)
	write := func(name, text string) {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	at := func() []string { return changes(t.Context(), git.At(dir, os.Environ())) }
	write("a.txt", "1\n2\n")
	if diff := cmp.Diff([]string{"a.txt | new"}, at()); diff != "" { // before the first commit
		t.Error(diff)
	}
	run("add", ".")
	run("commit", "-qm", "x")
	if got := at(); got != nil {
		t.Errorf("nothing changed: %q", got)
	}
	write("a.txt", "1\n3\n4\n")
	write("ü b", "x")
	if diff := cmp.Diff([]string{"a.txt | +2 -1", "ü b | new"}, at()); diff != "" {
		t.Error(diff)
	}
	sub := filepath.Join(dir, "sub")
	check(t, os.Mkdir(sub, 0o755))
	if diff := cmp.Diff(at(), changesIn(t.Context(), []string{t.TempDir(), sub}, os.Environ())); diff != "" {
		t.Error(diff)
	}
	if got := changesIn(t.Context(), nil, nil); got != nil {
		t.Errorf("%q", got)
	}
}
