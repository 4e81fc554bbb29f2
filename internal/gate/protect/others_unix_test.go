//go:build unix

package protect

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// both is a session on a branch of a person, who made a protected test stronger and has not pushed that,
// while a colleague pushed another version of it.
type both struct {
	*gittest.Repo
	t testing.TB
	p Place
}

const (
	stronger = "a\na test\nof what\n3\nis worth\nto many\nassert total == 90\n"
	weaker   = "a\na test\nof what\n3\nis worth\nto many\nassert total >= 0\n"
	onTop    = "theirs\na test\nof what\n3\nis worth\nto many\nassert total == 0\n" // goes well with the stronger one
	merged   = "theirs\na test\nof what\n3\nis worth\nto many\nassert total == 90\n"
)

func newBoth(t testing.TB, project, theirs string) *both {
	t.Helper()
	b := &both{Repo: gittest.New(t), t: t}
	b.Write("sub/tests/a", "a\na test\nof what\n3\nis worth\nto many\nassert total == 0\n", "sub/tests/other", "1\n", "src", "1\n")
	b.Commit("base")
	b.Git("branch", "theirs")
	b.Git("switch", "-q", "-c", "feat")
	b.Write("sub/tests/a", stronger)
	b.Commit("the person's")
	b.theirs("sub/tests/a", theirs)
	b.begin(project)
	return b
}

// begin lets the session begin, with the work tree as it is.
func (b *both) begin(project string) {
	b.p = at(b.t, b.Repo, project, "**/tests/**")
	check(b.t, b.p.Begin(b.t.Context()))
}

// theirs pushes a commit of the colleague. Without a text the file is deleted.
func (b *both) theirs(name, text string) {
	b.t.Helper()
	b.push("theirs", func(other *gittest.Repo) {
		if other.Write(name, text); text == "" {
			other.Remove(name)
		}
	})
}

// push commits what others make of a commit, elsewhere, and pushes it.
func (b *both) push(from string, change func(other *gittest.Repo)) {
	b.t.Helper()
	dir := gittest.Dir(b.t) + "/other"
	b.Git("worktree", "add", "-q", "--detach", dir, from)
	other := gittest.At(b.t, dir)
	change(other)
	b.Git("update-ref", "refs/remotes/origin/main", other.Commit("theirs"))
	b.Git("branch", "-f", "theirs", "refs/remotes/origin/main")
	b.Git("worktree", "remove", "--force", dir)
}

// fails runs git where a conflict is wanted.
func (b *both) fails(args ...string) {
	b.t.Helper()
	if out, err := b.Try(args...); err == nil {
		b.t.Fatalf("git %q: no conflict\n%s", args, out)
	}
}

func (b *both) goOn(how string) { b.Git("-c", "core.editor=true", how, "--continue") }

// oldGit is a git before 2.38, which cannot merge without a work tree.
func (b *both) oldGit() {
	b.p.Environ = gittest.Wrap(b.t, b.p.Environ, `for word; do [ "$word" != --write-tree ] || exit 129; done; exec "$GIT" "$@"`)
}

const origin = "refs/remotes/origin/main"

