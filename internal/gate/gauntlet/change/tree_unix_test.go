//go:build unix

package change

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestTreeSeesModesAndLinks(t *testing.T) {
	tests := map[string]func(t *testing.T, r *gittest.Repo){
		"executable":      func(t *testing.T, r *gittest.Repo) { check(t, os.Chmod(r.Path("a"), 0o755)) },
		"target":          func(t *testing.T, r *gittest.Repo) { relink(t, r, "sub/c", "link") },
		"file for link":   func(t *testing.T, r *gittest.Repo) { r.Remove("link"); r.Write("link", "a") },
		"link for file":   func(t *testing.T, r *gittest.Repo) { relink(t, r, "1\n", "a") },
		"link to nowhere": func(t *testing.T, r *gittest.Repo) { relink(t, r, "nowhere", "dangling") },
		"link to folder":  func(t *testing.T, r *gittest.Repo) { relink(t, r, "sub", "folder") },
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			r := small(t)
			relink(t, r, "a", "link")
			r.Git("config", "core.fileMode", "false")
			r.Commit("link")
			w := open(t, r)
			before := exact(t, w)
			edit(t, r)
			if exact(t, w) == before || exact(t, open(t, r)) == before {
				t.Error("not seen")
			}
		})
	}
}

func relink(t *testing.T, r *gittest.Repo, target, name string) {
	t.Helper()
	r.Remove(name)
	check(t, os.Symlink(target, r.Path(name)))
}

func TestSpecialFilesAreNotRead(t *testing.T) {
	r := small(t)
	r.Remove("a")
	check(t, syscall.Mkfifo(r.Path("a"), 0o600))
	if got := tree(t, open(t, r)); got.Why != `"a" is neither a file nor a link` {
		t.Errorf("why: %q", got.Why)
	}
	plain := gittest.At(t, gittest.Dir(t))
	check(t, syscall.Mkfifo(plain.Path("pipe"), 0o600))
	if got := tree(t, open(t, plain)); got.Why != `"pipe" is neither a file nor a link` {
		t.Errorf("why: %q", got.Why)
	}
}

func TestUnreadableFiles(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	r := small(t)
	check(t, os.Chmod(r.Path("a"), 0))
	if got := tree(t, open(t, r)); got.Why != `"a" permission denied` {
		t.Errorf("why: %q", got.Why)
	}
	check(t, os.Chmod(r.Path("a"), 0o600))
	check(t, os.Chmod(r.Path("sub"), 0))
	if got := tree(t, open(t, r)); got.Exact {
		t.Error("a folder that cannot be read")
	}
	check(t, os.Chmod(r.Path("sub"), 0o700))
}

// Git goes on without a folder that it cannot open, and only says so.
func TestWarningsMakeATreeInexact(t *testing.T) {
	r := small(t)
	r.Env = gittest.Wrap(t, r.Env, `echo "warning: could not open directory 'x/'" >&2; exec "$GIT" "$@"`)
	if got := tree(t, open(t, r)); got.Why != "warning: could not open directory 'x/'" {
		t.Errorf("why: %q", got.Why)
	}
}

// What git says of a repository within the tree counts for the whole. Where files may be missing that nothing stands for,
// the tree cannot be told from others.
func TestWarningsOfARepositoryWithinMakeATreeInexact(t *testing.T) {
	const folder, other = "warning: could not open directory 'x/': Permission denied", "warning: something else"
	for name, test := range map[string]struct {
		own, within, why string
		marked           bool
	}{
		"a folder":                              {"", folder, folder, true},
		"anything else":                         {"", other, other, false},
		"a folder, and anything else around it": {other, folder, other, false},
		"anything else, and a folder around it": {folder, other, folder, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := small(t)
			r.Write("in/f", "1\n")
			r.Git("init", "--quiet", "in")
			r.Env = gittest.Wrap(t, r.Env, `case "$PWD" in */in) says="`+test.within+`";; *) says="`+test.own+`";; esac
				[ -z "$says" ] || echo "$says" >&2; exec "$GIT" "$@"`)
			if got := tree(t, open(t, r)); got.Why != test.why || got.Known() != "" || (got.Mark() != "") != test.marked {
				t.Errorf("why: %q, mark: %q", got.Why, got.Mark())
			}
		})
	}
}

