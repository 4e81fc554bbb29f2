package trust

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// An approval of .oj/runbooks says nothing about .gauntlet, and the other way round.
func TestOddjobsAreApprovedApart(t *testing.T) {
	store, root := NewStore(t.TempDir()), t.TempDir()
	odd := store.Oddjobs()
	book := filepath.Join(paths.OddjobsRunbooks(root), "a.hcl")
	check(t, os.MkdirAll(filepath.Dir(book), 0o755))
	check(t, os.WriteFile(book, []byte("seen"), 0o600))
	check(t, os.WriteFile(filepath.Join(filepath.Dir(book), paths.ConfigFile), []byte("hooks:\n"), 0o600))

	check(t, odd.Approve(root, time.Now()))
	if store.Claims(root) || store.Gated(root) || len(store.Roots()) > 0 {
		t.Errorf("it counts as an approval of .gauntlet: %v, %v, %v", store.Claims(root), store.Gated(root), store.Roots())
	}
	if standing, err := store.Standing(root); err != nil || standing.State != Untrusted {
		t.Errorf("%+v, %v", standing, err)
	}
	standing, err := odd.Standing(root)
	if text, _ := os.ReadFile(filepath.Join(standing.Dir, "a.hcl")); err != nil || standing.State != Approved || string(text) != "seen" {
		t.Errorf("%+v, %v: %q", standing, err, text)
	}

	check(t, os.WriteFile(book, []byte("edited"), 0o600))
	if standing, err := odd.Standing(root); err != nil || standing.State != Edited {
		t.Errorf("%+v, %v", standing, err)
	}
	check(t, store.Revoke(root))
	r, err := odd.Restore(root)
	if text, _ := os.ReadFile(book); err != nil || len(r.Restored) != 1 || string(text) != "seen" {
		t.Errorf("%+v, %v: %q", r, err, text)
	}
	if kept, err := os.ReadFile(filepath.Join(r.Aside, "runbooks", "a.hcl")); err != nil || string(kept) != "edited" {
		t.Errorf("%q, %v", kept, err)
	}
	check(t, odd.Revoke(root))
	if odd.Claims(root) {
		t.Error("it is approved still")
	}
}
