package change

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// large is a repository with so many files that are committed, and old enough
// for git not to read them again each time.
func large(b *testing.B, files int) *gittest.Repo {
	b.Helper()
	r := gittest.New(b)
	old := time.Now().Add(-time.Hour)
	for i := range files {
		name := fmt.Sprintf("pkg%02d/sub%d/file%05d.go", i%50, i/50%10, i)
		r.Write(name, fmt.Sprintf("package p%d\n", i))
		check(b, os.Chtimes(r.Path(name), old, old))
	}
	r.Commit("one")
	r.Origin()
	return r
}

// The target is 1.3 times BenchmarkGitStatus.
func BenchmarkTreeUnchanged(b *testing.B) {
	r := large(b, 5000)
	index := filepath.Join(b.TempDir(), "index")
	exact(b, Open(r.Dir, logDir, index, r.Env, later))
	b.ReportAllocs()
	for b.Loop() { // as a new process would
		exact(b, Open(r.Dir, logDir, index, r.Env, time.Now))
	}
}

func BenchmarkGitStatus(b *testing.B) {
	r := large(b, 5000)
	for b.Loop() {
		cmd := exec.Command("git", "status", "--porcelain")
		cmd.Dir, cmd.Env = r.Dir, r.Env
		check(b, cmd.Run())
	}
}

func BenchmarkTreeOfNewFiles(b *testing.B) {
	r := large(b, 5000)
	for b.Loop() {
		exact(b, Open(r.Dir, logDir, filepath.Join(b.TempDir(), "index"), r.Env, time.Now))
	}
}

func BenchmarkChanges(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := large(b, 10)
			for i := range n {
				r.Write(fmt.Sprintf("new%02d/file%05d.go", i%50, i), "package p\n")
			}
			w := open(b, r)
			for b.Loop() {
				if got := changes(b, w, Scope{}); len(got.Files) != n {
					b.Fatalf("got %d files", len(got.Files))
				}
			}
		})
	}
}
