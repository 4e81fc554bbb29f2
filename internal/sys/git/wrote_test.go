package git_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestWhatCommitsWrote(t *testing.T) {
	r := gittest.New(t)
	r.Write("sub/a", "1\n", "sub/gone", "1\n", "sub/run", "1\n", "b", "1\n")
	first := r.Commit("one")
	r.Write("sub/a", "2\n", "b", "2\n")
	r.Remove("sub/gone")
	r.Git("add", "--all")
	r.Git("update-index", "--chmod=+x", "sub/run")
	checktest.OK(t, os.Chmod(r.Path("sub/run"), 0o755))
	second := r.Commit("two")
	empty := r.Git("commit-tree", "-m", "three", "-p", second, second+"^{tree}")

	repo := git.At(r.Path("sub"), r.Env)
	got, err := repo.Wrote(t.Context(), []string{first, second, empty, strings.Repeat("1", 40)})
	if err != nil {
		t.Fatal(err)
	}
	id := func(name string) string { return r.Git("rev-parse", name) }
	file := func(name string) git.Blob { return git.Blob{Mode: "100644", ID: id(name)} }
	want := map[string]map[string]git.Blob{
		first:  {"a": file(first + ":sub/a"), "gone": file(first + ":sub/gone"), "run": file(first + ":sub/run")},
		second: {"a": file(second + ":sub/a"), "gone": {}, "run": {Mode: "100755", ID: id(first + ":sub/run")}},
	}
	delete(got, empty) // it wrote nothing
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	var texts []string
	ids := []string{id(first + ":b"), id(second + ":b")}
	if err := repo.RawContents(t.Context(), ids, 100, func(_ int, content []byte) { texts = append(texts, string(content)) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1\n", "2\n"}, texts); diff != "" {
		t.Error(diff)
	}
}
