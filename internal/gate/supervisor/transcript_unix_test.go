//go:build unix

package supervisor

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe would wait for somebody to write to it.
func TestAskedOfAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(path, 0o600))
	if got, err := Asked(path, 5); err == nil {
		t.Errorf("got %q", got)
	}
}
