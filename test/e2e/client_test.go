//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// clientBinary is the client to test with.
func clientBinary(t testing.TB) string {
	t.Helper()
	path := os.Getenv("CLAUDE_BIN")
	if path == "" {
		path = installedClient()
	}
	path, err := filepath.Abs(path)
	check(t, err)
	if _, err := exec.LookPath(path); err != nil {
		environtest.Missing(t, "Claude Code client", err)
	}
	return path
}

// installedClient is where npm puts the native program for this platform.
func installedClient() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	platform := runtime.GOOS + "-" + arch
	if musl, _ := filepath.Glob("/lib/ld-musl-*"); len(musl) > 0 {
		platform += "-musl"
	}
	return filepath.Join("..", "client", "node_modules", "@anthropic-ai", "claude-code-"+platform, "claude")
}
