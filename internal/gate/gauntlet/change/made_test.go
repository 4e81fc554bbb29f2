package change

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// lengthen adds entries to the reflog of HEAD, at least so many bytes of them, with some time.
func lengthen(t *testing.T, r *gittest.Repo, size int, seconds string) {
	t.Helper()
	head := r.Git("rev-parse", "HEAD")
	line := head + " " + head + " A U Thor <author@example.com> " + seconds + " +0000\tcheckout: moving from main to main\n"
	file, err := os.OpenFile(r.Path(".git/logs/HEAD"), os.O_APPEND|os.O_WRONLY, 0)
	check(t, err)
	defer file.Close()
	if _, err := file.WriteString(strings.Repeat(line, size/len(line)+1)); err != nil {
		t.Fatal(err)
	}
}

func madeIn(t *testing.T, r *gittest.Repo, since Start) []string {
	t.Helper()
	tree := Open(r.Dir, logDir, "", r.Env, time.Now)
	position, err := tree.Position(t.Context(), Scope{})
	check(t, err)
	commits, err := tree.Made(t.Context(), position, since)
	check(t, err)
	return commits
}

// subjectsIn are those of the commits in madeIn, sorted and each once.
func subjectsIn(t *testing.T, r *gittest.Repo, since Start) (subjects []string) {
	t.Helper()
	for _, id := range madeIn(t, r, since) {
		subjects = append(subjects, r.Git("log", "-1", "--format=%s", id))
	}
	slices.Sort(subjects)
	return slices.Compact(subjects)
}

// The times in a reflog are the agent's to choose, so its place in a long one has to be known.
func TestE12CommitsInALongReflog(t *testing.T) {
	r := gittest.New(t)
	r.Commit("before")
	lengthen(t, r, maxReflog+sumWindow, "1700000000")
	since := Start{Time: time.Now(), Reflog: ReflogOf(r.Dir)}
	commit := r.Commit("by the agent, with a time long ago")
	if got := madeIn(t, r, since); !slices.Equal(got, []string{commit}) {
		t.Errorf("made %q, want %s", got, commit)
	}
	if !since.Reflog.GoesOn(r.Dir) {
		t.Error("the reflog goes on")
	}
	lengthen(t, r, 2*sumWindow, "1700000000")
	if got := madeIn(t, r, since); !slices.Equal(got, []string{commit}) {
		t.Errorf("after much more: made %q, want %s", got, commit)
	}
}

// Git notes seconds: a commit in the second in which the session began may be the session's.
func TestE12CommitsInTheFirstSecond(t *testing.T) {
	r := gittest.New(t)
	commit := r.Commit("in that second") // at 1700000000
	for since, want := range map[time.Time][]string{
		time.Unix(1700000000, 5e8): {commit},
		time.Unix(1700000001, 0):   nil,
	} {
		if got := madeIn(t, r, Start{Time: since}); !slices.Equal(got, want) {
			t.Errorf("since %v: made %q, want %q", since, got, want)
		}
	}
}

// A subject of any length is one line of the reflog.
func TestE12ALongSubjectHidesNoCommit(t *testing.T) {
	r := gittest.New(t)
	r.Commit("before")
	since := Start{Time: time.Now(), Reflog: ReflogOf(r.Dir)}
	message := filepath.Join(t.TempDir(), "message")
	check(t, os.WriteFile(message, []byte(strings.Repeat("x", 2<<20)), 0o600))
	r.Git("commit", "-q", "--allow-empty", "-F", message)
	want := []string{r.Git("rev-parse", "HEAD"), r.Commit("after")}
	if got := madeIn(t, r, since); !slices.Equal(got, want) {
		t.Errorf("made %q, want %q", got, want)
	}
}

// What lies before the part of a reflog that is read is not known.
func TestHeadAtOfALongReflog(t *testing.T) {
	r := gittest.New(t)
	r.Commit("before")
	lengthen(t, r, sumWindow, "1700000000")
	then, known := time.Unix(1750000000, 0), ReflogOf(r.Dir)
	if commit, reflog := HeadAt(r.Dir, then); commit == "" || reflog != known {
		t.Errorf("got %q, %v; want %v", commit, reflog, known)
	}
	lengthen(t, r, maxReflog/2, "1800000000")
	if commit, reflog := HeadAt(r.Dir, then); commit == "" || reflog != known {
		t.Errorf("with some more: got %q, %v; want %v", commit, reflog, known)
	}
	lengthen(t, r, maxReflog, "1800000000")
	if commit, reflog := HeadAt(r.Dir, then); commit != "" || reflog != (Reflog{}) {
		t.Errorf("with much more: got %q, %v", commit, reflog)
	}
}

// A reflog that is as long and says something else is another one.
func TestAnotherReflogDoesNotGoOn(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first")
	known := ReflogOf(r.Dir)
	r.Commit("second")
	if !known.GoesOn(r.Dir) {
		t.Error("it does not go on")
	}
	text, err := os.ReadFile(r.Path(".git/logs/HEAD"))
	check(t, err)
	r.Write(".git/logs/HEAD", strings.Replace(string(text), "first", "other", 1))
	if known.GoesOn(r.Dir) {
		t.Error("another one goes on")
	}
}

