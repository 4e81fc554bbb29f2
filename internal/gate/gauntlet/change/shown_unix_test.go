//go:build unix

package change

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// Whatever a repository says about how to compare its files, what changed in them is shown.
func TestE10NothingKeepsATextOutOfADiff(t *testing.T) {
	for name, hide := range map[string]func(r *gittest.Repo){
		"nothing":        func(*gittest.Repo) {},
		"attribute, own": func(r *gittest.Repo) { r.Write(".git/info/attributes", "* -diff\n") },
		"attribute, committed": func(r *gittest.Repo) {
			r.Write(".gitattributes", "*.go binary\n", "sub/.gitattributes", "* -diff -text\n")
		},
		"attribute, elsewhere": func(r *gittest.Repo) {
			r.Write(".git/attributes", "* -diff\n")
			r.Git("config", "core.attributesFile", r.Path(".git/attributes"))
		},
		"a driver": func(r *gittest.Repo) {
			r.Write(".git/info/attributes", "* diff=x\n")
			r.Git("config", "diff.x.binary", "true")
			r.Git("config", "diff.x.textconv", "true")
			r.Git("config", "diff.x.command", "true")
		},
		"an external diff":  func(r *gittest.Repo) { r.Git("config", "diff.external", "true") },
		"big files":         func(r *gittest.Repo) { r.Git("config", "core.bigFileThreshold", "1") },
		"settings of diffs": diffSettings,
		"replaced objects": func(r *gittest.Repo) {
			was := r.Git("rev-parse", "HEAD:sub/a.go")
			now := r.Git("hash-object", "-w", "sub/a.go")
			r.Git("replace", was, now)
		},
		"assume-unchanged": func(r *gittest.Repo) { r.Git("update-index", "--assume-unchanged", "sub/a.go") },
		"skip-worktree":    func(r *gittest.Repo) { r.Git("update-index", "--skip-worktree", "sub/a.go") },
		"an intent to add": func(r *gittest.Repo) { r.Git("add", "-N", "new.go", "SUB.go") },
		"case":             func(r *gittest.Repo) { r.Git("config", "core.ignoreCase", "true") },
		"staged":           func(r *gittest.Repo) { r.Git("add", "-A") },
		"off the index":    func(r *gittest.Repo) { r.Git("rm", "-q", "--cached", "sub/a.go") },
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("sub/a.go", "one\n", "Sub.go", "one\n")
			r.Commit("one")
			r.Origin()
			r.Write("sub/a.go", "two\n", "new.go", "three\n", "SUB.go", "four\n")
			hide(r)
			w := open(t, r)
			d, err := w.Diff(t.Context(), Scope{}, position(t, w, Scope{}), everything, 1<<20)
			check(t, err)
			for _, line := range []string{"\n+two\n", "\n+three\n", "\n+four\n"} {
				if !strings.Contains(string(d.Text), line) {
					t.Errorf("%q is not in\n%s", line, d.Text)
				}
			}
			if len(d.Missing) > 0 {
				t.Errorf("called missing: %+v", d.Missing)
			}
			for _, file := range []string{"sub/a.go", "new.go", "SUB.go"} {
				if why, err := w.Hidden(t.Context(), &View{Diff: d, Include: everything}, file, "", time.Time{}); why != "" || err != nil {
					t.Errorf("%s is called hidden: %q, %v", file, why, err)
				}
			}
		})
	}
}

func diffSettings(r *gittest.Repo) {
	r.Write(".git/order", "zzz\n")
	for setting, value := range map[string]string{
		"diff.orderFile": r.Path(".git/order"), "diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.relative": "true", "diff.renames": "copies",
		"diff.ignoreSubmodules": "all", "diff.submodule": "log", "diff.suppressBlankEmpty": "true", "diff.wordRegex": ".", "diff.context": "0",
		"diff.statGraphWidth": "1", "core.quotePath": "true", "color.ui": "always", "core.pager": "true", "status.showUntrackedFiles": "no",
		"status.relativePaths": "false", "core.whitespace": "cr-at-eol", "diff.algorithm": "histogram", "diff.interHunkContext": "50",
	} {
		r.Git("config", setting, value)
	}
}

