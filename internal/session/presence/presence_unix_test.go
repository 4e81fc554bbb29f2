//go:build unix

package presence

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreTheOwners(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	b := NewBook(state)
	check(t, b.Store(Instance{Socket: "/s", PID: 1, Pane: "%1"}))
	for path, want := range map[string]os.FileMode{b.path("/s", 1, "%1"): 0o600, filepath.Join(state, "presence"): 0o700} {
		info, err := os.Stat(path)
		check(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
}
