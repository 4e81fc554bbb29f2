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

// What nobody can read, nobody can approve.
func TestE20APipeIsNotApproved(t *testing.T) {
	r := gittest.New(t)
	p := at(t, r, ".", "a_test.go")
	check(t, syscall.Mkfifo(r.Path("a_test.go"), 0o600))
	if all, err := p.At(t.Context(), []string{"a_test.go"}); err == nil {
		t.Errorf("it is taken as %+v", all)
	}
}
