//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestRootLeavesFilesToTheirOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const somebody, group = 12345, 54321
	home := t.TempDir()
	if err := os.Chown(home, somebody, group); err != nil {
		t.Fatal(err)
	}
	theirs, ours := filepath.Join(home, "theirs"), filepath.Join(home, "ours")
	if err := os.WriteFile(ours, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, uid := range map[string]uint32{theirs: somebody, ours: 0} {
		for range 2 {
			if err := Write(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Sys().(*syscall.Stat_t).Uid; got != uid {
				t.Errorf("%s belongs to %d, want %d", filepath.Base(path), got, uid)
			}
		}
	}
}
