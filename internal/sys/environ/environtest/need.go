package environtest

import (
	"os"
	"os/exec"
	"testing"
)

// Need is where a program is that a test starts. On a machine without it the test ends as Missing
// says.
func Need(t testing.TB, program string) (path string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		Missing(t, program, err)
	}
	return path
}

// Missing ends a test that cannot run on this machine. A developer sees it skipped; where all tests
// must run, as in CI, it fails.
func Missing(t testing.TB, what string, err error) {
	t.Helper()
	end := t.Skipf
	if Required() {
		end = t.Fatalf
	}
	end("no %s (%v): run scripts/setup-tests", what, err)
}

// Required reports whether all tests must run: make test sets STOPGATE_TESTS=require.
func Required() bool { return os.Getenv("STOPGATE_TESTS") == "require" }
