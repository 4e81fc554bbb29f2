package git

import (
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestLocateTellsBaseFromTip(t *testing.T) {
	repo := gittest.New(t)
	root := repo.Commit("root")
	repo.Git("branch", "other")
	tip := repo.Commit("tip")
	repo.Git("switch", "--quiet", "other")
	head := repo.Commit("other")
	location, err := at(repo).Locate(t.Context(), "main", "HEAD")
	if location.Head != head || location.Tip != head || location.Base != tip || location.Merge != root || err != nil {
		t.Errorf("%+v, %v", location, err)
	}
	location, err = at(repo).Locate(t.Context(), "HEAD", "main")
	if location.Head != head || location.Tip != tip || location.Base != head || location.Merge != root || err != nil {
		t.Errorf("%+v, %v", location, err)
	}
}

// The prefix leads from the work tree's root to the directory.
func TestPrefix(t *testing.T) {
	for up, want := range map[string]string{"": "", "../": "web/", "../../": "apps/web/"} {
		if got := (Location{Up: up}).Prefix("/home/ada/apps/web"); got != want {
			t.Errorf("up %q: %q, not %q", up, got, want)
		}
	}
}
