//go:build unix

package protect

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// remote is a session on a branch that a colleague has pushed, and may force-push.
type remote struct {
	*gittest.Repo
	t         *testing.T
	colleague *gittest.Repo
	p         Place
}

const (
	text   = "1\n2\n3\n4\n5\n6\n7\n"
	theirs = "1\n2\n3\n4\n5\n6\nseven\n"
	anew   = "1\n2\n3\n4\n5\n6\nsept\n"
)

func newRemote(t *testing.T) *remote {
	t.Helper()
	bare := gittest.New(t, "--bare")
	clone := func() *gittest.Repo {
		r := gittest.At(t, gittest.Dir(t)+"/clone")
		bare.Git("clone", "-q", bare.Dir, r.Dir)
		return r
	}
	r := &remote{t: t, colleague: clone()}
	r.colleague.Write("tests/a", text, "tests/b", "b\n", "src", "1\n")
	r.colleague.Commit("base")
	r.colleague.Git("push", "-q", "origin", "HEAD:main")
	r.colleague.Git("switch", "-q", "-c", "pr")
	r.colleague.Write("tests/a", theirs)
	r.colleague.Commit("theirs")
	r.colleague.Git("push", "-q", "origin", "pr")
	r.Repo = clone()
	r.Git("switch", "-q", "pr")
	return r
}

func (r *remote) begin() {
	r.p = at(r.t, r.Repo, ".", "tests/**")
	check(r.t, r.p.Begin(r.t.Context()))
}

// amend pushes another version of the colleague's commit over the first.
func (r *remote) amend(namesAndContents ...string) {
	r.colleague.Write(namesAndContents...)
	r.colleague.Git("commit", "-q", "-a", "--amend", "-m", "anew")
	r.colleague.Git("push", "-q", "--force", "origin", "pr")
}

// A branch that a colleague has force-pushed is the colleague's in both versions.
func TestE20ABranchThatWasForcePushed(t *testing.T) {
	for name, tt := range map[string]struct {
		before, do func(r *remote)
		is         string
	}{
		"a reset": {nil, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}, anew},
		"a pull that rebases": {nil, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("pull", "-q", "--rebase")
		}, anew},
		"twice": {nil, func(r *remote) {
			r.amend("tests/a", "x\n")
			r.Git("fetch", "-q")
			r.amend("tests/a", anew)
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "@{upstream}")
		}, anew},
		"without the test": {nil, func(r *remote) {
			r.colleague.Git("reset", "-q", "--hard", "HEAD~1")
			r.colleague.Git("push", "-q", "--force", "origin", "pr")
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}, text},
		"with the file deleted": {nil, func(r *remote) {
			r.colleague.Remove("tests/a")
			r.colleague.Git("commit", "-q", "-a", "--amend", "-m", "anew")
			r.colleague.Git("push", "-q", "--force", "origin", "pr")
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}, ""},
		"under a person's commit": {func(r *remote) {
			r.Write("tests/a", strings.Replace(theirs, "1", "one", 1))
			r.Commit("the person's")
		}, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("pull", "-q", "--rebase")
		}, strings.Replace(anew, "1", "one", 1)},
		"under a person's edit": {func(r *remote) {
			r.Write("tests/a", strings.Replace(theirs, "1", "one", 1))
		}, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("pull", "-q", "--rebase", "--autostash")
		}, strings.Replace(anew, "1", "one", 1)},
		"and another version that was only fetched": {nil, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("pull", "-q", "--rebase")
			r.amend("tests/a", "x\n")
			r.Git("fetch", "-q")
		}, anew},
		"and pushed to since then": {nil, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("pull", "-q", "--rebase")
			r.Write("src", "2\n")
			r.Commit("mine")
			r.Git("push", "-q", "origin", "pr")
		}, anew},
		"in a merge under way": {nil, func(r *remote) {
			r.Write("src", "2\n")
			r.Commit("mine")
			r.amend("tests/a", anew)
			r.Git("fetch", "-q")
			r.Git("merge", "-q", "--no-commit", "-X", "theirs", "origin/pr")
		}, anew},
		"among many": {nil, func(r *remote) {
			push := func(from string) {
				args := []string{"push", "-q", "origin"}
				for i := range 120 {
					args = append(args, fmt.Sprintf("%s:a%d", from, i))
				}
				r.colleague.Git(args...)
				r.Git("fetch", "-q")
			}
			push("main")
			r.amend("tests/a", anew)
			push("pr")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}, anew},
		"under the session's own work": {nil, func(r *remote) {
			r.Write("src", "2\n")
			r.Commit("mine")
			r.amend("tests/a", anew)
			r.Git("pull", "-q", "--rebase")
		}, anew},
		"converted": {func(r *remote) {
			r.Git("config", "core.autocrlf", "true")
			r.Remove("tests/a")
			r.Git("checkout", "-q", "tests/a")
		}, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}, strings.ReplaceAll(anew, "\n", "\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			if tt.before != nil {
				tt.before(r)
			}
			r.begin()
			want(t, r.p)
			tt.do(r)
			if text, _ := os.ReadFile(r.Path("tests/a")); string(text) != tt.is {
				t.Fatalf("it is %q", text)
			}
			want(t, r.p)
			r.Write("tests/a", "weak\n")
			want(t, r.p, "tests/a changed")
		})
	}
}

