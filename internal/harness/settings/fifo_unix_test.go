//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

// A fifo without a writer would block whoever opens it.
func TestAFifoIsAnError(t *testing.T) {
	path := settingsPath(t)
	os.Mkdir(filepath.Dir(path), 0o755)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Install(path, []Entry{entry(hook.Stop)}); err == nil {
		t.Error("installed into a fifo")
	}
	if _, err := Uninstall(path); err == nil {
		t.Error("uninstalled from a fifo")
	}
	root := filepath.Dir(filepath.Dir(path))
	for _, f := range Inspect(root) {
		if f.Path == path && f.Err == nil {
			t.Error("inspect found nothing wrong")
		}
	}
	if got := Timeout(hook.Stop, 0, root); got != DefaultTimeout(hook.Stop) {
		t.Errorf("timeout = %v", got)
	}
}
