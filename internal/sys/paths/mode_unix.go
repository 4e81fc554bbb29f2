//go:build unix

package paths

import "os"

func worldWritable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o002 != 0
}

// scratch reports whether dir is shared by all users, as /tmp is. The sticky bit
// tells it from a mounted foreign file system, where every directory may look
// world-writable.
func scratch(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&os.ModeSticky != 0 && info.Mode().Perm()&0o002 != 0
}
