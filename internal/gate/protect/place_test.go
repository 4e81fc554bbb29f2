package protect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

var check = checktest.OK

// at is a project in a repository, in a session that was prompted.
func at(t testing.TB, r *gittest.Repo, dir string, patterns ...string) Place {
	t.Helper()
	return Place{
		Project: &keeper.Project{
			Root:   r.Path(dir),
			Config: &config.Project{Protect: config.Protect{Patterns: patterns}, Gauntlet: config.Gauntlet{BaseBranch: "origin/main", LogDir: "gauntlet_logs"}},
		},
		StateDir: t.TempDir(), Environ: r.Env, Now: time.Now, Session: "s", Prompted: true,
		Since: change.Start{Time: time.Now(), Reflog: change.ReflogOf(r.Dir)},
	}
}

func (p Place) lines(t testing.TB) (all []string) {
	t.Helper()
	found, err := p.Look(t.Context())
	check(t, err)
	for _, touch := range found {
		all = append(append(all, touch.String()), touch.Notes...)
	}
	return all
}

func want(t testing.TB, p Place, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, p.lines(t)); diff != "" {
		t.Error(diff)
	}
}

func TestE20TouchesIsPure(t *testing.T) {
	a, b, link := change.State{Kind: "f", Sum: "a"}, change.State{Kind: "f", Sum: "b"}, change.State{Kind: "l", Sum: "b"}
	all := []change.Difference{
		{Path: "added", Is: a},
		{Path: "approved", Was: a, Is: b},
		{Path: "approved otherwise", Was: a, Is: b},
		{Path: "changed", Was: a, Is: b},
		{Path: "chmodded", Was: a, Is: change.State{Kind: "x", Sum: "a"}},
		{Path: "deleted", Was: a},
		{Path: "deletion approved", Was: a},
		{Path: "linked", Was: a, Is: link},
		{Path: "pulled", Was: a, Is: b},
		{Path: "unreadable", Was: a, Is: change.State{Kind: change.Unreadable}},
	}
	approved := approvals{All: []Approval{{Path: "approved", Is: b}, {Path: "approved otherwise", Is: a}, {Path: "deletion approved"}}}
	var got []string
	for _, touch := range touches(all, approved, map[string]bool{"pulled": true}) {
		got = append(got, touch.String())
	}
	want := []string{
		"added added", "approved otherwise changed", "changed changed", "chmodded mode changed", "deleted deleted",
		"linked replaced by a link", "unreadable made unreadable",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := (Touch{Path: "a\x1b[2J\n_test.go", What: Renamed, To: "b\r"}).String(); got != `"a\x1b[2J\n_test.go" renamed to "b\r"` {
		t.Errorf("got %s", got)
	}
}

func TestE20BelowTheToplevel(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n", "sub/deep/a_test.go", "1\n", "sub/b_test.go", "func TestB(t *testing.T) {}\n", "sub/c_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	r.Write("sub/b_test.go", "func TestB(t *testing.T) {}\nfunc TestC(t *testing.T) {}\n")
	p := at(t, r, "sub", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	want(t, p)
	r.Write("a_test.go", "2\n", "sub/deep/a_test.go", "2\n", "sub/b_test.go", "func TestB(t *testing.T) {}\n")
	want(t, p, "b_test.go changed", "deleted test TestC (b_test.go:2)", "deep/a_test.go changed")

	// What was not committed when the session began is known all the same.
	r.Write("sub/deep/a_test.go", "1\n", "sub/b_test.go", "func TestC(t *testing.T) {}\n")
	want(t, p, "b_test.go changed", "deleted test TestB (b_test.go:1)")
	r.Write("sub/b_test.go", "func TestB(t *testing.T) {}\nfunc TestC(t *testing.T) {}\n")
	want(t, p)

	// A colleague's commit.
	dir := gittest.Dir(t) + "/other"
	r.Git("worktree", "add", "-q", "--detach", dir)
	other := gittest.At(t, dir)
	other.Write("sub/c_test.go", "theirs\n")
	r.Git("update-ref", "refs/remotes/origin/main", other.Commit("theirs"))
	r.Git("merge", "-q", "--ff-only", "refs/remotes/origin/main")
	want(t, p)
	r.Write("sub/c_test.go", "ours\n")
	want(t, p, "c_test.go changed")
}

// What is not small enough to be kept is known to be a person's all the same.
func TestFewAndSmallEditsAreKept(t *testing.T) {
	r := gittest.New(t)
	r.Write("large_test.go", strings.Repeat("x", maxCopy+1))
	const fit = maxCopies / maxCopy
	for i := range fit + 1 {
		r.Write(fmt.Sprintf("many/%02d_test.go", i), strings.Repeat("x", maxCopy))
	}
	p := at(t, r, ".", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	b, err := p.load()
	check(t, err)
	if len(b.Copies) != fit {
		t.Errorf("%d files are kept, want %d", len(b.Copies), fit)
	}
	if diff := cmp.Diff([]string{"large_test.go", fmt.Sprintf("many/%02d_test.go", fit)}, b.Uncopied); diff != "" {
		t.Error(diff)
	}
}

func TestE20Names(t *testing.T) {
	r := gittest.New(t)
	odd := []string{"-x_test.go", "a b_test.go", "ü_test.go", "q\"_test.go", ":(top)_test.go", "[x]_test.go"}
	for _, name := range odd {
		r.Write(name, "1\n")
	}
	r.Write(".gitignore", "node_modules\n.env.test\n", "node_modules/x/y_test.go", "1\n", ".env.test", "1\n", "out/.env.test", "1\n", ".gauntlet/g_test.go", "1\n")
	r.Commit("one")
	for _, begun := range []bool{true, false} {
		r.Origin()
		p := at(t, r, ".", "**/*_test.go", ".env.test")
		p.Project.Approval = "approved"
		p.Prompted = begun
		if begun {
			check(t, p.Begin(t.Context()))
		}
		want(t, p)
		var lines []string
		for _, name := range odd {
			r.Write(name, "2\n")
			lines = append(lines, plain.Name(name)+" changed")
		}
		r.Write("node_modules/x/y_test.go", "2\n", ".gauntlet/g_test.go", "2\n", "out/.env.test", "2\n")
		got := p.lines(t)
		if len(got) != len(odd) {
			t.Errorf("begun %t: %q, want %q", begun, got, lines)
		}
		if begun { // a file that git ignores is protected by its name
			r.Write(".env.test", "2\n")
			if got := p.lines(t); len(got) != len(odd)+1 || got[1] != ".env.test changed" {
				t.Errorf("%q", got)
			}
		}
		r.Git("checkout", "-q", ".")
		r.Write(".env.test", "1\n")
		want(t, p)
	}
}

// Where git converts the ends of lines, a file is what git would write.
func TestE20ConvertedFiles(t *testing.T) {
	r := gittest.New(t)
	r.Git("config", "core.autocrlf", "true")
	r.Write("a_test.go", "func TestA(t *testing.T) {}\r\n")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	p.Prompted = false
	want(t, p)
	r.Write("a_test.go", "x\r\n")
	r.Commit("two")
	q := at(t, r, ".", "**/*_test.go")
	q.Prompted = false
	want(t, q, "a_test.go changed", "deleted test TestA (a_test.go:1)")
	r.Git("checkout", "-q", "HEAD^", "--", ".")
	want(t, q)
	want(t, p)
}

// A worktree that was made in the session is held to the commit that it was made from.
func TestE20AWorktreeMadeInTheSession(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	r.Write("a_test.go", "2\n")
	r.Commit("a person's, not pushed")
	dir := gittest.Dir(t) + "/wt"
	r.Git("worktree", "add", "-q", "-b", "wt", dir)
	wt := gittest.At(t, dir)
	p := at(t, wt, ".", "**/*_test.go")
	p.Since.Reflog = change.Reflog{}
	want(t, p)
	wt.Write("a_test.go", "3\n")
	wt.Commit("the agent's")
	want(t, p, "a_test.go changed")
	want(t, p, "a_test.go changed") // whatever time its commit claims
	fresh := p
	fresh.StateDir = t.TempDir()
	fresh.Since.Time = time.Unix(1_600_000_000, 0) // before its reflog begins
	want(t, fresh, "a_test.go changed")
}

func TestADamagedBaseIsMadeAnew(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	r.Write("a_test.go", "2\n")
	path := p.baseFile()
	text, err := os.ReadFile(path)
	check(t, err)
	for _, damaged := range []string{"", "{}", string(text[:len(text)/2]), strings.Replace(string(text), `"files":"c2`, `"files":"d2`, 1)} {
		check(t, os.WriteFile(path, []byte(damaged), 0o600))
		want(t, p, "a_test.go changed")
	}

	// What another version has written may mean something else.
	later := p
	later.StateDir = t.TempDir()
	check(t, later.Begin(t.Context()))
	want(t, later)
	text, err = os.ReadFile(later.baseFile())
	check(t, err)
	check(t, os.WriteFile(later.baseFile(), []byte(strings.Replace(string(text), `{"v":1,`, `{"v":2,`, 1)), 0o600))
	want(t, later, "a_test.go changed")
}

// What another version remembers is not understood: an agent is blocked once more.
func TestAMemoryOfAnotherVersionIsNone(t *testing.T) {
	p := at(t, gittest.New(t), ".", "a")
	for version, want := range map[int]bool{1: true, 2: false} {
		check(t, p.keep(memory{Version: version, NoGit: true}))
		if got := p.memory(); got.NoGit != want || got.Version != 1 {
			t.Errorf("of version %d: %+v", version, got)
		}
	}
}

func TestPruneForgetsOldSessions(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	p := at(t, r, ".", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	Prune(p.StateDir, time.Now().Add(29*24*time.Hour))
	if _, err := p.load(); err != nil {
		t.Error(err)
	}
	old := time.Now().Add(-31 * 24 * time.Hour)
	check(t, os.Chtimes(p.dir(), old, old)) // a look changes the time of the file alone
	Prune(p.StateDir, time.Now())
	if _, err := p.load(); err != nil {
		t.Error(err)
	}
	Prune(p.StateDir, time.Now().Add(31*24*time.Hour))
	if _, err := p.load(); err == nil {
		t.Error("it is still there")
	}
}

// A person is to look at what an agent has stopped with, in this repository, as it is now.
func TestE20WhatWaitsForAPerson(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n", "b_test.go", "1\n")
	r.Commit("one")
	p := at(t, r, ".", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	r.Write("a_test.go", "2\n")
	m := p.memory()
	var err error
	m.Open, err = p.Look(t.Context())
	check(t, err)
	check(t, p.keep(m))
	r.Write("b_test.go", "2\n") // since its stop

	locate := func(string) *keeper.Project { return p.Project }
	all := p.Wait(t.Context(), locate)
	if len(all) != 1 || len(all[0].Touches) != 1 || all[0].Touches[0].String() != "a_test.go changed" || all[0].Before["a_test.go"] != "1\n" {
		t.Fatalf("what waits is %+v", all)
	}
	other := at(t, gittest.New(t), ".", "**/*_test.go")
	other.StateDir = p.StateDir
	if all := other.Wait(t.Context(), locate); len(all) > 0 {
		t.Errorf("in another repository %+v waits", all)
	}

	touch := all[0].Touches[0]
	if text, err := p.Text(touch); text != "2\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	r.Write("a_test.go", "3\n")
	if text, err := p.Text(touch); !errors.Is(err, ErrMoved) {
		t.Errorf("after another edit: %q, %v", text, err)
	}
	r.Write("a_test.go", "\x00")
	now, err := p.At(t.Context(), []string{"a_test.go"})
	check(t, err)
	if text, err := p.Text(now[0]); !errors.Is(err, ErrNoText) {
		t.Errorf("of bytes: %q, %v", text, err)
	}
}

func TestMissing(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n", "tests/x", "")
	r.Commit("one")
	p := at(t, r, ".", "**/*_test.go", "**/*_tset.go", "tests", "Makefile")
	got, err := p.Missing(t.Context())
	check(t, err)
	if diff := cmp.Diff([]string{"**/*_tset.go", "Makefile"}, got); diff != "" {
		t.Error(diff)
	}
}

// A pattern without a folder is one for the top, unlike in a .gitignore.
func TestDoubts(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.py", "1\n", "p/b_test.py", "1\n", "p/q/c_test.py", "1\n", "jest.config.js", "1\n", "Makefile", "1\n", "p/Makefile", "1\n", ".gitignore", "ignored\n", "ignored/d_test.py", "1\n")
	r.Commit("one")
	r.Write(".gauntlet/e_test.py", "1\n") // approved as a whole
	p := at(t, r, ".", "*_test.py", "jest.config.*", "Makefile", "p/*_test.py", "*.toml", "**/*_test.py")
	p.Project.Approval = "approved"
	got, err := p.Doubts(t.Context())
	check(t, err)
	if diff := cmp.Diff([]string{"*_test.py matches 1 file at the top of the project; **/*_test.py matches 3, in all folders"}, got); diff != "" {
		t.Error(diff)
	}
}

// What a stop pays in a project with 5,000 files, all of them protected.
func BenchmarkLookUntouched(b *testing.B) {
	r := gittest.New(b)
	for i := range 5000 {
		name := filepath.Join("pkg", string(rune('a'+i%26)), string(rune('a'+i/26%26)), strings.Repeat("x", i/676+1)+"_test.go")
		r.Write(name, "package p\n")
		old := time.Now().Add(-time.Hour)
		check(b, os.Chtimes(r.Path(name), old, old))
	}
	r.Commit("one")
	r.Origin()
	for _, withNew := range []bool{false, true} {
		p := at(b, r, ".", "**/*_test.go")
		p.Project.Config.Protect.New = withNew
		p.Now = func() time.Time { return time.Now().Add(time.Minute) }
		check(b, p.Begin(b.Context()))
		name := "free new files"
		if withNew {
			name = "protect_new"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found, err := p.Look(b.Context()); err != nil || len(found) > 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
	b.Run("first prompt", func(b *testing.B) {
		p := at(b, r, ".", "**/*_test.go")
		for b.Loop() {
			if _, err := p.find(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// All empty files look alike: one that is new is not where a deleted one went.
func TestE20AnEmptyFileIsNotRenamed(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	check(t, os.Remove(r.Path("a_test.go")))
	r.Write("empty", "")
	want(t, p, "a_test.go deleted")
}

// What git keeps and what is outside of the project is protected by no pattern.
func TestE20WhatCannotBeProtected(t *testing.T) {
	p := at(t, gittest.New(t), ".", "**", ".git/config", "../x")
	for name, want := range map[string]bool{"a": true, "sub/.git": true, ".gitignore": true, ".git/config": false, "../x": false, ".": false, "": false} {
		if got := p.protects(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// A copy that the session found is not where a deleted file went, however alike the two are.
func TestE20ACopyThatWasThereIsNoRename(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n", "b_test.go", "1\n")
	r.Commit("one")
	p := at(t, r, ".", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	check(t, os.Remove(r.Path("a_test.go")))
	want(t, p, "a_test.go deleted")
	r.Write("c_test.go", "1\n")
	want(t, p, "a_test.go renamed to c_test.go")
}

// A colleague's content with another mode than theirs is not theirs.
func TestE20AChmodOfWhatOthersBrought(t *testing.T) {
	r := gittest.New(t)
	r.Write("a_test.go", "1\n")
	r.Commit("one")
	r.Origin()
	p := at(t, r, ".", "**/*_test.go")
	check(t, p.Begin(t.Context()))
	dir := gittest.Dir(t) + "/other"
	r.Git("worktree", "add", "-q", "--detach", dir)
	other := gittest.At(t, dir)
	other.Write("a_test.go", "theirs\n")
	r.Git("update-ref", "refs/remotes/origin/main", other.Commit("theirs"))
	r.Git("merge", "-q", "--ff-only", "refs/remotes/origin/main")
	want(t, p)
	check(t, os.Chmod(r.Path("a_test.go"), 0o755))
	want(t, p, "a_test.go changed")
	r.Remove("a_test.go") // nor is it theirs that it is gone
	want(t, p, "a_test.go deleted")
}
