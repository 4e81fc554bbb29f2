package change

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A remote that squashes or rebases what it merges makes other commits of the session's. Their files
// count as those do that were pushed; what colleagues made does not.
func TestE12WhatTheRemoteSquashedCounts(t *testing.T) {
	colleague := func(r *gittest.Repo, files ...string) {
		r.Write(files...)
		r.Git("add", "-A")
		r.Git("-c", "user.name=C", "-c", "user.email=c@example.com", "commit", "-qm", "by a colleague")
	}
	// pull is what a pull of commits leaves: HEAD goes where no reflog says that a commit was made.
	pull := func(r *gittest.Repo, commit string) {
		r.Git("checkout", "-q", "main")
		r.Git("update-ref", "refs/remotes/origin/main", commit)
		r.Git("-c", "advice.detachedHead=false", "reset", "-q", "--hard", "refs/remotes/origin/main")
		r.Git("branch", "-qD", "f")
	}
	// elsewhere makes commits in a worktree, as the remote does, and gives the last one.
	elsewhere := func(r *gittest.Repo, t *testing.T, do func(remote *gittest.Repo)) string {
		dir := gittest.Dir(t) + "/remote"
		r.Git("worktree", "add", "-q", "--detach", dir, "main")
		remote := gittest.At(t, dir)
		do(remote)
		id := remote.Git("rev-parse", "HEAD")
		r.Git("worktree", "remove", "--force", dir)
		return id
	}
	squash := func(r *gittest.Repo) {
		r.Git("merge", "-q", "--squash", "f")
		r.Git("-c", "user.name=GitHub", "-c", "user.email=noreply@github.com", "commit", "-qm", "f (#1)")
	}

	for name, tt := range map[string]struct {
		work   func(r *gittest.Repo)
		remote func(r *gittest.Repo)
		want   []string
	}{
		"squashed": {
			func(r *gittest.Repo) { r.Write("src/red", "1\n", "a", "2\n"); r.Commit("one") },
			squash,
			[]string{"a", "src/red"},
		},
		"of several commits": {
			func(r *gittest.Repo) {
				r.Write("src/red", "1\n", "a", "2\n")
				r.Commit("one")
				r.Write("a", "3\n", "back", "2\n")
				r.Commit("two")
				r.Write("back", "1\n")
				r.Commit("three")
			},
			squash,
			[]string{"a", "src/red"},
		},
		"a file is deleted": {
			func(r *gittest.Repo) { r.Remove("a"); r.Commit("one") },
			squash,
			[]string{"a"},
		},
		"an executable bit": {
			func(r *gittest.Repo) {
				r.Git("update-index", "--chmod=+x", "a")
				r.Git("commit", "-qm", "one")
				r.Git("reset", "-q", "--hard")
			},
			squash,
			[]string{"a"},
		},
		"an executable bit, and a colleague's edit": {
			func(r *gittest.Repo) {
				r.Git("update-index", "--chmod=+x", "a")
				r.Git("commit", "-qm", "one")
				r.Git("reset", "-q", "--hard")
			},
			func(r *gittest.Repo) { colleague(r, "a", "theirs\n"); squash(r) },
			[]string{"a"},
		},
		"a link with the bytes of the file": {
			func(r *gittest.Repo) {
				r.Git("update-index", "--cacheinfo", "120000,"+r.Git("rev-parse", ":a")+",a")
				r.Git("commit", "-qm", "one")
				r.Git("reset", "-q", "--hard")
			},
			squash,
			[]string{"a"},
		},
		"an executable bit, not merged": {
			func(r *gittest.Repo) {
				r.Git("update-index", "--chmod=+x", "a")
				r.Git("commit", "-qm", "one")
				r.Git("reset", "-q", "--hard")
			},
			func(r *gittest.Repo) { colleague(r, "a", "theirs\n", "b", "1\n") }, nil,
		},
		"a new file that a colleague has made too": {
			func(r *gittest.Repo) { r.Write("new", "mine\n"); r.Commit("one") },
			func(r *gittest.Repo) { colleague(r, "new", "theirs\n") }, nil,
		},
		"rebased, after a colleague": {
			func(r *gittest.Repo) { r.Write("src/red", "1\n"); r.Commit("one") },
			func(r *gittest.Repo) {
				colleague(r, "a", "theirs\n", "theirs", "1\n")
				r.Git("cherry-pick", "f")
			},
			[]string{"src/red"},
		},
		"merged with what a colleague wrote into the same file": {
			func(r *gittest.Repo) {
				r.Write("long", "mine 1\nmine 2\nmine 3\n"+strings.Repeat("line\n", 20))
				r.Commit("one")
			},
			func(r *gittest.Repo) {
				colleague(r, "long", strings.Repeat("line\n", 20)+"theirs\n")
				squash(r)
			},
			[]string{"long"},
		},
		"not merged": {
			func(r *gittest.Repo) { r.Write("src/red", "1\n", "a", "2\n", "long", "mine\n"); r.Commit("one") },
			func(r *gittest.Repo) { colleague(r, "a", "theirs\n", "b", "1\n", "long", "theirs\n") }, nil,
		},
		"given up, and taken back": {
			func(r *gittest.Repo) {
				r.Write("a", "2\n")
				r.Commit("one")
				r.Write("a", "1\n")
				r.Commit("two")
			},
			func(r *gittest.Repo) { colleague(r, "b", "1\n") }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("a", "1\n", "back", "1\n", "long", strings.Repeat("line\n", 20))
			r.Commit("before")
			r.Origin()
			since := Start{Time: time.Now(), Reflog: ReflogOf(r.Dir)}
			r.Git("checkout", "-q", "-b", "f")
			tt.work(r)
			pull(r, elsewhere(r, t, tt.remote))

			w := open(t, r)
			p := position(t, w, Scope{})
			made, err := w.Made(t.Context(), p, since)
			check(t, err)
			scope := Scope{Made: made}
			if diff := cmp.Diff(tt.want, changes(t, w, scope).Files); diff != "" {
				t.Error(diff)
			}
			d, err := w.Diff(t.Context(), scope, p, everything, 1<<20)
			check(t, err)
			for _, name := range tt.want {
				if !strings.Contains(string(d.Text), "b/"+name+"\n") {
					t.Errorf("no reviewer sees %s:\n%s", name, d.Text)
				}
			}
			if tt.want == nil && len(d.Text) > 0 {
				t.Errorf("reviewers see\n%s", d.Text)
			}
		})
	}
}

