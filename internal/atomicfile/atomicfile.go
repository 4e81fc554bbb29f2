// Package atomicfile replaces files so that a reader sees either the old content or
// the new, never a mixture.
package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write replaces the file at path with data. The content is durable when Write
// returns: temporary file in the same directory, fsync, rename, fsync of the
// directory. Missing parent directories are made with mode 0700. What root writes
// into somebody's home stays theirs.
func Write(path string, data []byte, perm os.FileMode) error {
	if err := replace(path, data, perm, true); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Replace is Write without the syncs, for what can be made again: a machine that
// loses power may leave it old, empty or damaged.
func Replace(path string, data []byte, perm os.FileMode) error {
	return replace(path, data, perm, false)
}

func replace(path string, data []byte, perm os.FileMode, durable bool) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// Not named after path, whose name may be as long as a name can be.
	tmp, err := os.CreateTemp(dir, ".stopgate-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close() // what went wrong first is what matters
			_ = os.Remove(tmp.Name())
		}
	}()
	if err := tmp.Chmod(perm); err != nil && !chmodUnsupported {
		return err
	}
	if err := keepOwner(tmp, path); err != nil {
		return err
	}
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if durable {
		if err := tmp.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", tmp.Name(), err)
		}
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
