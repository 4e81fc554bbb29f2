//go:build unix

package daemon

import (
	"os"
	"syscall"
)

// room is how many bytes a directory's disk still takes from us.
func room(dir string) (uint64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, err
	}
	blocks := uint64(disk.Bavail)
	if os.Geteuid() == 0 {
		blocks = uint64(disk.Bfree) // with what is kept for root
	}
	return blocks * uint64(disk.Bsize), nil
}