// A session answers for what it merges, and for commits that it made by other means. What others
// made stays theirs.
func TestE12CommitsThatWereBroughtHere(t *testing.T) {
	for name, tt := range map[string]struct {
		bring func(r *gittest.Repo)
		want  []string // subjects
	}{
		"a fast-forward": {func(r *gittest.Repo) { r.Git("merge", "-q", "feat") }, []string{"feat"}},
		"a merge":        {func(r *gittest.Repo) { r.Commit("here"); r.Git("merge", "-q", "--no-ff", "-m", "merge", "feat") }, []string{"feat", "here", "merge"}},
		"a merge with a conflict": {func(r *gittest.Repo) {
			r.Write("feat.txt", "here")
			r.Commit("here")
			if _, err := r.Try("merge", "feat"); err == nil {
				t.Error("no conflict")
			}
			r.Write("feat.txt", "both")
			r.Commit("merge")
		}, []string{"feat", "here", "merge"}},
		"reset to it":   {func(r *gittest.Repo) { r.Git("reset", "-q", "--hard", "feat") }, []string{"feat"}},
		"update-ref":    {func(r *gittest.Repo) { r.Git("update-ref", "HEAD", "feat") }, []string{"feat"}},
		"of the branch": {func(r *gittest.Repo) { r.Git("update-ref", "refs/heads/main", "feat") }, []string{"feat"}},
		"commit-tree": {func(r *gittest.Repo) {
			r.Git("reset", "-q", "--hard", r.Git("commit-tree", "-m", "plumbing", "-p", "HEAD", "HEAD^{tree}"))
		}, []string{"plumbing"}},
		"no reflog left":    {func(r *gittest.Repo) { r.Commit("here"); _ = os.RemoveAll(r.Path(".git/logs")) }, []string{"here"}},
		"an expired one":    {func(r *gittest.Repo) { r.Commit("here"); r.Git("reflog", "expire", "--expire=now", "--all") }, []string{"here"}},
		"another's commits": {func(r *gittest.Repo) { r.Git("merge", "-q", "theirs") }, nil},
		"a pull":            {func(r *gittest.Repo) { r.Git("pull", "-q", ".", "feat") }, nil},
		"a remote's branch": {func(r *gittest.Repo) { r.Git("merge", "-q", "origin/main") }, nil},
		"older ones":        {func(r *gittest.Repo) { r.Git("merge", "-q", "old") }, nil},
		"another branch":    {func(r *gittest.Repo) { r.Git("checkout", "-q", "feat") }, nil},
		"a pull, then a merge": {func(r *gittest.Repo) {
			r.Git("pull", "-q", ".", "theirs-as-we")
			r.Git("merge", "-q", "-m", "merge", "feat")
		}, []string{"feat", "merge"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			first := r.Commit("first")
			branch := func(name string, environ ...string) {
				r.Git("checkout", "-q", "-b", name, first)
				theirs := gittest.At(t, r.Dir)
				theirs.Env = append(slices.Clone(r.Env), environ...)
				theirs.Write(name+".txt", name)
				theirs.Commit(name)
			}
			branch("feat")
			branch("theirs-as-we")
			branch("theirs", "GIT_COMMITTER_EMAIL=other@example.com")
			branch("old", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
			r.Git("update-ref", "refs/remotes/origin/main", "feat")
			r.Git("checkout", "-q", "main")
			since := Start{Time: time.Unix(1700000000, 0), Reflog: ReflogOf(r.Dir)} // as gittest has it

			tt.bring(r)
			if got := subjectsIn(t, r, since); !slices.Equal(got, tt.want) {
				t.Errorf("made %q, want %q", got, tt.want)
			}
		})
	}
}

// Git need not write a reflog at all. Then what HEAD was has to do, and who the commits are by.
func TestE12CommitsWithoutAReflog(t *testing.T) {
	for name, tt := range map[string]struct {
		bring func(r *gittest.Repo)
		want  []string // subjects
	}{
		"nothing":  {func(*gittest.Repo) {}, nil},
		"a commit": {func(r *gittest.Repo) { r.Commit("here") }, []string{"here"}},
		"two, and a log from the second on": {func(r *gittest.Repo) {
			r.Commit("one")
			r.Git("config", "core.logAllRefUpdates", "true")
			r.Commit("two")
		}, []string{"one", "two"}},
		"another's": {func(r *gittest.Repo) {
			theirs := gittest.At(t, r.Dir)
			theirs.Env = append(slices.Clone(r.Env), "GIT_COMMITTER_EMAIL=other@example.com")
			theirs.Commit("theirs")
		}, nil},
		"older ones": {func(r *gittest.Repo) {
			theirs := gittest.At(t, r.Dir)
			theirs.Env = append(slices.Clone(r.Env), "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
			theirs.Commit("old")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Commit("first")
			r.Git("config", "core.logAllRefUpdates", "false")
			check(t, os.RemoveAll(r.Path(".git/logs")))
			since := Start{Time: time.Unix(1700000000, 0), Reflog: FoundReflog(t.Context(), r.Dir, r.Env)} // as gittest has it
			tt.bring(r)
			if got := subjectsIn(t, r, since); !slices.Equal(got, tt.want) {
				t.Errorf("made %q, want %q", got, tt.want)
			}
		})
	}
}

// Of a worktree that is younger than the session the first commit counts, whatever times an
// agent gives those that follow.
func TestHeadAtOfAYoungerWorktree(t *testing.T) {
	r := gittest.New(t)
	first := r.Commit("first") // at 1700000000
	r.Env = append(r.Env, "GIT_COMMITTER_DATE=1600000000 +0000")
	if second := r.Commit("second"); second == first {
		t.Fatal("it is the same commit")
	}
	if commit, _ := HeadAt(r.Dir, time.Unix(1650000000, 0)); commit != first {
		t.Errorf("got %s, want %s", commit, first)
	}
}
