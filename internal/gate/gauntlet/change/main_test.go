package change

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

const logDir = "gauntlet_logs"

// later is a clock by which every file has long settled.
func later() time.Time { return time.Now().Add(time.Hour) }

// open is the project at the root of the repository, with an index of its own.
func open(t testing.TB, r *gittest.Repo) *Worktree {
	t.Helper()
	return openAt(t, r, ".")
}

func openAt(t testing.TB, r *gittest.Repo, dir string) *Worktree {
	t.Helper()
	return Open(r.Path(dir), logDir, filepath.Join(t.TempDir(), "state", "index"), r.Env, later)
}

func position(t testing.TB, w *Worktree, scope Scope) Position {
	t.Helper()
	p, err := w.Position(t.Context(), scope)
	check(t, err)
	return p
}

func changes(t testing.TB, w *Worktree, scope Scope) Set {
	t.Helper()
	set, err := w.Changes(t.Context(), scope, position(t, w, scope))
	check(t, err)
	if !slices.IsSorted(set.Files) || len(slices.Compact(slices.Clone(set.Files))) != len(set.Files) {
		t.Errorf("not sorted, or not unique: %q", set.Files)
	}
	return set
}

func tree(t testing.TB, w *Worktree) Tree {
	t.Helper()
	got, err := w.Tree(t.Context())
	check(t, err)
	if got.Exact != (got.Why == "") {
		t.Errorf("exact: %t, why: %q", got.Exact, got.Why)
	}
	return got
}

// exact is the id of a tree that can be known exactly.
func exact(t testing.TB, w *Worktree) string {
	t.Helper()
	got := tree(t, w)
	if !got.Exact {
		t.Fatalf("not exact: %s", got.Why)
	}
	return got.ID
}

func everything(string) bool { return true }