func TestOddNames(t *testing.T) {
	odd := []string{"a b", "new\nline", "quote\"d", "ta\tb", "back\\slash", "ü", "-dash", "star*", ":colon", strings.Repeat("n", 255)}
	if runtime.GOOS != "darwin" { // which refuses such names
		odd = append(odd, "bad\xff\xfeutf8", "bad\xff/\xfe")
	}
	slices.Sort(odd)
	for _, repository := range []bool{true, false} {
		r := gittest.At(t, gittest.Dir(t))
		if repository {
			r = small(t)
		}
		w := open(t, r)
		for _, name := range odd {
			before := exact(t, w)
			r.Write(name, "1\n")
			created := exact(t, w)
			r.Write(name, "2\n")
			if edited := exact(t, w); created == before || edited == created {
				t.Errorf("%q is not seen", name)
			}
		}
		if got := changes(t, w, Scope{}); !cmp.Equal(got.Files, odd) {
			t.Error(cmp.Diff(odd, got.Files))
		}
	}
}

// Everything is looked at, and nothing but our own index is written: not even
// git's, although it is stale.
func TestNothingIsWritten(t *testing.T) {
	r, _ := busy(t)
	r.Write("touched", "1\n")
	before := gittest.State(t, r.Dir)
	for _, scope := range []Scope{{}, {Uncommitted: true}, {Commit: "HEAD"}, {CI: true}, {Base: "nope"}} {
		w := open(t, r)
		tree(t, w)
		changes(t, w, scope)
		if _, err := w.Diff(t.Context(), scope, position(t, w, scope), everything, 1<<20); err != nil {
			t.Error(err)
		}
		if _, err := w.Inputs(t.Context(), []string{"**"}, ""); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(before, gittest.State(t, r.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestFewCallsOfGit(t *testing.T) {
	r, _, _ := history(t)
	env, calls := gittest.Counted(t, r.Env)
	r.Write("sub/b", "2\n")
	w := Open(r.Dir, logDir, filepath.Join(t.TempDir(), "index"), env, later)
	check := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, calls()); diff != "" {
			t.Error(what, diff)
		}
	}
	p := position(t, w, Scope{})
	check("position", "rev-parse")
	tree(t, w)
	check("tree", "ls-files")
	if _, err := w.Changes(t.Context(), Scope{}, p); err != nil {
		t.Error(err)
	}
	check("changes", "diff-tree", "status")
	if _, err := w.Changes(t.Context(), Scope{Base: "HEAD"}, position(t, w, Scope{Base: "HEAD"})); err != nil {
		t.Error(err)
	}
	check("changes since HEAD", "rev-parse", "status")
	if _, err := w.Diff(t.Context(), Scope{}, p, everything, 1000); err != nil {
		t.Error(err)
	}
	check("diff", "status", "diff-index", "config")
	if _, err := w.Inputs(t.Context(), []string{"**"}, ""); err != nil {
		t.Error(err)
	}
	check("inputs")
	r.Git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
	position(t, w, Scope{})
	check("the remote does not say", "rev-parse")
	r.Git("update-ref", "-d", "refs/remotes/origin/main")
	position(t, w, Scope{})
	check("no remote", "rev-parse")
}

// A file that is written twice within a tick of the clock can keep its size and
// its times. Newer kernels tick so fast that it does not happen; the clock of an
// older one is imitated by giving what is known of the file its new times.
func TestSameSizeEditInTheSameTick(t *testing.T) {
	const rounds = 20
	missed := 0
	for i := range rounds {
		r := gittest.At(t, gittest.Dir(t))
		index := filepath.Join(t.TempDir(), "index")
		soon := time.Now().Add(time.Second)
		look := func() string { return exact(t, Open(r.Dir, logDir, index, nil, func() time.Time { return soon })) }
		r.Write("a", fmt.Sprintf("%03d old", i))
		before := look()
		r.Write("a", fmt.Sprintf("%03d new", i))
		coarsen(t, r.Dir, index)
		if look() == before {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("missed %d of %d", missed, rounds)
	}
}

// coarsen makes every known file look as it did when it was read.
func coarsen(t *testing.T, root, index string) {
	t.Helper()
	dir, err := openFolder(root)
	check(t, err)
	defer dir.close()
	known := loadIndex(index)
	for i := range known {
		known[i].stat, err = dir.lstat(known[i].path)
		check(t, err)
	}
	check(t, storeIndex(index, known))
}

func TestTreesInParallel(t *testing.T) {
	r := small(t)
	w := open(t, r)
	want := exact(t, w)
	index := w.indexFile
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			mine := w
			if i%2 == 0 { // as another process does
				mine = Open(r.Dir, logDir, index, r.Env, later)
			}
			if i%3 == 0 {
				_ = os.Remove(index)
			}
			if got, err := mine.Tree(t.Context()); err != nil || got.ID != want {
				t.Errorf("%+v, %v", got.Why, err)
			}
			if _, err := mine.Inputs(t.Context(), []string{"**"}, ""); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(index), ".*"))
	if len(left) > 0 || err != nil {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
