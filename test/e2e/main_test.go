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
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
)

var (
	check   = checktest.OK
	inOrder = checktest.InOrder
)

// bin is the directory of the built commands, first on every bench's PATH.
var bin string

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
	if err := programs.Build(dir, "test/e2e/recorder"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	bin = dir
	return m.Run()
}
