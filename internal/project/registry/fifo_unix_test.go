//go:build unix

package registry

import (
	"strings"
	"syscall"
	"testing"
)

func TestLoadDoesNotWaitForAFifo(t *testing.T) {
	path := Path(t.TempDir())
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}
