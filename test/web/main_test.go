//go:build unix

// Package web looks at the web page as people do: in a real browser, with the real programs behind it.
//
// A test makes a stage (a home, a project, a daemon), opens the browser at a width, light or dark, and
// signs in by the link that stopgate ui prints. Nothing waits for a fixed time. scripts/setup-tests
// installs the browser and axe-core.
//
//	go test ./test/web -artifacts -outputdir DIR
//
// keeps the screenshots, in DIR/_artifacts.
package web

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
)

var (
	check      = checktest.OK
	eventually = checktest.Eventually
)

// stopgate is the program, beside stopgated.
var stopgate string

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stopgate-bin-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = programs.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stopgate = filepath.Join(dir, "stopgate")
	return m.Run()
}
