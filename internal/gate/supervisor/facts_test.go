package supervisor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

var midday = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestGather(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("a.go", "package a\n")
	repo.Commit("begin")
	repo.Write("a.go", "package b\n")
	f := Gather(t.Context(), Sources{
		Payload: &hook.StopPayload{
			Base:                 hook.Base{SessionID: "abc123", TranscriptPath: recorded(t, user(t, "rename the package"))},
			LastAssistantMessage: "Done.",
			BackgroundTasks:      []json.RawMessage{json.RawMessage(`{"id":"1","type":"subagent","status":"running","description":"count"}`)},
		},
		Dir: repo.Dir, StateDir: t.TempDir(), Environ: repo.Env, Now: midday, Iteration: 2, Limit: 10, Previous: "go on",
	})
	want := Facts{
		Session: "abc123", Now: midday, Iteration: 2, Limit: 10, LastMessage: "Done.", Asked: []string{"rename the package"},
		Git:        GitFacts{Branch: "main", Head: repo.Git("rev-parse", "HEAD"), Changed: 1, Names: []string{"a.go"}},
		Gates:      GateFacts{Note: "the project has no gates"},
		Background: []string{"subagent running: count"}, Previous: "go on",
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
}

// Nothing is there, or not what it should be: the facts say so.
func TestGatherNeverFails(t *testing.T) {
	dir := t.TempDir()
	f := Gather(t.Context(), Sources{
		Payload: &hook.StopPayload{Base: hook.Base{TranscriptPath: dir}, BackgroundTasks: []json.RawMessage{nil, json.RawMessage(`7`)}},
		Dir:     filepath.Join(dir, "missing"), Root: dir, StateDir: filepath.Join(dir, "none"), Environ: gittest.Environ(t),
	})
	if !strings.Contains(f.AskedNote, "is not a regular file") || !strings.HasPrefix(f.Git.Note, "git could not report the status: ") ||
		f.Gates.Note != "the gates of this project have never run" || len(f.Background) != 2 {
		t.Errorf("%+v", f)
	}
}

func TestGitFacts(t *testing.T) {
	write := func(r *gittest.Repo, n int) {
		for i := range n {
			r.Write(filepath.Join("new", strings.Repeat("x", i+1)), "")
		}
	}
	tests := []struct {
		name  string
		setup func(*gittest.Repo)
		check func(GitFacts) bool
	}{
		{"no commit", func(r *gittest.Repo) { r.Write("a", "") }, func(f GitFacts) bool { return f.Head == "" && f.Branch == "main" && f.Untracked == 1 }},
		{"clean, no upstream", func(r *gittest.Repo) { r.Commit("a") }, func(f GitFacts) bool {
			return f.Branch == "main" && f.Upstream == NoUpstream && f.Changed+f.Untracked == 0 && f.Names == nil
		}},
		{"detached", func(r *gittest.Repo) { r.Commit("a"); r.Git("checkout", "-q", "--detach") }, func(f GitFacts) bool { return f.Branch == "HEAD" && f.Head != "" }},
		{"pushed", func(r *gittest.Repo) { r.Commit("a"); track(r) }, func(f GitFacts) bool { return f.Branch == "main" && f.Upstream == Pushed }},
		{"behind", func(r *gittest.Repo) { r.Commit("a"); r.Commit("b"); track(r); r.Git("reset", "-q", "--hard", "HEAD^") }, func(f GitFacts) bool { return f.Upstream == Pushed }},
		{"unpushed", func(r *gittest.Repo) { r.Commit("a"); track(r); r.Commit("b") }, func(f GitFacts) bool { return f.Upstream == Unpushed }},
		{"many files", func(r *gittest.Repo) { r.Write("a", "1"); r.Commit("a"); r.Write("a", "2"); write(r, 50) }, func(f GitFacts) bool {
			return f.Changed == 1 && f.Untracked == 50 && len(f.Names) == 40 && f.Names[0] == "a"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			repo := gittest.New(t)
			tt.setup(repo)
			if f := gitFacts(t.Context(), repo.Dir, repo.Env); f.Note != "" || !tt.check(f) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// track makes main follow what origin is said to have.
func track(r *gittest.Repo) {
	r.Origin()
	r.Git("config", "remote.origin.url", "nowhere")
	r.Git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	r.Git("config", "branch.main.remote", "origin")
	r.Git("config", "branch.main.merge", "refs/heads/main")
}

// An agent that stands in a folder has changed the rest as well.
func TestGitFactsOfTheWholeRepository(t *testing.T) {
	repo := gittest.New(t)
	repo.Commit("a")
	repo.Write("above", "", "folder/below", "")
	if f := gitFacts(t.Context(), repo.Path("folder"), repo.Env); f.Untracked != 2 {
		t.Errorf("%+v", f)
	}
	if f := gitFacts(t.Context(), repo.Path(".git"), repo.Env); !strings.Contains(f.Note, "not a working tree") {
		t.Errorf("in git's own directory: %+v", f)
	}
	if f := gitFacts(t.Context(), gittest.Dir(t), repo.Env); f.Note != "the work is not in a git repository" {
		t.Errorf("outside: %+v", f)
	}
	if f := gitFacts(t.Context(), repo.Dir, []string{"PATH="}); !strings.Contains(f.Note, "not installed") {
		t.Errorf("without git: %+v", f)
	}
}

func TestGateFacts(t *testing.T) {
	state, root := t.TempDir(), t.TempDir()
	book := ledger.Open(state, root)
	record := func(change func(*ledger.State)) {
		t.Helper()
		check(t, book.Update(t.Context(), func(s *ledger.State) error { change(s); return nil }))
	}
	if f := gateFacts(state, root, midday); f.Note != "the gates of this project have never run" {
		t.Errorf("%+v", f)
	}
	run := ledger.Run{Now: midday, Tree: "t", MaxRetries: 3, Answers: true, Gates: []ledger.GateRun{
		{Job: "check:.:lint", Kind: "check", Result: ledger.Failed, Message: "exit 1"},
		{Job: "check:.:test", Kind: "check", Result: ledger.Passed, Key: "k"},
	}}
	record(func(s *ledger.State) {
		s.Look = &ledger.Look{Jobs: []string{"check:.:lint", "check:.:test"}}
		s.Record(run)
	})
	want := GateFacts{
		Open: []GateFailure{{"check:.:lint", "exit 1", midday}}, Failures: 1,
		Selected: []string{"check:.:lint", "check:.:test"}, Passes: 1, Passed: midday,
	}
	if diff := cmp.Diff(want, gateFacts(state, root, midday.Add(time.Hour))); diff != "" {
		t.Error(diff)
	}
	want.Passes, want.Passed = 0, time.Time{}
	if diff := cmp.Diff(want, gateFacts(state, root, midday.Add(25*time.Hour))); diff != "" {
		t.Errorf("a day later: %s", diff)
	}
	files, err := filepath.Glob(filepath.Join(state, "ledger", "*", "ledger.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	check(t, os.WriteFile(files[0], []byte("{"), 0o600))
	if f := gateFacts(state, root, midday); !strings.Contains(f.Note, "damaged") {
		t.Errorf("%+v", f)
	}
	check(t, os.Remove(files[0]))
	check(t, os.Mkdir(files[0], 0o700))
	if f := gateFacts(state, root, midday); !strings.Contains(f.Note, "read the ledger") {
		t.Errorf("%+v", f)
	}
}

// A run that led to no gate is a run.
func TestGateFactsOfARunWithoutGates(t *testing.T) {
	state, root := t.TempDir(), t.TempDir()
	check(t, ledger.Open(state, root).Update(t.Context(), func(s *ledger.State) error { s.Look = &ledger.Look{}; return nil }))
	if diff := cmp.Diff(GateFacts{}, gateFacts(state, root, midday)); diff != "" {
		t.Error(diff)
	}
}

func TestNewestPassIsTold(t *testing.T) {
	const passes = 9
	state, root := t.TempDir(), t.TempDir()
	check(t, ledger.Open(state, root).Update(t.Context(), func(s *ledger.State) error {
		for i := range passes {
			s.Record(ledger.Run{Now: midday.Add(time.Duration(i) * time.Minute), Tree: "t", MaxRetries: 3, Gates: []ledger.GateRun{
				{Job: "check:.:test", Kind: "check", Result: ledger.Passed, Key: strings.Repeat("k", i+1)},
			}})
		}
		return nil
	}))
	want := GateFacts{Passes: passes, Passed: midday.Add((passes - 1) * time.Minute)}
	if diff := cmp.Diff(want, gateFacts(state, root, midday.Add(time.Hour))); diff != "" {
		t.Error(diff)
	}
}
