package supervisor

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// looked is a session in a repository, which is a project too.
func looked(t *testing.T) (*gittest.Repo, *session) {
	t.Helper()
	repo := gittest.New(t)
	repo.Write("a.go", "package a\n", ".gitignore", "ignored\n", "logs/console.1.log", "1\n")
	repo.Commit("begin")
	s := &session{
		Stop: Stop{
			Payload: &hook.StopPayload{
				Base:                 hook.Base{SessionID: someSession, PromptID: "p1", CWD: repo.Dir, TranscriptPath: recorded(t, user(t, "write it"))},
				LastAssistantMessage: "It is written.",
			},
			Project: &keeper.Project{Root: repo.Dir, Config: &config.Project{}},
			Environ: repo.Env,
			Reuse:   true,
		},
		stateDir: t.TempDir(),
		now:      time.Now,
	}
	s.Project.Config.Gauntlet.LogDir = "logs"
	return repo, s
}

func TestIdentity(t *testing.T) {
	for name, tt := range map[string]struct {
		change             func(r *gittest.Repo, s *session)
		tree, conversation bool // whether it is another then
	}{
		"nothing":            {func(*gittest.Repo, *session) {}, false, false},
		"an ignored file":    {func(r *gittest.Repo, _ *session) { r.Write("ignored", "x") }, false, false},
		"a log of the gates": {func(r *gittest.Repo, _ *session) { r.Write("logs/console.2.log", "2") }, false, false},
		"a commit":           {func(r *gittest.Repo, _ *session) { r.Git("commit", "--quiet", "--allow-empty", "-m", "x") }, false, false},
		"a file":             {func(r *gittest.Repo, _ *session) { r.Write("a.go", "package b\n") }, true, false},
		"an untracked file":  {func(r *gittest.Repo, _ *session) { r.Write("b.go", "") }, true, false},
		"a clone within":     {func(r *gittest.Repo, _ *session) { r.Git("init", "--quiet", "inner"); r.Write("inner/x", "") }, true, false},
		"a file is gone":     {func(r *gittest.Repo, _ *session) { r.Remove("a.go") }, true, false},
		"git is gone":        {func(r *gittest.Repo, _ *session) { check(t, os.RemoveAll(r.Path(".git"))) }, false, false}, // the files are the same
		"the session":        {func(_ *gittest.Repo, s *session) { s.Payload.SessionID = "x" }, false, true},
		"the prompt":         {func(_ *gittest.Repo, s *session) { s.Payload.PromptID = "p2" }, false, true},
		"the last message":   {func(_ *gittest.Repo, s *session) { s.Payload.LastAssistantMessage = "" }, false, true},
		"work goes on": {func(_ *gittest.Repo, s *session) {
			s.Payload.BackgroundTasks = []json.RawMessage{json.RawMessage("{}")}
		}, false, true},
		"the transcript":      {func(_ *gittest.Repo, s *session) { s.Payload.TranscriptPath = recorded(t, user(t, "write that")) }, false, true},
		"no transcript":       {func(_ *gittest.Repo, s *session) { s.Payload.TranscriptPath = "" }, false, true},
		"it is no project":    {func(_ *gittest.Repo, s *session) { s.Project = nil }, true, false}, // the logs count then
		"the flag of a block": {func(_ *gittest.Repo, s *session) { s.Payload.StopHookActive = true }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			repo, s := looked(t)
			before := s.identity(t.Context())
			if !before.known() {
				t.Fatalf("not known: %+v", before)
			}
			tt.change(repo, s)
			after := s.identity(t.Context())
			if !after.known() || (after.tree != before.tree) != tt.tree || (after.conversation != before.conversation) != tt.conversation {
				t.Errorf("before %+v, after %+v", before, after)
			}
		})
	}
}

// What cannot be told exactly is not known, and never the same as anything.
func TestIdentityThatIsNotKnown(t *testing.T) {
	for name, change := range map[string]func(r *gittest.Repo, s *session){
		"not asked for":                    func(_ *gittest.Repo, s *session) { s.Reuse = false },
		"no git":                           func(_ *gittest.Repo, s *session) { s.Environ = []string{"PATH="} },
		"a damaged index":                  func(r *gittest.Repo, _ *session) { r.Write(".git/index", "junk") },
		"a transcript that cannot be read": func(_ *gittest.Repo, s *session) { s.Payload.TranscriptPath = t.TempDir() },
		"no place at all": func(_ *gittest.Repo, s *session) {
			s.Project = nil
			s.Payload.CWD = t.TempDir()
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo, s := looked(t)
			change(repo, s)
			if got := s.identity(t.Context()); got.known() {
				t.Errorf("known: %+v", got)
			}
		})
	}
	for _, i := range []identity{{}, {tree: "t"}, {conversation: "c"}} {
		if i.known() {
			t.Errorf("%+v is known", i)
		}
	}
}
