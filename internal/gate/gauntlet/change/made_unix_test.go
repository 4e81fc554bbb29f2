//go:build unix

package change

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A rebase makes a thousand commits, and a process for each would take longer than a hook has.
func TestE12ManyCommitsTakeNoMoreProcesses(t *testing.T) {
	asked := func(n int) (forChanges, forDiff []string) {
		r := gittest.New(t)
		r.Commit("root")
		var made, want []string
		for i := range n {
			name := fmt.Sprintf("file %02d", i)
			r.Write(name, "1\n")
			id := r.Commit(name)
			made, want = append(made, id, id), append(want, name) // a reflog may have it twice
		}
		r.Git("branch", "base") // all were pushed
		env, calls := gittest.Counted(t, r.Env)
		r.Env = env
		w := open(t, r)
		scope := Scope{Base: "base", Made: made}
		p := position(t, w, scope)

		calls()
		set, err := w.Changes(t.Context(), scope, p)
		if diff := cmp.Diff(want, set.Files); diff != "" || err != nil {
			t.Error(diff, err)
		}
		forChanges = calls()
		d, err := w.Diff(t.Context(), scope, p, everything, 1<<20)
		if text := string(d.Text); err != nil || !slices.Equal(shown(text), want) || strings.Count(text, "\nCommit ") != n-1 || len(d.Missing) > 0 {
			t.Errorf("%v\n%s", err, text)
		}
		return forChanges, calls()
	}

	few, fewForDiff := asked(2)
	many, manyForDiff := asked(30)
	if diff := cmp.Diff(few, many); diff != "" {
		t.Errorf("git is asked more for what changed: %s", diff)
	}
	if diff := cmp.Diff(fewForDiff, manyForDiff); diff != "" {
		t.Errorf("git is asked more for the diff: %s", diff)
	}
}

// What has no room is named, so that a review does not pass over it.
func TestE12PushedCommitsWithoutRoomAreNamed(t *testing.T) {
	r := gittest.New(t)
	r.Commit("root")
	r.Write("small", "1\n")
	made := []string{r.Commit("small")}
	r.Write("large", strings.Repeat("1\n", 500), "binary", "\x00\n")
	made = append(made, r.Commit("large"))
	r.Git("branch", "base")
	w := open(t, r)
	scope := Scope{Base: "base", Made: made}
	d, err := w.Diff(t.Context(), scope, position(t, w, scope), everything, 500)
	if diff := cmp.Diff([]Missing{{"binary", IsBinary}, {"large", IsCut}}, d.Missing); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if text := string(d.Text); !strings.Contains(text, "Binary file binary changed") || !strings.Contains(text, "Not shown, or not whole: large") {
		t.Error(text)
	}
}

// A file may be named like a commit.
func TestE12AFileThatIsNamedLikeACommit(t *testing.T) {
	r := gittest.New(t)
	first := r.Commit("root")
	r.Write("a", "1\n")
	made := []string{r.Commit("a")}
	r.Write(first, first+"\n", made[0], made[0]+"\n", "z", "1\n")
	made = append(made, r.Commit("z"))
	r.Git("branch", "base")
	w := open(t, r)
	scope := Scope{Base: "base", Made: made}
	want := []string{first, made[0], "a", "z"}
	slices.Sort(want)
	if diff := cmp.Diff(want, changes(t, w, scope).Files); diff != "" {
		t.Error(diff)
	}
	text, _ := diff(t, w, scope, everything, 1<<20)
	got := shown(text)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%q\n%s", got, text)
	}
}
