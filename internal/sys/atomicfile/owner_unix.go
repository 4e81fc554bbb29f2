//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
)

// keepOwner gives the new file to whom the old one belongs or, where there is none, to
// whom its directory does. Only root can, and only root must: by sudo, with the home
// of the person, it would lock them out of their own files.
func keepOwner(file *os.File, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		if info, err = os.Stat(filepath.Dir(path)); err != nil {
			return err
		}
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return nil
	}
	return file.Chown(int(stat.Uid), int(stat.Gid))
}
