//go:build unix

package change

import (
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// The files of a project are those of a commit, whatever lies beside it in the repository, and whatever becomes of its logs and
// modules.
func TestE12TheFilesOfACommit(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(r *gittest.Repo)
		want bool
	}{
		"nothing":                     {func(*gittest.Repo) {}, true},
		"an edit beside the project":  {func(r *gittest.Repo) { r.Write("lib/f", "2", "new", "") }, true},
		"a log":                       {func(r *gittest.Repo) { r.Remove("app/" + logDir + "/check_._t.1.log") }, true},
		"a file deleted there":        {func(r *gittest.Repo) { r.Remove("lib/f") }, true},
		"an edit":                     {func(r *gittest.Repo) { r.Write("app/f", "2") }, false},
		"a new file":                  {func(r *gittest.Repo) { r.Write("app/new", "") }, false},
		"a deleted file":              {func(r *gittest.Repo) { r.Remove("app/f") }, false},
		"a mode":                      {func(r *gittest.Repo) { check(t, os.Chmod(r.Path("app/f"), 0o755)) }, false},
		"a file in place of a link":   {func(r *gittest.Repo) { r.Remove("app/link"); r.Write("app/link", "f") }, false},
		"a link that leads elsewhere": {func(r *gittest.Repo) { r.Remove("app/link"); check(t, os.Symlink("g", r.Path("app/link"))) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.Write("app/f", "1", "lib/f", "1", "app/"+logDir+"/check_._t.1.log", "1")
			check(t, os.Symlink("f", r.Path("app/link")))
			check(t, os.Mkdir(r.Path("app/module"), 0o700))
			r.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",app/module")
			r.Commit("first")
			tt.do(r)

			w := openAt(t, r, "app")
			now := tree(t, w)
			if got := w.isCommit(t.Context(), now, r.Git("rev-parse", "HEAD")); got != tt.want {
				t.Errorf("got %t", got)
			}
			if now.Exact = false; w.isCommit(t.Context(), now, r.Git("rev-parse", "HEAD")) {
				t.Error("a tree that is not known exactly")
			}
		})
	}
}
