package git

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestContentsAreThoseOfTheWorkTree(t *testing.T) {
	repo := gittest.New(t)
	repo.Write(
		".gitattributes", "*.crlf text eol=crlf\n",
		"empty", "", "text", "1\n", "no end", "1", "ends", "1\n\n\n", "binary", "\x00\n\x00", "long", strings.Repeat("x", 2000),
		"a.crlf", "1\n2\n", "sub/b.crlf", "1\n", "sub/new\nline.crlf", "1\n",
	)
	repo.Commit("one")
	blob := repo.Git("rev-parse", "HEAD:text")
	listed, err := at(repo).Listed(t.Context(), repo.Git("rev-parse", "HEAD"))
	check(t, err)
	files := []Stored{{Blob{linkMode, blob}, "link"}}
	for name, file := range listed {
		files = append(files, Stored{file, name})
	}

	got := map[string]string{}
	err = at(repo).Contents(t.Context(), files, 1000, func(i int, content []byte) { got[files[i].Path] = string(content) })
	want := map[string]string{
		".gitattributes": "*.crlf text eol=crlf\n",
		"empty":          "", "text": "1\n", "no end": "1", "ends": "1\n\n\n", "binary": "\x00\n\x00", "link": "1\n",
		"a.crlf": "1\r\n2\r\n", "sub/b.crlf": "1\r\n", "sub/new\nline.crlf": "1\r\n",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}

	missing := []Stored{{Blob{"100644", blob}, "a"}, {Blob{"100644", idA}, "b"}}
	if err := at(repo).Contents(t.Context(), missing, 1000, func(int, []byte) {}); err == nil {
		t.Error("git has a file that it does not have")
	}
}

// However git's output comes in pieces.
func TestMarkedContentsInPieces(t *testing.T) {
	contents := []string{"", "\n", "ab", "MAR", "MARKED", strings.Repeat("x", 50), "\nMAR\n", "MAR\nMARK.", strings.Repeat("MAR", 6)}
	var all strings.Builder
	for _, content := range contents {
		fmt.Fprintf(&all, "MARK\n%s\n", content)
	}
	want := slices.DeleteFunc(slices.Clone(contents), func(content string) bool { return len(content) > 20 })
	for size := range all.Len() {
		var got []string
		out := &marked{mark: []byte("MARK\n"), most: 20, n: -1, each: func(_ int, content []byte) { got = append(got, string(content)) }}
		for piece := range slices.Chunk([]byte(all.String()), size+1) {
			if _, err := out.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		out.end()
		if diff := cmp.Diff(want, got); diff != "" || out.n != len(contents) {
			t.Fatalf("in pieces of %d: %d of them\n%s", size+1, out.n, diff)
		}
	}
}
