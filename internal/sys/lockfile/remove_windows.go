package lockfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Remove frees a lock that the caller holds, and removes its file: a file that is open cannot be
// removed here. So it stays where another process has opened it meanwhile.
func Remove(path string, release func()) error {
	release()
	err := os.Remove(path)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// beingRemoved reports whether a file cannot be opened because another process removes it.
func beingRemoved(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }
