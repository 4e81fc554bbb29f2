package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// own lists the files in the directory that have one of our names.
func (d Dir) own() (files []string) {
	for _, pattern := range []string{statePrefix + "*" + stateSuffix, statePrefix + "*" + outputSuffix, lockPrefix + "*" + lockSuffix, logName, logName + ".*"} {
		found, _ := filepath.Glob(filepath.Join(d.path, pattern)) // the pattern is well formed
		files = slices.Concat(files, found)
	}
	return files
}

// Exists reports whether there is a directory that is empty or has something of ours in it.
func (d Dir) Exists() bool {
	entries, err := os.ReadDir(d.path)
	return err == nil && (len(entries) == 0 || len(d.own()) > 0)
}

// Remove removes what the supervisor keeps, and the directory when nothing else is in it.
func (d Dir) Remove() (failed error) {
	for _, file := range d.own() {
		failed = errors.Join(failed, os.Remove(file))
	}
	_ = os.Remove(d.path) // fails if it holds other files
	return failed
}
