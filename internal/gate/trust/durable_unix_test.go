//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

// What a person approved is approved after a loss of power, with its files.
func TestApprovalsAreDurable(t *testing.T) {
	root, store := t.TempDir(), NewStore(t.TempDir())
	for name, text := range map[string]string{"config.yml": "hooks: {}\n", "x.sh": "exit 0\n"} {
		path := filepath.Join(root, ".gauntlet", name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	steps := atomicfiletest.Watch(t)
	check(t, store.Approve(root, time.Now()))
	folders, err := filepath.Glob(filepath.Join(store.dir, "*"))
	check(t, err)
	var found bool
	for _, folder := range folders {
		path := filepath.Join(folder, approvalFile)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		found = true
		steps.WantReplaced(t, path)
		steps.WantReplaced(t, filepath.Join(folder, spareFile))
	}
	if !found {
		t.Errorf("no approval in %q", folders)
	}
	steps.WantSynced(t, filepath.Join(store.dir, "*", ".copy-*", ".stopgate-*"))
}