// A file that has its old size and time again is not the old file.
func TestE10SizeAndTimeAreNotTheContent(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "one\n")
	old := time.Now().Add(-time.Hour)
	check(t, os.Chtimes(r.Path("a"), old, old))
	r.Commit("one")
	r.Origin()
	r.Git("config", "core.trustCtime", "false")
	r.Git("config", "core.checkStat", "minimal")
	// Git looks at the seconds of a file's last change, which nobody can set. They are those of
	// a coarse clock, which lags.
	for committed := time.Now().Unix(); time.Now().Add(-100*time.Millisecond).Unix() <= committed; time.Sleep(10 * time.Millisecond) {
	}
	r.Write("a", "two\n")
	check(t, os.Chtimes(r.Path("a"), old, old))
	if text, _ := diff(t, open(t, r), Scope{}, everything, 1000); !strings.Contains(text, "+two") {
		t.Errorf("the change is not in %q", text)
	}
}

// What is not shown has a name, and why.
func TestE10WhatADiffLacks(t *testing.T) {
	r := gittest.New(t)
	r.Write("was.bin", "\x00 1", "a.txt", "one\n", "long", "1\n", "gone.bin", "\x00", "filtered", "one\n", "kept/f", "one\n")
	r.Commit("one")
	head := r.Git("rev-parse", "HEAD")
	r.Origin()
	r.Write("was.bin", "\x00 2", "a.txt", "two\n\x00", "new.bin", "\x00", "long", strings.Repeat("x", 3000)+"\n", "filtered", "two\n")
	r.Remove("gone.bin")
	r.Git("init", "-q", "in")
	r.Write("in/f", "1\n")
	r.Git("init", "-q", "full")
	r.Write("full/f", "1\n")
	r.Git("-C", "full", "add", ".")
	r.Git("-C", "full", "commit", "-q", "-m", "c")
	r.Git("rm", "-rq", "--cached", "kept")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+head+",kept")
	r.Git("config", "filter.x.clean", "echo one")
	r.Write(".git/info/attributes", "filtered filter=x\n")
	check(t, os.Chmod(r.Path("long"), 0o755))
	w := open(t, r)
	d, err := w.Diff(t.Context(), Scope{}, position(t, w, Scope{}), everything, 2000)
	check(t, err)
	var got []string
	for _, m := range d.Missing {
		got = append(got, m.Name+": "+m.Why)
	}
	slices.Sort(got)
	want := []string{
		"a.txt: " + IsBinary, "filtered: " + IsFiltered, "full: " + IsRepository, "in: " + IsRepository, "kept: " + IsRepository,
		"long: " + IsCut, "new.bin: " + IsBinary, "was.bin: " + IsBinary,
	}
	if !slices.Equal(got, want) {
		t.Errorf("missing %q, want %q\n%s", got, want, d.Text)
	}
	for _, m := range d.Missing {
		if !strings.Contains(string(d.Text), m.Name) {
			t.Errorf("%s is not named in\n%s", m.Name, d.Text)
		}
		if why, _ := w.Hidden(t.Context(), &View{Diff: d, Include: everything}, m.Name, "", time.Time{}); why != m.Why {
			t.Errorf("%s is hidden because %q", m.Name, why)
		}
	}
	if why, _ := w.Hidden(t.Context(), &View{Diff: d, Include: everything}, "in/f", "", time.Time{}); why != IsRepository {
		t.Errorf("a file in a repository is hidden because %q", why)
	}
	// Of what is gone and left no trace nobody knows whether it is in one of these.
	for name, hidden := range map[string]bool{
		"in/f": true, "kept/f": true, "full/f": true, "gone.bin": true, "unknown": true, "": true, "../x": true, filepath.Join(r.Dir, "in", "f"): true,
	} {
		if why, err := w.Hidden(t.Context(), &View{Diff: d, Include: everything}, name, "", time.Time{}); (why != "") != hidden || err != nil {
			t.Errorf("%q: hidden because %q (%v)", name, why, err)
		}
	}
}

