//go:build unix

package gauntlet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

// scene is a project in a repository of its own, on a branch with a base.
type scene struct {
	t     *testing.T
	root  string
	state string
	env   []string
	now   time.Time
}

func newScene(t *testing.T, config string) *scene {
	t.Helper()
	home := t.TempDir()
	s := &scene{
		t:     t,
		root:  t.TempDir(),
		state: t.TempDir(),
		env: []string{
			"PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		},
		now: time.Now(),
	}
	s.git("init", "-q", "-b", "main", "--template=")
	s.write(".git/info/exclude", "")
	s.write(".gauntlet/config.yml", config)
	s.write("base.txt", "base\n")
	s.commit()
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.git("checkout", "-q", "-b", "work")
	return s
}

func (s *scene) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.root, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *scene) commit() {
	s.t.Helper()
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", "c")
}

func (s *scene) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

func (s *scene) write(name, text string) {
	s.t.Helper()
	must(s.t, os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	must(s.t, os.WriteFile(s.path(name), []byte(text), 0o644))
}

// program puts a script on the PATH.
func (s *scene) program(name, script string) {
	s.t.Helper()
	home := strings.TrimPrefix(s.env[1], "HOME=")
	path := filepath.Join(home, "bin", name)
	must(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	environtest.Program(s.t, path, "#!/bin/sh\n"+script)
}

func (s *scene) project() *keeper.Project {
	s.t.Helper()
	dir := s.path(".gauntlet")
	cfg, err := config.LoadProject(dir, dir)
	must(s.t, err)
	gates, err := config.LoadGates(dir, dir, cfg)
	must(s.t, err)
	return &keeper.Project{Root: s.root, Config: cfg, Gates: gates, ConfigDir: dir}
}

// options are those of a run that answers a stop.
func (s *scene) options() Options {
	return Options{Project: s.project(), Global: &config.Global{}, StateDir: s.state, Environ: s.env, Now: func() time.Time { return s.now }, Answers: true}
}

func (s *scene) run() Result {
	s.t.Helper()
	return Execute(s.t.Context(), s.options())
}

func (s *scene) want(status Status, parts ...string) Result {
	s.t.Helper()
	r := s.run()
	wantResult(s.t, r, status, parts...)
	return r
}

func wantResult(t *testing.T, r Result, status Status, parts ...string) {
	t.Helper()
	if r.Status != status {
		t.Fatalf("status %s (%s), want %s: %+v", r.Status, r.Message, status, r.Gates)
	}
	for _, part := range parts {
		if !strings.Contains(r.Message, part) {
			t.Errorf("the message is %q, want %q in it", r.Message, part)
		}
	}
}

func (s *scene) ledger() ledger.State {
	s.t.Helper()
	state, err := ledger.Open(s.state, s.root).Read()
	must(s.t, err)
	return state
}

// took is a job that has ended after some time before.
func (s *scene) took(job string, in time.Duration) {
	s.t.Helper()
	must(s.t, ledger.OpenHistory(s.state, s.root).Add(s.t.Context(), ledger.Finishes{job: {In: in}}))
}

// counter is a command that counts its runs, outside the tree, and the count.
func (s *scene) counter() (command string, count func() int) {
	file := filepath.Join(s.state, "runs")
	return "echo x >>" + file, func() int {
		text, _ := os.ReadFile(file)
		return strings.Count(string(text), "x")
	}
}
