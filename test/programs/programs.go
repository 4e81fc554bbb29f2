// Package programs builds the programs that people get, for tests.
package programs

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// Build puts stopgate and stopgated into a directory, and other commands of this module, which
// are named by their directories.
func Build(dir string, others ...string) error {
	shared, err := linked()
	if err != nil {
		return err
	}
	for _, name := range []string{"stopgate", "stopgated"} {
		if err := give(filepath.Join(shared, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return buildOthers(dir, others)
}

// give makes a program appear under another name, on another file system as a copy.
func give(program, name string) error {
	err := os.Link(program, name)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o755)
}

func buildOthers(dir string, others []string) error {
	if len(others) == 0 {
		return nil
	}
	return build(dir, nil, others...)
}

// linked is the directory of stopgate and stopgated that all tests of a working tree share. Go
// links again only what has changed: that takes longer than most tests.
var linked = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(root))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("stopgate-programs-%d-%x", os.Getuid(), hash.Sum32()))

	release, err := lockfile.Acquire(context.Background(), filepath.Join(dir, "lock"), 10*time.Minute)
	if err != nil {
		return "", err
	}
	defer release()
	return dir, build(dir, nil, "cmd/stopgate", "cmd/stopgated")
})

func build(dir string, flags []string, packages ...string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	args := append([]string{"build", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}, flags...)
	for _, name := range packages {
		args = append(args, "./"+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
