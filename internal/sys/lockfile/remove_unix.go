//go:build unix

package lockfile

import "os"

// Remove removes the file of a lock that the caller holds, and frees the lock. Those that have opened
// the file notice that it is no longer the one to take.
func Remove(path string, release func()) error {
	defer release()
	return os.Remove(path)
}

// beingRemoved reports whether a file cannot be opened because another process removes it. Unix opens
// it all the same.
func beingRemoved(error) bool { return false }
