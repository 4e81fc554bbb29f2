package trust

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Deleting the global config, or calling without a home, takes no approval's force.
func TestE18TrustWithoutAGlobalConfig(t *testing.T) {
	_, root := project(t)
	state := t.TempDir()
	missing := filepath.Join(t.TempDir(), "config.yml")
	for _, path := range []string{"", missing} {
		if global, err := LoadGlobal(path, state); err != nil || global.Enforces() {
			t.Errorf("%q, nothing approved: %v, %v", path, global.Trust, err)
		}
	}
	check(t, NewStore(state).Approve(root, time.Now()))
	for _, path := range []string{"", missing} {
		if global, err := LoadGlobal(path, state); err != nil || !global.Enforces() {
			t.Errorf("%q, approved: %v, %v", path, global.Trust, err)
		}
	}
	check(t, os.MkdirAll(filepath.Join(state, "trust", asideDir, "key"), 0o700)) // as a restore leaves it
	check(t, os.Remove(filepath.Join(NewStore(state).folder(keys(root)[0]), approvalFile)))
	if global, err := LoadGlobal(missing, state); err != nil || !global.Enforces() {
		t.Errorf("with a spare: %v, %v", global.Trust, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	if global, err := LoadGlobal(missing, file); err != nil || global.Enforces() {
		t.Errorf("a file in the place of the state directory: %v, %v", global.Trust, err)
	}
	off := filepath.Join(t.TempDir(), "config.yml")
	check(t, os.WriteFile(off, []byte("trust: \"off\"\n"), 0o600))
	if global, err := LoadGlobal(off, state); err != nil || global.Enforces() {
		t.Errorf("a person says off: %v, %v", global.Trust, err)
	}
	check(t, NewStore(state).Revoke(root))
	if global, err := LoadGlobal(missing, state); err != nil || global.Enforces() {
		t.Errorf("after the last approval was taken back: %v, %v", global.Trust, err)
	}
}
