package change

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/git/gittest"
)

// lengthen adds entries to the reflog of HEAD, at least so many bytes of them, with some time.
func lengthen(t *testing.T, r *gittest.Repo, size int, seconds string) {
	t.Helper()
	head := r.Git("rev-parse", "HEAD")
	line := head + " " + head + " A U Thor <author@example.com> " + seconds + " +0000\tcheckout: moving from main to main\n"
	file, err := os.OpenFile(r.Path(".git/logs/HEAD"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(strings.Repeat(line, size/len(line)+1)); err != nil {
		t.Fatal(err)
	}
}

func made(t *testing.T, r *gittest.Repo, since Start) []string {
	t.Helper()
	tree := Open(r.Dir, logDir, "", r.Env, time.Now)
	position, err := tree.Position(t.Context(), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	return tree.Made(position, since)
}

// The times in a reflog are the agent's to choose, so its place in a long one has to be known.
func TestE12CommitsInALongReflog(t *testing.T) {
	r := gittest.New(t)
	r.Commit("before")
	lengthen(t, r, maxReflog+sumWindow, "1700000000")
	since := Start{Time: time.Now(), Reflog: ReflogOf(r.Dir)}
	commit := r.Commit("by the agent, with a time long ago")
	if got := made(t, r, since); !slices.Equal(got, []string{commit}) {
		t.Errorf("made %q, want %s", got, commit)
	}
	if !since.Reflog.GoesOn(r.Dir) {
		t.Error("the reflog goes on")
	}
	lengthen(t, r, 2*sumWindow, "1700000000")
	if got := made(t, r, since); !slices.Equal(got, []string{commit}) {
		t.Errorf("after much more: made %q, want %s", got, commit)
	}
}

// A subject of any length is one line of the reflog.
func TestE12ALongSubjectHidesNoCommit(t *testing.T) {
	r := gittest.New(t)
	r.Commit("before")
	since := Start{Time: time.Now(), Reflog: ReflogOf(r.Dir)}
	message := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(message, []byte(strings.Repeat("x", 2<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Git("commit", "-q", "--allow-empty", "-F", message)
	want := []string{r.Git("rev-parse", "HEAD"), r.Commit("after")}
	if got := made(t, r, since); !slices.Equal(got, want) {
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
