//go:build unix

package change

import (
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A stop whose rules are as they were asks git nothing about them.
func TestOldRulesCostNoProcess(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "", ".gitignore", "dist\n")
	r.Commit("one")
	counted, calls := gittest.Counted(t, r.Env)
	w := Open(r.Dir, logDir, filepath.Join(t.TempDir(), "index"), counted, later)
	since := begin(t, w, true)
	r.Write("dist", "")
	r.Git("config", "branch.main.remote", "origin")
	p, now := position(t, w, Scope{}), tree(t, w)
	calls()
	w.Aside(t.Context(), Scope{}, p, now, since)
	if asked := calls(); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
}
