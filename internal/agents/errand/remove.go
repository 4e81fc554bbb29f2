package errand

import (
	"errors"
	"io/fs"
	"os"
)

// Runs reports whether the errand runs now, or is about to.
func Runs(dir string) bool {
	lock, err := directory(dir).openLock(0)
	if err != nil {
		return false
	}
	defer lock.Close()
	return errors.Is(tryShare(lock), errBusy)
}

// Remove removes the directory of an errand that does not run.
func Remove(dir string) (removed bool, err error) {
	lock, err := directory(dir).take()
	switch {
	case errors.Is(err, errBusy):
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	}
	defer lock.Close()
	return true, os.RemoveAll(dir)
}
