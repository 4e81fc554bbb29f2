// Package atomicfile replaces files so that a reader sees either the old content or
// the new, never a mixture.
package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/internal/step"
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

// Exchange is Write that does not wait for the directory: a machine that loses power
// has the old content or the new, and no other.
func Exchange(path string, data []byte, perm os.FileMode) error {
	return replace(path, data, perm, true)
}

// Replace is Write without the syncs, for what can be made again: a machine that
// loses power may leave it old, empty or full of zeros, as ext4 does.
func Replace(path string, data []byte, perm os.FileMode) error {
	return replace(path, data, perm, false)
}

// Renew is Replace for a file that may be missing for a moment: it removes the old one first. ext4
// flushes a file that replaces another, which takes a millisecond and more.
func Renew(path string, data []byte, perm os.FileMode) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		_ = os.Remove(path) // else it is replaced
	}
	return Replace(path, data, perm)
}

func replace(path string, data []byte, perm os.FileMode, synced bool) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	// Not named after path, whose name may be as long as a name can be.
	tmp, err := os.CreateTemp(dir, temporaryPattern)
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
	if synced {
		if err := Sync(tmp); err != nil {
			return err
		}
	}

	if err := tmp.Close(); err != nil {
		return err
	}
	if err := rename(tmp.Name(), path); err != nil {
		return err
	}
	step.Done(step.Step{Kind: step.Renamed, Path: path, From: tmp.Name()})
	return nil
}

// temporaryPattern is the name of a file that is not in its place yet.
const temporaryPattern = ".stopgate-*"

// Temporary lists the files in a directory that a write has not moved to their place yet. One that was killed
// leaves its file behind.
func Temporary(dir string) (paths []string) {
	names, _ := fs.Glob(os.DirFS(dir), temporaryPattern) // the pattern is sound, and what cannot be read is not there
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// Sync makes durable what was written to a file that is not replaced as a whole.
func Sync(file *os.File) error {
	if err := file.Sync(); err != nil {
		return err
	}
	step.Done(step.Step{Kind: step.Synced, Path: file.Name()})
	return nil
}
