//go:build linux

package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// use does with an installed program what a user does on the first day: look at the version, set up a fresh
// project, and have doctor prove that a stop is blocked. It puts all of that back in the end.
func use(t *testing.T, bin, wantVersion string) {
	t.Helper()
	environtest.Need(t, "git")
	home, project := t.TempDir(), t.TempDir()
	in := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir = project
		cmd.Env = append(os.Environ(), "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"), "CLAUDE_BIN="+home+"/none")
		return cmd
	}
	stopgate := filepath.Join(bin, "stopgate")

	if out := say(t, in(stopgate, "version")); !strings.HasPrefix(out, "stopgate "+wantVersion+" (") {
		t.Errorf("stopgate version says %q, want %s", out, wantVersion)
	}
	say(t, in("git", "init", "-q"))
	say(t, in(stopgate, "init", "--yes", "--check", "true"))
	if out := say(t, in(stopgate, "doctor")); !strings.HasSuffix(out, "\nenforcement is live\n") {
		t.Errorf("stopgate doctor says:\n%s", out)
	}
	// stopgated is found beside stopgate.
	if out := say(t, in(stopgate, "runbook", "check")); strings.Contains(out, "not found") {
		t.Errorf("stopgate runbook check says:\n%s", out)
	}

	say(t, in(stopgate, "uninstall", "--purge", "--yes"))
	if left := left(t, home); len(left) > 0 {
		t.Errorf("left in the home directory: %q", left)
	}
}
