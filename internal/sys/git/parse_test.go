package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

const (
	idA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	idB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	idC = "cccccccccccccccccccccccccccccccccccccccc"
)

func TestParseLocation(t *testing.T) {
	tests := []struct {
		name string
		out  []string
		want Location
		ok   bool
	}{
		{"nothing", nil, Location{}, false},
		{"only a directory", []string{"/r/.git"}, Location{}, false},
		{
			"everything",
			[]string{"/r/.git", "true", "", idA, idC, idA, idB, "^" + idC, "refs/heads/x", "refs/remotes/origin/main", "--"},
			Location{GitDir: "/r/.git", Inside: true, Head: idA, HasOriginMain: true, Complete: true, Base: idB, Tip: idA, Merge: idC, Branch: "refs/heads/x", BaseRef: "refs/remotes/origin/main"},
			true,
		},
		{
			"below the root, detached, no origin/main, a base that is no ref, two merge bases",
			[]string{"/r/.git", "true", "../../", idA, idA, idB, "^" + idC, "^" + idB, "HEAD", "--"},
			Location{GitDir: "/r/.git", Inside: true, Up: "../../", Head: idA, Complete: true, Base: idB, Tip: idA, Merge: idC, Branch: "HEAD"},
			true,
		},
		{
			"no merge base",
			[]string{"/r/.git", "true", "", idA, idA, idB, "HEAD", "--"},
			Location{GitDir: "/r/.git", Inside: true, Head: idA, Complete: true, Base: idB, Tip: idA, Branch: "HEAD"},
			true,
		},
		{"no base", []string{"/r/.git", "true", "", idA}, Location{GitDir: "/r/.git", Inside: true, Head: idA}, true},
		{"no base, but origin/main", []string{"/r/.git", "true", "", idA, idB}, Location{GitDir: "/r/.git", Inside: true, Head: idA, HasOriginMain: true}, true},
		{"no commit", []string{"/r/.git", "true", ""}, Location{GitDir: "/r/.git", Inside: true}, true},
		{"bare", []string{"/r", "false", idA}, Location{GitDir: "/r", Head: idA}, true},
		{"a directory with newlines", []string{"/r\n\ntrue\nfalse\nx/.git", "true", "../", idA}, Location{GitDir: "/r\n\ntrue\nfalse\nx/.git", Inside: true, Up: "../", Head: idA}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := parseLocation(strings.Join(append(tt.out, ""), "\n"))
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
				t.Error(ok, diff)
			}
		})
	}
}

func TestParseListing(t *testing.T) {
	out := "? new\x00? nested/\x00H a\x00h b b\x00S c\nc\x00M d\x00M d\x00s e\x00X\x00H \x00H cut o"
	want := Listing{Tracked: []string{"a", "b b", "c\nc", "d", "d", "e"}, Untracked: []string{"new", "nested/"}, Hidden: []string{"b b", "c\nc", "e"}}
	if diff := cmp.Diff(want, parseListing(out)); diff != "" {
		t.Error(diff)
	}
}

func TestParseStatus(t *testing.T) {
	out := " M a\x00M  b b\x00?? c\nc\x00?? d/\x00 D e\x00UU f\x00xx\x00\x00   \x00 M cut o"
	want := Status{Changed: []string{"a", "b b", "e", "f"}, Untracked: []string{"c\nc", "d/"}}
	if diff := cmp.Diff(want, parseStatus(out)); diff != "" {
		t.Error(diff)
	}
}

func TestHiddenFilesAreListed(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("a", "", "b", "", "c", "", "d", "")
	repo.Commit("one")
	repo.Git("update-index", "--assume-unchanged", "b", "d")
	repo.Git("update-index", "--skip-worktree", "c", "d")
	list, err := at(repo).Files(t.Context())
	want := Listing{Tracked: []string{"a", "b", "c", "d"}, Hidden: []string{"b", "c", "d"}}
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// Whatever git prints, nothing is invented: each name stands in the output, after
// its mark and before a NUL, in the order in which it was given.
func FuzzParse(f *testing.F) {
	f.Add("? new\x00H a\x00h b\x00")
	f.Add(" M a\x00?? b/\x00")
	f.Add("100644 " + idA + " 0\ta b\x00")
	f.Add("/r/.git\ntrue\n../\n" + idA + "\n" + idB + "\n" + idA + "\n^" + idC + "\nrefs/heads/x\n--\n")
	f.Fuzz(func(t *testing.T, out string) {
		inOrder := func(what string, names []string, mark string) {
			rest := out
			for _, name := range names {
				i := strings.Index(rest, mark+name+"\x00")
				if i < 0 || name == "" || strings.Contains(name, "\x00") {
					t.Fatalf("%s: %q is not there", what, name)
				}
				rest = rest[i+len(mark)+len(name):]
			}
		}
		list := parseListing(out)
		inOrder("tracked", list.Tracked, " ")
		inOrder("untracked", list.Untracked, "? ")
		inOrder("hidden", list.Hidden, " ")
		status := parseStatus(out)
		inOrder("changed", status.Changed, " ")
		inOrder("untracked", status.Untracked, "?? ")
		for name, blob := range parseBlobs(out) {
			inOrder("blob", []string{name}, "\t")
			if blob.ID == "" || blob.Mode == "" {
				t.Fatalf("blob %q: %+v", name, blob)
			}
		}
		location, ok := parseLocation(out)
		for _, id := range []string{location.Head, location.Base, location.Tip} {
			if id != "" && !IsID(id) {
				t.Fatalf("%q is no id", id)
			}
		}
		if !ok && !cmp.Equal(location, Location{}, cmpopts.EquateEmpty()) {
			t.Fatalf("%+v", location)
		}
	})
}

func TestWarningsOfAListing(t *testing.T) {
	tests := []struct {
		text string
		want Listing
	}{
		{"", Listing{}},
		{
			"warning: could not open directory 'data/': Permission denied\nwarning: could not open directory 'it's/b/': Permission denied",
			Listing{Warning: "warning: could not open directory 'data/': Permission denied", Unread: []string{"data", "it's/b"}},
		},
		{"warning: something else", Listing{Warning: "warning: something else", Blind: true}},
		{
			"warning: could not open directory 'data/': Permission denied\nmore",
			Listing{Warning: "warning: could not open directory 'data/': Permission denied", Unread: []string{"data"}, Blind: true},
		},
	}
	for _, tt := range tests {
		var got Listing
		got.warn(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
	var long Listing
	if long.warn(strings.Repeat("warning: could not open directory 'data/': Permission denied\n", 100)[:mostOfErrors]); !long.Blind {
		t.Error("what was cut off is not missed")
	}
}
