//go:build unix

package daemon

import (
	"fmt"
	"os"
	"syscall"
)

// onlyOwners refuses a file that others than its owner can read, or that is another user's.
func onlyOwners(path string, info os.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (%d)", path, stat.Uid)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("other users can read %s: run chmod 600 on it", path)
	}
	return nil
}

// private refuses a directory in which others can put files in the place of ours.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (%d)", dir, stat.Uid)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("other users can write to %s: run chmod 700 on it, or set STOPGATE_STATE_DIR to a directory that you own", dir)
	}
	return nil
}
