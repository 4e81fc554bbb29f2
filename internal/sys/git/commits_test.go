package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestManyCommits(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("a", "1\n", "both", "1\n2\n3\n4\n5\n")
	root := repo.Commit("root")
	repo.Git("switch", "--quiet", "--create", "theirs")
	repo.Write("theirs", "1\n", "both", "theirs\n2\n3\n4\n5\n")
	theirs := repo.Commit("theirs")
	repo.Git("switch", "--quiet", "main")
	repo.Write("sub/b", "1\n", "both", "ours\n2\n3\n4\n5\n")
	ours := repo.Commit("ours")
	_, _ = repo.Try("merge", "theirs")
	repo.Write("both", "merged\n2\n3\n4\n5\n")
	merge := repo.Commit("merge")
	empty := repo.Commit("empty")
	all := []string{empty, merge, ours, theirs, root, idA, "--all", "", ours}

	outside, err := at(repo).Outside(t.Context(), all, ours)
	if diff := cmp.Diff([]string{empty, merge, theirs}, outside); diff != "" || err != nil {
		t.Error("outside", diff, err)
	}
	made, err := at(repo).Parents(t.Context(), all)
	if diff := cmp.Diff([]Made{{empty, merge}, {merge, ours}, {ours, root}, {theirs, root}, {root, ""}}, made); diff != "" || err != nil {
		t.Error("parents", diff, err)
	}
	touched, err := at(repo).Touched(t.Context(), all)
	want := map[string][]string{merge: {"both"}, ours: {"both", "sub/b"}, theirs: {"both", "theirs"}, root: {"a", "both"}}
	if diff := cmp.Diff(want, touched); diff != "" || err != nil {
		t.Error("touched", diff, err)
	}
	below := gittest.At(t, repo.Path("sub"))
	if touched, err = at(below).Touched(t.Context(), all); touched[ours][0] != "b" || len(touched[root]) > 0 || err != nil {
		t.Error("touched below the top", touched, err)
	}
	parents, err := at(repo).AllParents(t.Context(), all)
	if diff := cmp.Diff(map[string][]string{empty: {merge}, merge: {ours, theirs}, ours: {root}, theirs: {root}, root: {}}, parents); diff != "" || err != nil {
		t.Error("all parents", diff, err)
	}
	var out strings.Builder
	err = at(repo).DiffEach(t.Context(), &out, []Made{{merge, ours}, {root, ""}})
	if text := out.String(); !strings.HasPrefix(text, merge+"\ndiff --git a/both b/both\n") || !strings.Contains(text, "\n"+root+"\ndiff --git a/a b/a\n") || strings.Count(text, "diff --git") != 4 || err != nil {
		t.Error(err, text)
	}
	repo.Git("tag", "wip", theirs)
	repo.Git("update-ref", "refs/remotes/origin/x", theirs)
	if shared, err := at(repo).SharedWith(t.Context(), theirs); !cmp.Equal(shared, []string{"origin/x", "wip"}) || err != nil {
		t.Error(shared, err)
	}
	if branches, err := at(repo).BranchesWith(t.Context(), theirs, root); !cmp.Equal(branches, []string{"main", "theirs"}) || err != nil {
		t.Error(branches, err)
	}
}
