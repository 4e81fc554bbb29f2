//go:build unix

package protect

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// What is read by a protected name is the file that a link leads to.
func TestE20TheFileBehindALink(t *testing.T) {
	link := func(r *gittest.Repo, target, name string) {
		_ = os.Remove(r.Path(name))
		check(t, os.Symlink(target, r.Path(name)))
	}
	outside := gittest.Dir(t) + "/real.mk"
	check(t, os.WriteFile(outside, []byte("1\n"), 0o600))
	for name, tt := range map[string]struct {
		before, do func(r *gittest.Repo)
		want       []string
	}{
		"its file":                     {nil, func(r *gittest.Repo) { r.Write("build/real.mk", "2\n") }, []string{"build/real.mk changed", "Makefile is a link to build/real.mk"}},
		"deleted":                      {nil, func(r *gittest.Repo) { r.Remove("build/real.mk") }, []string{"build/real.mk deleted", "Makefile is a link to build/real.mk"}},
		"deleted with its folder":      {nil, func(r *gittest.Repo) { r.Remove("build") }, []string{"build/real.mk deleted", "Makefile is a link to build/real.mk"}},
		"another file":                 {nil, func(r *gittest.Repo) { r.Write("build/other.mk", "2\n") }, nil},
		"the link":                     {nil, func(r *gittest.Repo) { link(r, "build/other.mk", "Makefile") }, []string{"Makefile changed"}},
		"as it was":                    {nil, func(r *gittest.Repo) { r.Write("build/real.mk", "2\n", "build/real.mk", "1\n") }, nil},
		"a link to one":                {func(r *gittest.Repo) { link(r, "middle.mk", "Makefile"); link(r, "build/real.mk", "middle.mk") }, func(r *gittest.Repo) { link(r, "build/other.mk", "middle.mk") }, []string{"middle.mk changed", "Makefile is a link to middle.mk"}},
		"behind two":                   {func(r *gittest.Repo) { link(r, "middle.mk", "Makefile"); link(r, "build/real.mk", "middle.mk") }, func(r *gittest.Repo) { r.Write("build/real.mk", "2\n") }, []string{"build/real.mk changed", "Makefile is a link to build/real.mk"}},
		"in a folder that is a link":   {func(r *gittest.Repo) { link(r, "build", "b"); link(r, "b/real.mk", "Makefile") }, func(r *gittest.Repo) { r.Write("build/real.mk", "2\n") }, []string{"build/real.mk changed", "Makefile is a link to build/real.mk"}},
		"by its whole path":            {func(r *gittest.Repo) { link(r, r.Path("build/real.mk"), "Makefile") }, func(r *gittest.Repo) { r.Write("build/real.mk", "2\n") }, []string{"build/real.mk changed", "Makefile is a link to build/real.mk"}},
		"of the person, not committed": {func(r *gittest.Repo) { r.Write("build/real.mk", "0\n") }, func(r *gittest.Repo) { r.Git("checkout", "-q", "build/real.mk") }, []string{"build/real.mk changed", "Makefile is a link to build/real.mk"}},
		"a loop":                       {func(r *gittest.Repo) { link(r, "Makefile", "Makefile") }, func(r *gittest.Repo) { r.Write("build/real.mk", "2\n") }, nil},
		"a folder":                     {func(r *gittest.Repo) { link(r, "build", "Makefile") }, func(r *gittest.Repo) { r.Write("build/real.mk", "2\n") }, nil},
		"a link that nobody protects":  {func(r *gittest.Repo) { link(r, "build/other.mk", "free.mk") }, func(r *gittest.Repo) { r.Write("build/other.mk", "2\n") }, nil},
		"a file outside":               {func(r *gittest.Repo) { link(r, outside, "Makefile") }, func(*gittest.Repo) { check(t, os.WriteFile(outside, []byte("2\n"), 0o600)) }, nil},
		"nothing":                      {func(r *gittest.Repo) { link(r, "nowhere", "Makefile") }, func(r *gittest.Repo) { r.Write("nowhere", "2\n") }, nil},
		"a colleague's": {nil, func(r *gittest.Repo) {
			dir := gittest.Dir(t) + "/other"
			r.Git("worktree", "add", "-q", "--detach", dir)
			other := gittest.At(t, dir)
			other.Write("build/real.mk", "theirs\n")
			r.Git("update-ref", "refs/remotes/origin/main", other.Commit("theirs"))
			r.Git("merge", "-q", "--ff-only", "refs/remotes/origin/main")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, begun := range []bool{true, false} {
				if !begun && name == "of the person, not committed" {
					continue // what the session found is not known
				}
				r := gittest.New(t)
				r.Write("build/real.mk", "1\n", "build/other.mk", "other\n")
				link(r, "build/real.mk", "Makefile")
				r.Commit("one")
				if tt.before != nil {
					tt.before(r)
				}
				if name != "of the person, not committed" {
					r.Commit("two")
				}
				r.Origin()
				p := at(t, r, ".", "Makefile")
				if p.Prompted = begun; begun {
					check(t, p.Begin(t.Context()))
				}
				want(t, p)
				tt.do(r)
				want(t, p, tt.want...)
				if len(tt.want) == 0 {
					continue
				}
				found, err := p.Look(t.Context())
				check(t, err)
				now, err := p.At(t.Context(), []string{found[0].Path})
				check(t, err)
				check(t, p.Approve(t.Context(), now))
				want(t, p)
			}
		})
	}
}

