//go:build unix

package jsonfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A fifo without a writer would block whoever opens it.
func TestAFifoIsRefused(t *testing.T) {
	path := testFile(t)
	os.Mkdir(filepath.Dir(path), 0o755)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, read := Read(path)
	_, edit := Edit(path, func(*Document) error { return nil })
	for name, err := range map[string]error{"read": read, "edit": edit} {
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
