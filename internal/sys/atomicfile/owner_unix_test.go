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
	check(t, os.Chown(home, somebody, group))
	theirs, ours := filepath.Join(home, "theirs"), filepath.Join(home, "ours")
	check(t, os.WriteFile(ours, nil, 0o600))
	for path, uid := range map[string]uint32{theirs: somebody, ours: 0} {
		for range 2 {
			check(t, Write(path, []byte("x"), 0o600))
			info, err := os.Stat(path)
			check(t, err)
			if got := info.Sys().(*syscall.Stat_t); got.Uid != uid || (got.Gid == group) != (uid == somebody) {
				t.Errorf("%s belongs to %d:%d, want %d", filepath.Base(path), got.Uid, got.Gid, uid)
			}
		}
	}
}
