// Package disk asks the file system short questions. What is missing is an answer here, not an error.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Exists reports whether there is something at a path, even a link that leads nowhere.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IsDir reports whether a path leads to a directory, also through links.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// IsRegular reports whether a path leads to a regular file, also through links.
func IsRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Same reports whether two paths lead to the same file.
func Same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// List is os.ReadDir; a missing directory is empty.
func List(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) && !IsRegular(dir) { // Windows does not find a file as a directory
		return nil, nil
	}
	return entries, err
}

// Remove is os.Remove; a missing file is removed already.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Prune removes the files in a directory that were last written before a moment, but for those to
// keep. What cannot be removed stays for the next call.
func Prune(dir string, before time.Time, keep func(name string) bool) {
	entries, _ := os.ReadDir(dir) // there need not be any
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) && !keep(entry.Name()) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}
