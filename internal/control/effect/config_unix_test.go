//go:build unix

package effect

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// The runner is the first process of an agent. It keeps what it finds when it begins.
func TestTheConfigIsThereBeforeTheAgent(t *testing.T) {
	const id = "0b5e7b5c-5a0d-5f3a-9b1e-2f6d1c8e4a77"
	e := newErrands(t, t.TempDir())
	runner := filepath.Join(t.TempDir(), "runner")
	config, found := filepath.Join(e.StateDir, "agents", id, "config.json"), filepath.Join(t.TempDir(), "found")
	check(t, os.WriteFile(runner, fmt.Appendf(nil, "#!/bin/sh\ncat '%s' >'%s' 2>&1\nexec '%s' \"$@\"\n", config, found, e.Program), 0o755))
	e.Program = runner
	a := e.Agents()
	check(t, a.Start(t.Context(), owner, engine.AgentStart{ID: id, Name: "worker", OnStop: runbook.StopIdle, Cwd: t.TempDir(), Step: "work", Run: "true"}))
	if got := content(t, found); got != `{"on_stop":"idle"}` {
		t.Errorf("found %q", got)
	}
	if _, err := a.Wait(t.Context(), id); err != nil {
		t.Error(err)
	}
}
