//go:build unix

// Package e2e drives the real Claude Code client against a fake model API: what the client does
// with hooks is the one thing here that no unit test can know. scripts/setup-tests
// installs the client; CLAUDE_BIN runs the same tests with another version of it.
//
// A test makes a bench (a home, a project, an API), starts the client headless or in a terminal,
// and waits for hook payloads, which a recorder saves. Nothing waits for a fixed time or for
// words on the screen.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/environ/environtest"
)

// programs is the directory of the built commands, first on every bench's PATH.
var programs string

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stopgate-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	return m.Run()
}

var builds sync.Map // package → func() error, which builds it once

// build puts a command of this module, named by its directory, on the PATH of all benches.
func build(t testing.TB, dir string) (path string) {
	t.Helper()
	path = filepath.Join(programs, filepath.Base(dir))
	once, _ := builds.LoadOrStore(dir, sync.OnceValue(func() error {
		cmd := exec.Command("go", "build", "-o", path, "./"+dir)
		cmd.Dir = filepath.Join("..", "..")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatalf("building %s: %v", dir, err)
	}
	return path
}