// A link is what it names, not what is read through it: the text behind it may be the name of the colleague's target.
func TestE20ALinkToTheNameThatOthersLinkedTo(t *testing.T) {
	r := gittest.New(t)
	r.Write("old.mk", "1\n", "new.mk", "1\n")
	check(t, os.Symlink("old.mk", r.Path("Makefile")))
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "Makefile")
	check(t, p.Begin(t.Context()))
	relink := func(r *gittest.Repo, target string) {
		check(t, os.Remove(r.Path("Makefile")))
		check(t, os.Symlink(target, r.Path("Makefile")))
	}
	dir := gittest.Dir(t) + "/other"
	r.Git("worktree", "add", "-q", "--detach", dir)
	other := gittest.At(t, dir)
	relink(other, "new.mk")
	r.Git("update-ref", "refs/remotes/origin/main", other.Commit("theirs"))
	r.Git("merge", "-q", "--ff-only", "refs/remotes/origin/main")
	want(t, p)
	r.Write("mine.mk", "new.mk")
	relink(r, "mine.mk")
	want(t, p, "Makefile changed")
}

// That a protected link leads to a file is told where the file is not protected itself.
func TestE20AProtectedFileBehindALink(t *testing.T) {
	r := gittest.New(t)
	r.Write("real.mk", "1\n")
	check(t, os.Symlink("real.mk", r.Path("Makefile")))
	r.Commit("one")
	p := at(t, r, ".", "Makefile", "*.mk")
	check(t, p.Begin(t.Context()))
	r.Write("real.mk", "2\n")
	want(t, p, "real.mk changed")
}

func TestDoubtsOfLinks(t *testing.T) {
	r := gittest.New(t)
	r.Write("real", "1\n", "folder/x", "1\n")
	outside := gittest.Dir(t) + "/x"
	check(t, os.WriteFile(outside, nil, 0o600))
	for name, target := range map[string]string{"file": "real", "folder.link": "folder", "out": outside, "gone": "nowhere"} {
		check(t, os.Symlink(target, r.Path(name)))
	}
	r.Commit("one")
	got, err := at(t, r, ".", "file", "folder.link", "out", "gone").Doubts(t.Context())
	check(t, err)
	const why = " is a link that does not lead to a file of the project: only the link itself is compared"
	if diff := cmp.Diff([]string{"folder.link" + why, "gone" + why, "out" + why}, got); diff != "" {
		t.Error(diff)
	}
}

// What a program weakens in itself is named too.
func TestE20AnExecutableIsReadToo(t *testing.T) {
	r := gittest.New(t)
	r.Write("check.sh", "go test ./...\n")
	check(t, os.Chmod(r.Path("check.sh"), 0o755))
	r.Commit("one")
	p := at(t, r, ".", "check.sh")
	check(t, p.Begin(t.Context()))
	r.Write("check.sh", "go test ./... || true\n")
	check(t, os.Chmod(r.Path("check.sh"), 0o755))
	want(t, p, "check.sh changed", "added skip || true (check.sh:1)")
}