// A conflict that is resolved with the other side throws away what the person wrote.
func TestE20TheOtherSideOfAConflict(t *testing.T) {
	for name, tt := range map[string]struct {
		theirs string
		do     func(b *both)
		want   string
	}{
		"a rebase with -X ours": {weaker, func(b *both) { b.Git("rebase", "-q", "-X", "ours", origin) }, "changed"},
		"a rebase with checkout --ours": {weaker, func(b *both) {
			b.fails("rebase", "-q", origin)
			b.Git("checkout", "--ours", "sub/tests/a")
			b.Git("add", "sub/tests/a")
			b.goOn("rebase")
		}, "changed"},
		"a rebase with --skip": {weaker, func(b *both) {
			b.fails("rebase", "-q", origin)
			b.Git("rebase", "--skip")
		}, "changed"},
		"a merge with -X theirs": {weaker, func(b *both) { b.Git("merge", "-q", "-X", "theirs", "-m", "m", origin) }, "changed"},
		"a merge with checkout --theirs": {weaker, func(b *both) {
			b.fails("merge", "-q", origin)
			b.Git("checkout", "--theirs", "sub/tests/a")
			b.Commit("merge")
		}, "changed"},
		"a merge under way with checkout --theirs": {weaker, func(b *both) {
			b.fails("merge", "-q", origin)
			b.Git("checkout", "--theirs", "sub/tests/a")
			b.Git("add", "sub/tests/a")
		}, "changed"},
		"a merge with the conflict left in it": {weaker, func(b *both) { b.fails("merge", "-q", origin) }, "changed"},
		"a reset":                              {weaker, func(b *both) { b.Git("reset", "-q", "--hard", origin) }, "changed"},
		"a reset where nothing conflicts":      {onTop, func(b *both) { b.Git("reset", "-q", "--hard", origin) }, "changed"},
		"a branch made anew": {weaker, func(b *both) {
			b.Git("switch", "-q", "-C", "feat", origin)
		}, "changed"},
		"a merge, and then another branch": {weaker, func(b *both) {
			b.Git("merge", "-q", "-X", "theirs", "-m", "m", origin)
			b.Git("switch", "-q", "-c", "more")
		}, "changed"},
		"a merge with -s ours on their side": {weaker, func(b *both) {
			b.Git("switch", "-q", "-c", "more", origin)
			b.Git("merge", "-q", "-s", "ours", "-m", "m", "feat")
			b.Git("branch", "-q", "-f", "feat")
		}, "changed"},
		"a pull with -X theirs": {weaker, func(b *both) {
			b.Env = slices.DeleteFunc(b.Env, func(v string) bool { return strings.Contains(v, "_DATE=") })
			b.Git("pull", "-q", "--no-rebase", "--no-edit", "-X", "theirs", ".", "theirs")
		}, "changed"},
		"a pull with -X theirs that is pushed": {weaker, func(b *both) {
			b.Git("pull", "-q", "--no-rebase", "--no-edit", "-X", "theirs", ".", "theirs")
			b.Git("update-ref", origin, "HEAD")
		}, "changed"},
		"a merge that is pushed, with a colleague's commit on top": {weaker, func(b *both) {
			b.Git("merge", "-q", "-X", "theirs", "-m", "m", origin)
			b.push("HEAD", func(other *gittest.Repo) { other.Write("src", "2\n") })
			b.Git("merge", "-q", "--ff-only", origin)
		}, "changed"},
		"an edit in a merge that goes well": {onTop, func(b *both) {
			b.Git("merge", "-q", "--no-commit", origin)
			b.Write("sub/tests/a", onTop)
			b.Commit("merge")
		}, "changed"},
		"an edit in a merge under way that goes well": {onTop, func(b *both) {
			b.Git("merge", "-q", "--no-commit", origin)
			b.Write("sub/tests/a", onTop)
			b.Git("add", "sub/tests/a")
		}, "changed"},
		"a merge by a driver": {weaker, func(b *both) {
			b.Git("config", "merge.x.driver", "cp %B %A")
			b.Write(".git/info/attributes", "sub/tests/a merge=x\n")
			b.Git("merge", "-q", "--no-edit", origin)
		}, "changed"},
		"a rebase by a driver of the user": {weaker, func(b *both) {
			b.Git("config", "--global", "merge.x.driver", "true") // %A is theirs in a rebase
			b.Git("config", "--global", "merge.default", "x")
			b.Git("rebase", "-q", origin)
		}, "changed"},
		"what they deleted": {"", func(b *both) {
			b.fails("merge", "-q", origin)
			b.Git("rm", "-q", "sub/tests/a")
			b.Commit("merge")
		}, "deleted"},
		"what they deleted, in a rebase": {"", func(b *both) {
			b.fails("rebase", "-q", origin)
			b.Git("rebase", "--skip")
		}, "deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoth(t, "sub", tt.theirs)
			tt.do(b)
			want(t, b.p, "tests/a "+tt.want)
			b.oldGit()
			want(t, b.p, "tests/a "+tt.want)
		})
	}
}

// What a person had not committed is thrown away by a pull that comes without it, until it is put back on top.
func TestE20AnEditThatAPullReplaces(t *testing.T) {
	for name, pull := range map[string]func(b *both){
		"a fast forward": func(b *both) { b.Git("merge", "-q", "--ff-only", origin) },
		"a reset":        func(b *both) { b.Git("reset", "-q", "--hard", origin) },
		"another branch": func(b *both) { b.Git("switch", "-q", "theirs") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoth(t, "sub", onTop)
			b.Git("switch", "-q", "-c", "fresh", "theirs~1")
			b.Write("sub/tests/a", stronger, "sub/tests/other", "2\n")
			b.begin("sub")
			b.Git("stash", "-q")
			pull(b)
			want(t, b.p, "tests/a changed", "tests/other changed")
			b.Git("stash", "pop", "-q")
			want(t, b.p)
			b.Write("sub/tests/a", onTop)
			want(t, b.p, "tests/a changed")
		})
	}
}

