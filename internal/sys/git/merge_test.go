package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// Git names the files of a merge from the top, also where it was asked for those below a folder.
func TestWhatAMergeTouchedBelowTheTop(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("sub/a", "1\n", "a", "1\n")
	repo.Commit("root")
	repo.Git("switch", "--quiet", "--create", "theirs")
	repo.Write("sub/a", "2\n", "a", "2\n")
	repo.Commit("theirs")
	repo.Git("switch", "--quiet", "main")
	repo.Write("sub/a", "3\n", "a", "3\n")
	repo.Commit("ours")
	_, _ = repo.Try("merge", "theirs")
	repo.Write("sub/a", "4\n", "a", "4\n")
	merge := repo.Commit("merge")
	touched, err := at(gittest.At(t, repo.Path("sub"))).Touched(t.Context(), []string{merge})
	if diff := cmp.Diff(map[string][]string{merge: {"a"}}, touched); diff != "" || err != nil {
		t.Error(diff, err)
	}
	wrote, err := at(gittest.At(t, repo.Path("sub"))).Wrote(t.Context(), []string{merge})
	if diff := cmp.Diff(map[string]map[string]Blob{merge: {"a": {Mode: "100644", ID: repo.Git("rev-parse", "HEAD:sub/a")}}}, wrote); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A name that looks like a pattern is a name.
func TestFilesNamedLikePatterns(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("sub/:x", "1\n", "sub/:(glob)y", "2\n", "sub/*", "3\n", "sub/x", "4\n")
	commit := repo.Commit("all")
	below := at(gittest.At(t, repo.Path("sub")))
	for _, name := range []string{":x", ":(glob)y", "*"} {
		listed, err := below.Listed(t.Context(), commit, name)
		if _, found := listed[name]; !found || len(listed) != 1 || err != nil {
			t.Errorf("%s: listed %v, %v", name, listed, err)
		}
		if _, found, err := below.BlobAt(t.Context(), commit, name); !found || err != nil {
			t.Errorf("%s: not found, %v", name, err)
		}
	}
}

// Two sides of everything that can become of a file, and what git makes of them.
func TestMerge(t *testing.T) {
	repo := gittest.New(t)
	lines := "1\n2\n3\n4\n5\n6\n7\n"
	base := []string{"sub/clean", lines, "sub/conflict", "1\n", "sub/ours", "1\n", "sub/theirs", "1\n", "sub/gone", "1\n", "sub/deleted", "1\n", "sub/same", "1\n", "sub/[x] \"é", "1\n", "sub/binary", "\x001"}
	repo.Write(base...)
	repo.Commit("root")
	repo.Git("switch", "--quiet", "--create", "theirs")
	repo.Write("sub/clean", strings.Replace(lines, "1", "theirs", 1), "sub/conflict", "theirs\n", "sub/theirs", "2\n", "sub/same", "2\n", "sub/[x] \"é", "2\n", "sub/new", "new\n", "sub/binary", "\x002")
	repo.Remove("sub/gone", "sub/deleted")
	theirs := repo.Commit("theirs")
	repo.Git("switch", "--quiet", "main")
	repo.Write("sub/clean", strings.Replace(lines, "7", "ours", 1), "sub/conflict", "ours\n", "sub/ours", "2\n", "sub/same", "2\n", "sub/deleted", "2\n", "sub/binary", "\x003")
	ours := repo.Commit("ours")

	below := gittest.At(t, repo.Path("sub"))
	id := func(text string) Blob {
		repo.Write("text", text)
		return Blob{"100644", repo.Git("hash-object", "text")}
	}
	want := map[string]Blob{
		"clean": id("theirs\n2\n3\n4\n5\n6\nours\n"), "ours": id("2\n"), "theirs": id("2\n"), "same": id("2\n"), "[x] \"é": id("2\n"), "new": id("new\n"),
	}
	names := []string{"clean", "conflict", "ours", "theirs", "gone", "deleted", "same", "[x] \"é", "new", "binary"}
	aside := newAside(t, below, Conversion{})
	for name, merge := range map[string]func() (Merged, error){
		"by git":       func() (Merged, error) { return aside.Merge(t.Context(), ours, theirs, names) },
		"file by file": func() (Merged, error) { return aside.mergeEach(t.Context(), ours, theirs, names) },
	} {
		got, err := merge()
		for _, name := range []string{"conflict", "deleted", "binary"} {
			if !got.Conflicts[name] {
				t.Error(name + " is not a conflict")
			}
			delete(got.Conflicts, name)
			delete(got.Files, name)
		}
		if diff := cmp.Diff(want, got.Files); diff != "" || err != nil || got.Conflicts["clean"] {
			t.Error(name, diff, err)
		}
	}

	held, err := at(below).Held(t.Context(), ours, theirs, []string{"conflict", "[x] \"é"})
	if diff := cmp.Diff(map[string][]Blob{"conflict": {id("theirs\n")}, "[x] \"é": {id("2\n")}}, held); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := aside.Merge(t.Context(), ours, strings.Repeat("0", 40), names); err == nil {
		t.Error("a commit that there is not is merged")
	}
}
