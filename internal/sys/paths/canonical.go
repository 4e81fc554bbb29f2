package paths

import "path/filepath"

// Canonical is one path for a directory, however it is reached. Of one that does not exist it is the
// path as it is written.
func Canonical(dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return filepath.Clean(dir)
}