// A commit may say of itself that it is another's, and years old. That it was made here the reflog tells; without all
// of that, nothing is by others.
func TestE20AReflogThatWasCutTellsNothing(t *testing.T) {
	for name, cut := range map[string]func(t *testing.T, reflog string){
		"as it is": func(*testing.T, string) {},
		"removed":  func(t *testing.T, reflog string) { check(t, os.Remove(reflog)) },
		"emptied":  func(t *testing.T, reflog string) { check(t, os.Truncate(reflog, 0)) },
		"shorter": func(t *testing.T, reflog string) {
			text, err := os.ReadFile(reflog)
			check(t, err)
			_, rest, _ := strings.Cut(string(text), "\n")
			check(t, os.WriteFile(reflog, []byte(rest), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoth(t, "sub", onTop)
			b.Write("sub/tests/a", weaker)
			b.Env = append(b.Env,
				"GIT_AUTHOR_DATE=2001-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z",
				"GIT_AUTHOR_EMAIL=colleague@example.com", "GIT_COMMITTER_EMAIL=colleague@example.com")
			b.Commit("another's, it says")
			cut(t, b.Path(".git/logs/HEAD"))
			want(t, b.p, "tests/a changed")
		})
	}
}

// Of a commit of the session's that is gone it cannot be told what it touched.
func TestE20ACommitThatIsGoneTellsNothing(t *testing.T) {
	b := newBoth(t, "sub", onTop)
	b.Write("sub/tests/a", weaker)
	id := b.Commit("the agent's")
	b.Git("reset", "-q", "--hard", origin)
	want(t, b.p, "tests/a changed")
	check(t, os.Remove(b.Path(".git/objects/"+id[:2]+"/"+id[2:])))
	want(t, b.p, "tests/a changed")
}

// On another branch a file is another one, as long as the branch that the session found has what it had.
func TestE20AnotherBranchWhileTheFirstIsKept(t *testing.T) {
	b := newBoth(t, "sub", onTop)
	b.Git("switch", "-q", "theirs")
	want(t, b.p)
	b.Git("branch", "-f", "feat", "theirs")
	want(t, b.p, "tests/a changed")
	b.Git("branch", "-D", "feat")
	want(t, b.p, "tests/a changed")
}

// What git makes of both sides by itself is not the agent's.
func TestE20BothSidesOfAMerge(t *testing.T) {
	for name, tt := range map[string]struct {
		theirs string
		do     func(b *both)
		text   string
	}{
		"a merge":  {onTop, func(b *both) { b.Git("merge", "-q", "--no-edit", origin) }, merged},
		"a rebase": {onTop, func(b *both) { b.Git("rebase", "-q", origin) }, merged},
		"a pull":   {onTop, func(b *both) { b.Git("pull", "-q", "--no-rebase", "--no-edit", ".", "theirs") }, merged},
		"a merge under way": {onTop, func(b *both) {
			b.Git("merge", "-q", "--no-commit", origin)
		}, merged},
		"a merge with work of the session": {onTop, func(b *both) {
			b.Write("src", "2\n")
			b.Commit("mine")
			b.Git("merge", "-q", "--no-edit", origin)
			b.Write("src", "3\n")
			b.Commit("mine too")
		}, merged},
		"a merge with a conflict elsewhere": {onTop, func(b *both) {
			b.theirs("src", "theirs\n")
			b.Write("src", "2\n")
			b.Commit("mine")
			b.fails("merge", "-q", origin)
			b.Write("src", "3\n")
			b.Commit("merge")
		}, merged},
		"a rebase with a conflict elsewhere": {onTop, func(b *both) {
			b.theirs("src", "theirs\n")
			b.Write("src", "2\n")
			b.Commit("mine")
			b.fails("rebase", "-q", origin)
			b.Write("src", "3\n")
			b.Git("add", "src")
			b.goOn("rebase")
		}, merged},
		"two merges": {onTop, func(b *both) {
			b.Git("merge", "-q", "--no-edit", origin)
			b.theirs("sub/tests/a", strings.Replace(onTop, "3", "three", 1))
			b.Git("merge", "-q", "--no-edit", origin)
		}, strings.Replace(merged, "3", "three", 1)},
		"a merge that is pushed, with a colleague's commit on top": {onTop, func(b *both) {
			b.Git("merge", "-q", "--no-edit", origin)
			b.push("HEAD", func(other *gittest.Repo) { other.Write("src", "2\n") })
			b.Git("merge", "-q", "--ff-only", origin)
		}, merged},
		"a merge of a branch that has the same": {stronger, func(b *both) {
			b.theirs("sub/tests/a", strings.Replace(stronger, "a\n", "theirs\n", 1))
			b.Git("merge", "-q", "--no-edit", origin)
		}, merged},
		"a reset to a branch that has the same": {stronger, func(b *both) {
			b.theirs("sub/tests/a", strings.Replace(stronger, "a\n", "theirs\n", 1))
			b.Git("reset", "-q", "--hard", origin)
		}, merged},
		// As after a pull request whose commits became one: they had it, and went on from it.
		"a reset to a branch that had the same": {stronger, func(b *both) {
			b.theirs("sub/tests/a", weaker)
			b.Git("reset", "-q", "--hard", origin)
		}, weaker},
		"their branch": {weaker, func(b *both) { b.Git("switch", "-q", "theirs") }, weaker},
		"a rebase under way": {weaker, func(b *both) {
			b.theirs("src", "theirs\n")
			b.fails("rebase", "-q", origin)
			b.Git("checkout", "--ours", "sub/tests/a")
		}, weaker},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoth(t, ".", tt.theirs)
			tt.do(b)
			if text, err := os.ReadFile(b.Path("sub/tests/a")); string(text) != tt.text || err != nil {
				t.Fatalf("it is %q, %v", text, err)
			}
			want(t, b.p)
			b.oldGit()
			want(t, b.p)
		})
	}
}