// What a person wrote, or what the agent pushed itself, is not a colleague's second version.
func TestE20ABranchThatOthersDidNotForcePush(t *testing.T) {
	for name, tt := range map[string]struct {
		before, do func(r *remote)
	}{
		"a person's commit is thrown away": {func(r *remote) {
			r.Write("tests/a", strings.Replace(theirs, "1", "one", 1))
			r.Commit("the person's")
		}, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}},
		"a person's edit is thrown away": {func(r *remote) {
			r.Write("tests/a", strings.Replace(theirs, "1", "one", 1))
		}, func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}},
		"what a person took back of it comes again": {func(r *remote) {
			r.amend("tests/a", anew)
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "origin/pr")
			r.Write("tests/a", theirs)
			r.Commit("the person's")
		}, func(r *remote) {
			r.colleague.Write("src", "2\n")
			r.colleague.Commit("more")
			r.colleague.Git("push", "-q", "origin", "pr")
			r.Git("fetch", "-q") // and leave it there
			r.Write("src", "3\n")
			r.Commit("the agent's")
			r.Write("tests/a", anew)
		}},
		"pushed by the agent": {nil, func(r *remote) {
			r.Git("push", "-q", "--force", "origin", "origin/main:pr")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}},
		"pushed by the agent, and then by a colleague": {nil, func(r *remote) {
			r.Git("push", "-q", "--force", "origin", "origin/main:pr")
			r.colleague.Git("fetch", "-q")
			r.colleague.Git("reset", "-q", "--hard", "origin/pr")
			r.colleague.Write("src", "2\n")
			r.colleague.Commit("theirs")
			r.colleague.Git("push", "-q", "origin", "pr")
			r.Git("pull", "-q", "--rebase")
			r.Git("reset", "-q", "--hard", "origin/pr")
		}},
		"another branch in its place": {nil, func(r *remote) {
			r.Git("fetch", "-q")
			r.Git("reset", "-q", "--hard", "origin/main")
		}},
		"another branch's file": {nil, func(r *remote) {
			r.colleague.Git("switch", "-q", "-c", "topic")
			r.colleague.Git("push", "-q", "origin", "topic")
			r.Git("fetch", "-q")
			r.colleague.Write("tests/a", anew)
			r.colleague.Commit("topic")
			r.colleague.Git("push", "-q", "origin", "topic")
			r.Git("fetch", "-q")
			r.Git("checkout", "-q", "origin/topic", "--", "tests/a")
			r.Write("src", "2\n")
			r.Git("commit", "-q", "-m", "mine", "src")
		}},
		"an amended commit of the agent": {nil, func(r *remote) {
			r.amend("src", "2\n")
			r.Git("pull", "-q", "--rebase")
			r.Write("tests/a", "weak\n")
			r.Git("commit", "-q", "-a", "--amend", "-m", "mine")
			r.Git("push", "-q", "--force", "origin", "pr")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			if tt.before != nil {
				tt.before(r)
			}
			r.begin()
			tt.do(r)
			want(t, r.p, "tests/a changed")
		})
	}
}

// Git itself, or a person, puts an edit from before the session back on top of what came with a pull.
func TestE20AnEditOnTopOfAPull(t *testing.T) {
	const edit = "one\n2\n3\n4\n5\n6\n7\n"
	for name, tt := range map[string]struct {
		before, do func(r *remote)
		is         string
	}{
		"a pull that rebases": {nil, func(r *remote) { r.Git("pull", "-q", "--rebase", "--autostash") }, strings.Replace(edit, "7", "seven", 1)},
		"a merge": {nil, func(r *remote) {
			r.Git("fetch", "-q")
			r.Git("merge", "-q", "--autostash", "origin/main")
		}, strings.Replace(edit, "7", "seven", 1)},
		"a stash": {nil, func(r *remote) {
			r.Git("stash", "-q")
			r.Git("pull", "-q", "--rebase")
			r.Git("stash", "pop", "-q")
		}, strings.Replace(edit, "7", "seven", 1)},
		"that is staged": {func(r *remote) { r.Git("add", "tests/a") }, func(r *remote) { r.Git("pull", "-q", "--rebase", "--autostash") }, strings.Replace(edit, "7", "seven", 1)},
		"with the session's own work": {nil, func(r *remote) {
			r.Write("src", "2\n")
			r.Git("commit", "-q", "-m", "mine", "src")
			r.Git("pull", "-q", "--rebase", "--autostash")
		}, strings.Replace(edit, "7", "seven", 1)},
		"and of a person's commit": {func(r *remote) {
			r.Git("stash", "-q")
			r.Write("tests/a", strings.Replace(text, "4", "four", 1))
			r.Commit("the person's")
			r.Git("stash", "pop", "-q")
		}, func(r *remote) { r.Git("pull", "-q", "--no-rebase", "--no-edit", "--autostash") }, strings.NewReplacer("7", "seven", "4", "four").Replace(edit)},
		"converted": {func(r *remote) {
			r.Git("config", "core.autocrlf", "true")
			r.Write("tests/a", strings.ReplaceAll(edit, "\n", "\r\n"))
		}, func(r *remote) { r.Git("pull", "-q", "--rebase", "--autostash") }, strings.ReplaceAll(strings.Replace(edit, "7", "seven", 1), "\n", "\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			r.Git("switch", "-q", "main")
			r.Write("tests/a", edit)
			if tt.before != nil {
				tt.before(r)
			}
			r.begin()
			r.colleague.Git("push", "-q", "origin", "pr:main")
			tt.do(r)
			if text, _ := os.ReadFile(r.Path("tests/a")); string(text) != tt.is {
				t.Fatalf("it is %q", text)
			}
			want(t, r.p)
			r.Git("checkout", "-q", "HEAD", "tests/a") // without what the person wrote
			want(t, r.p, "tests/a changed")
		})
	}
}
