//go:build unix

package protect

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A full disk, or a state directory that cannot be written, must not be a way past.
func TestE20ABaseThatCannotBeSavedIsComparedAllTheSame(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	check(t, os.WriteFile(filepath.Join(p.StateDir, "protect"), nil, 0o600))
	logged := 0
	p.Log = func(string, ...any) { logged++ }
	r.Write("a_test.go", "2\n")
	want(t, p, "a_test.go changed")
	if logged != 1 {
		t.Errorf("%d lines in the log", logged)
	}
}

func TestAPipeDoesNotHang(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	for _, path := range []string{p.baseFile(), p.memoryFile(), p.approvalsFile(), r.Path(".git/MERGE_HEAD")} {
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, syscall.Mkfifo(path, 0o600))
	}
	r.Write("a_test.go", "2\n")
	want(t, p, "a_test.go changed")
	if m := p.memory(); len(m.Open) > 0 {
		t.Errorf("%+v", m)
	}
}

// A session that began unseen is held to commits, and its touched files are many.
func TestE20ManyTouchedFilesTakeNoMoreProcesses(t *testing.T) {
	asked := func(n int) []string {
		r := gittest.New(t)
		var lines []string
		write := func(text string) {
			for i := range n {
				r.Write(fmt.Sprintf("sub/%02d_test.go", i), text)
			}
		}
		write("func TestA(t *testing.T) {}\n")
		r.Commit("one")
		r.Origin()
		p := at(t, r, "sub", "**/*_test.go")
		write("\n")
		for i := range n {
			lines = append(lines, fmt.Sprintf("%02d_test.go changed", i), fmt.Sprintf("deleted test TestA (%02d_test.go:1)", i))
		}
		env, calls := gittest.Counted(t, r.Env)
		p.Environ = env
		want(t, p, lines...)
		return calls()
	}
	if diff := cmp.Diff(len(asked(2)), len(asked(20))); diff != "" {
		t.Errorf("git is asked more: %s", diff)
	}
}