// A colleague gave the file another name; git takes the person's change there.
func TestE20AMergeWithARename(t *testing.T) {
	for _, how := range []string{"merge", "rebase"} {
		b := newBoth(t, ".", onTop)
		b.push("theirs", func(other *gittest.Repo) { other.Git("mv", "sub/tests/a", "sub/tests/b") })
		b.Git(how, "-q", origin)
		if text, err := os.ReadFile(b.Path("sub/tests/b")); string(text) != merged || err != nil {
			t.Fatalf("%s: it is %q, %v", how, text, err)
		}
		want(t, b.p)
		b.oldGit() // it does not say what became of it
		want(t, b.p, "sub/tests/a deleted")
	}
}

// A colleague changed the file that the person had given another name. Without the person's commit it is back, and new.
func TestE20AResetThatUndoesARename(t *testing.T) {
	b := newBoth(t, "sub", onTop)
	b.Git("mv", "sub/tests/a", "sub/tests/b")
	b.Commit("the person's name for it")
	b.begin("sub")
	b.p.Project.Config.Protect.New = true
	b.Git("reset", "-q", "--hard", origin)
	want(t, b.p, "tests/a added", "tests/b deleted")
}

// The person weakened the file for a while and took that back. That a rebase took over a commit in which it was strong
// does not make the one after that the last word.
func TestE20ARebaseWithoutThePersonsLastCommit(t *testing.T) {
	b := &both{Repo: gittest.New(t), t: t}
	b.Write("tests/a", "assert total == 0\n", "src", "1\n")
	b.Commit("base")
	b.Git("branch", "theirs")
	b.theirs("src", "theirs\n")
	for _, text := range []string{stronger, weaker, stronger} {
		b.Write("tests/a", text)
		b.Commit("the person's")
	}
	b.begin(".")
	b.Git("reset", "-q", "--hard", "HEAD~1")
	b.Git("rebase", "-q", origin)
	want(t, b.p, "tests/a changed")
}

// What the session committed in another worktree is its own where a rebase takes it over as it is, also once it is pushed.
func TestE20ARebaseOfTheSessionsOwnCommit(t *testing.T) {
	b := newBoth(t, ".", onTop)
	b.Env = slices.DeleteFunc(b.Env, func(v string) bool { return strings.Contains(v, "_DATE=") })
	dir := gittest.Dir(t) + "/more"
	b.Git("worktree", "add", "-q", "-b", "more", dir)
	elsewhere := gittest.At(t, dir)
	elsewhere.Env = b.Env
	elsewhere.Write("sub/tests/other", "0\n")
	elsewhere.Commit("the session's")
	b.Git("worktree", "remove", dir)
	b.Git("rebase", "-q", origin, "more")
	b.Git("update-ref", origin, "HEAD")
	want(t, b.p, "sub/tests/other changed")
}

// Nothing is written into the repository to find out.
func TestE20AMergeIsLookedAtWithoutATrace(t *testing.T) {
	b := newBoth(t, "sub", onTop)
	b.Git("merge", "-q", "--no-edit", origin)
	files := func() []string { return slices.Sorted(maps.Keys(gittest.State(t, b.Path(".git")))) }
	before := files()
	want(t, b.p)
	b.oldGit()
	want(t, b.p)
	if diff := cmp.Diff(before, files()); diff != "" {
		t.Error(diff)
	}
}
