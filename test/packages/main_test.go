//go:build linux

// Package packages installs what users install, each in its own way, uses it, and removes it again.
//
// packaging/release makes the packages for this machine alone; make packages makes all of them.
package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

const (
	repository = "../.."
	// version has a part that a deb and an rpm spell in another way.
	version = "1.2.3-rc.1"
)

// dist is where the packages are.
var dist string

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stopgate-dist-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	dist = dir
	return m.Run()
}

// release makes the packages, once for all tests.
var release = sync.OnceValue(func() error { return releaseTo(dist) })

func releaseTo(dir string) error {
	cmd := exec.Command("go", "run", "./packaging/release", "-version", "v"+version, "-commit", "0123456789abcdef",
		"-date", "1790000000", "-platforms", "linux/"+runtime.GOARCH, dir)
	cmd.Dir = repository
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// packaged is the one file that a release has by this name, in which * is anything.
func packaged(t *testing.T, pattern string) string {
	t.Helper()
	check(t, release())
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	check(t, err)
	if len(found) != 1 {
		t.Fatalf("%s is %v", pattern, found)
	}
	return found[0]
}

// say runs a command and gives what it prints. The test ends if it fails.
func say(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// left are the files below a directory, and the directories that are called after stopgate. The others are the
// system's or the user's, also where an installation made them.
func left(t *testing.T, root string) []string {
	t.Helper()
	out := say(t, exec.Command("find", root, "-mindepth", "1", "(", "!", "-type", "d", "-o", "-name", "*stopgate*", ")", "-printf", `%P\n`))
	return strings.Fields(out)
}
