//go:build unix

package web

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// stage is a home, a project in it and a daemon.
type stage struct {
	t    *testing.T
	home string
	root string // of the project
	*daemonapi.Client

	state string
}

// newStage makes a stage with a runbook. The daemon starts with the first command that needs it.
func newStage(t *testing.T, runbook string) *stage {
	t.Helper()
	state, err := os.MkdirTemp("", "s") // a socket's path is short
	check(t, err)
	s := &stage{t: t, home: t.TempDir(), state: state, Client: daemonapi.New(daemonapi.Socket(state), "test")}
	s.root = filepath.Join(s.home, "shop")
	check(t, os.MkdirAll(s.root, 0o755))
	if runbook != "" {
		checktest.Write(t, filepath.Join(s.root, ".gauntlet", "config.yml"), "hooks: {}\n")
		checktest.Write(t, filepath.Join(s.root, ".gauntlet", "runbooks", "work.toml"), runbook)
	}
	t.Cleanup(func() {
		s.run("daemon", "stop", "--kill")
		_ = os.RemoveAll(state)
	})
	return s
}

// environ is that of commands on the stage.
func (s *stage) environ() []string {
	return []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "STOPGATE_STATE_DIR=" + s.state, "LANG=C.UTF-8"}
}

// run runs a command of stopgate in the project, which must succeed.
func (s *stage) run(args ...string) (out string) {
	s.t.Helper()
	cmd := exec.Command(stopgate, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.root, s.environ(), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("stopgate %q: %v\n%s", args, err, stderr.String())
	}
	return stdout.String()
}

// start starts a command of the runbook.
func (s *stage) start(args ...string) (o daemonapi.Owner) {
	s.t.Helper()
	check(s.t, json.Unmarshal([]byte(s.run(append([]string{"start", "--json"}, args...)...)), &o))
	return o
}

// waits waits until an owner has come so far.
func (s *stage) waits(id, status string) (o daemonapi.Owner) {
	s.t.Helper()
	eventually(s.t, id+" is "+status, func() bool {
		found, err := s.Owner(s.t.Context(), id)
		check(s.t, err)
		o = found
		return o.Status == status
	})
	return o
}

// ui is what stopgate ui answers.
func (s *stage) ui(args ...string) (ui daemonapi.UI) {
	s.t.Helper()
	check(s.t, json.Unmarshal([]byte(s.run(append([]string{"ui", "--yes", "--json"}, args...)...)), &ui))
	return ui
}