// Git compares the seconds of a file's times: what changes within one may stay unseen. Then the file is not
// the one at the base, and no diff shows it.
func TestE10WhatGitTakesForTheBaseIsCompared(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "one\n", "same", "one\n", "crlf", "one\r\n")
	r.Commit("one")
	r.Origin()
	w := open(t, r)
	d, err := w.Diff(t.Context(), Scope{}, position(t, w, Scope{}), everything, 1000)
	check(t, err)
	r.Write("a", "two\n") // after git has looked
	for name, hidden := range map[string]bool{"a": true, "same": false, "crlf": false, "never": false} {
		if why, err := w.Hidden(t.Context(), &View{Diff: d, Include: everything}, name, "", time.Time{}); (why != "") != hidden || err != nil {
			t.Errorf("%s: hidden because %q (%v)", name, why, err)
		}
	}
	not := func(string) bool { return false }
	if why, err := w.Hidden(t.Context(), &View{Diff: d, Include: not}, "a", "", time.Time{}); why != "" || err != nil {
		t.Errorf("a file that the review is not about: hidden because %q (%v)", why, err)
	}
}

// A diff that says that a file was deleted hides one that is there and ignored, although it is as
// it was: its reader takes it for gone.
func TestE10AFileThatOnlyGitHasDeletedIsHidden(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "one\n")
	r.Commit("one")
	r.Origin()
	r.Git("rm", "-q", "--cached", "a")
	r.Write(".git/info/exclude", "a\n")
	w := open(t, r)
	d, err := w.Diff(t.Context(), Scope{}, position(t, w, Scope{}), everything, 1000)
	check(t, err)
	if why, err := w.Hidden(t.Context(), &View{Diff: d, Include: everything}, "a", "", time.Time{}); why == "" || err != nil {
		t.Errorf("hidden because %q (%v)", why, err)
	}
}

// Git would take the memory to compare a file that is too long to be shown.
func TestE10LongFilesAreNotComparedAsText(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "one\n", "b", "one\n")
	r.Commit("one")
	r.Origin()
	r.Write("a", strings.Repeat("two\n", 1000), "b", "two\n", ".git/info/attributes", "* -diff\n")
	log := filepath.Join(t.TempDir(), "calls")
	r.Env = gittest.Wrap(t, r.Env, `echo "$*" >>'`+log+`'; exec "$GIT" "$@"`)
	w := open(t, r)
	d, err := w.Diff(t.Context(), Scope{}, position(t, w, Scope{}), everything, 2000)
	if err != nil || !slices.Equal(d.Missing, []Missing{{"a", IsCut}}) || !strings.Contains(string(d.Text), "\n+two\n") {
		t.Errorf("%+v, %v\n%s", d.Missing, err, d.Text)
	}
	calls, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(calls), ":(literal)b") || strings.Contains(string(calls), ":(literal)a") {
		t.Errorf("git is called so (%v):\n%s", err, calls)
	}
}

func TestTraceLeadsToWhatWasEditedALittle(t *testing.T) {
	content := []byte("package a\n\nfunc one() int {\n\treturn 1\n}\n\nfunc two() int {\n\treturn 2\n}\n")
	trace := traceOf(content)
	for text, want := range map[string]bool{
		string(content):                                    true,
		"// moved\n" + string(content) + "\x00":            true,
		strings.ReplaceAll(string(content), "\n", "\r\n"):  true,
		"package b\n\nfunc three() int {\n\treturn 3\n}\n": false,
		"": false,
	} {
		if got := trace.Leads([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	if traceOf(nil) != "" || Trace("").Leads(content) || Trace("nonsense").Leads(content) || len(traceOf([]byte(strings.Repeat("0123456789\n", 1000)))) != 8 {
		t.Error("a trace of nothing, or nonsense, leads somewhere")
	}
	if traceOf([]byte("a\nb\n")).Leads([]byte("a\nc\n")) {
		t.Error("half of a file is most of it")
	}
	if !traceOf([]byte("a\nb\n")).Leads([]byte("b\na\n")) {
		t.Error("a short file is not known again")
	}
	var long strings.Builder
	for i := range 1000 {
		long.WriteString(strings.Repeat("x", 10+i%500) + "\n")
	}
	if n := len(traceOf([]byte(long.String()))); n != 8*traceLines {
		t.Errorf("the trace of a long file has %d digits", n)
	}
}
