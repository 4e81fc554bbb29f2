//go:build unix

package protect

import (
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A pipe in the place of git's note of a merge does not keep protected files from being compared.
func TestE20APipeInThePlaceOfMergeHead(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	r.Write("a_test.go", "2\n")
	check(t, syscall.Mkfifo(r.Path(".git/MERGE_HEAD"), 0o600))
	want(t, p, "a_test.go changed")
}
