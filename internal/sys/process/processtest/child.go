// Package processtest makes a test binary every other process that its tests need.
package processtest

import (
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// childEnv names what the test binary shall do instead of testing.
const childEnv = "STOPGATE_TEST_CHILD"

// Main is a TestMain: it runs the tests, and fails when they leave a goroutine
// behind; or it is one of the children.
func Main(m *testing.M, children map[string]func(args []string) error) {
	if Run(children) {
		return
	}
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

// Run is one of the children, if the test binary was started as one.
func Run(children map[string]func(args []string) error) bool {
	name := os.Getenv(childEnv)
	if name == "" {
		return false
	}
	if err := children[name](os.Args[1:]); err != nil {
		panic(err)
	}
	return true
}

// Child is the test binary as one of the children, not yet started.
func Child(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	checktest.OK(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}
