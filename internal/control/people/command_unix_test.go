//go:build unix

package people

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

func commandScene(t *testing.T, command string) *scene {
	t.Helper()
	s := newScene(t, general(config.Ways{Command: command}))
	s.opts.Environ = []string{"PATH=" + os.Getenv("PATH"), "GIVEN=given"}
	return s
}

func TestCommand(t *testing.T) {
	s := commandScene(t, "f() { printf '%s|%s' \"$GIVEN\" \"$1\"; }; f\n")
	m := decided
	m.Text = `$(touch x) "`
	check(t, s.Notify(t.Context(), m))
	got, err := os.ReadFile(filepath.Join(s.opts.StateDir, "logs", "notify.log"))
	check(t, err)
	const want = "given|Agent needs attention: fix\n$(touch x) \"\nAnswer with: stopgate decision answer d-1 …\nProject: /p"
	if string(got) != want {
		t.Errorf("it got %q", got)
	}
	s.want(t)
}

func TestCommandThatFails(t *testing.T) {
	s := commandScene(t, "exit 3; true")
	if err := s.Notify(t.Context(), decided); err == nil || err.Error() != "command: exit status 3: see logs/notify.log" {
		t.Errorf("it says %v", err)
	}
	s.want(t, "command: exit status 3: see logs/notify.log")
}

func TestCommandWithoutPlaceForItsLog(t *testing.T) {
	s := commandScene(t, "true")
	s.opts.StateDir = filepath.Join(s.opts.StateDir, "file")
	check(t, os.WriteFile(s.opts.StateDir, nil, 0o600))
	if s.Notify(t.Context(), decided) == nil {
		t.Error("want an error")
	}
}

// A command that takes its time has the message, and goes on.
func TestCommandThatGoesOn(t *testing.T) {
	dir := t.TempDir()
	begun, gate, ended := filepath.Join(dir, "begun"), filepath.Join(dir, "gate"), filepath.Join(dir, "ended")
	s := commandScene(t, "touch '"+begun+"'; while ! test -e '"+gate+"'; do sleep 0.02; done; touch '"+ended+"'; true")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitFor(t, begun)
		cancel() // as the end of our patience is
	}()
	if err := s.command(ctx, s.ways.Command, decided); err != nil {
		t.Error(err)
	}
	check(t, os.WriteFile(gate, nil, 0o600))
	waitFor(t, ended)
}

func waitFor(t testing.TB, path string) {
	t.Helper()
	checktest.Eventually(t, path, func() bool { return checktest.Exists(path) })
}