// What was amended or rebased here is shown once, as it is now.
func TestE12WhatWasAmendedCountsOnce(t *testing.T) {
	for _, text := range []string{"2\n", "2\n3\n"} { // as it was, or with more
		r := gittest.New(t)
		r.Write("a", "1\n")
		r.Commit("before")
		r.Origin()
		since := Start{Time: time.Now(), Reflog: ReflogOf(r.Dir)}
		r.Write("a", "2\n", "secret", "1\n")
		r.Commit("one")
		r.Remove("secret")
		r.Write("a", text)
		r.Git("add", "-A")
		r.Git("commit", "-q", "--amend", "-m", "two")
		r.Git("update-ref", "refs/remotes/origin/main", "HEAD")

		w := open(t, r)
		p := position(t, w, Scope{})
		made, err := w.Made(t.Context(), p, since)
		check(t, err)
		scope := Scope{Made: made}
		if diff := cmp.Diff([]string{"a"}, changes(t, w, scope).Files); diff != "" {
			t.Error(diff)
		}
		d, err := w.Diff(t.Context(), scope, p, everything, 1<<20)
		check(t, err)
		if n := strings.Count(string(d.Text), "diff --git"); n != 1 {
			t.Errorf("%d files are shown\n%s", n, d.Text)
		}
	}
}
