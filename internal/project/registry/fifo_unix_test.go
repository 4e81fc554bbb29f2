//go:build unix

package registry

import (
	"strings"
	"syscall"
	"testing"
)

func TestLoadDoesNotWaitForAFifo(t *testing.T) {
	path := Path(t.TempDir())
	check(t, syscall.Mkfifo(path, 0o600))
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}
