//go:build unix

package logdir

import (
	"os"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// createFile makes a file that was not there.
func createFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// openFile opens a file for reading: no link's target, and without waiting for
// the other end of a pipe. Over NFS an exclusive lock takes a file that is open for
// writing.
func openFile(path string, exclusive bool) (*os.File, error) {
	mode := os.O_RDONLY
	if exclusive {
		mode = os.O_RDWR
	}
	return regular.OpenFile(path, mode, 0)
}

// appendFile opens a file to append to, likewise.
func appendFile(path string) (*os.File, error) {
	return regular.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// tryLock takes the lock on f unless another process has it. The kernel gives it back when f is closed, at the latest when the
// process ends.
func tryLock(f *os.File, exclusive bool) (bool, error) { return lockfile.Try(f, exclusive) }

// takeOver puts the file aside into the place of an abandoned one. Another process that wants to do so
// needs the lock on the old file, which we have, until the new one is in its place.
func takeOver(left *os.File, aside string) error {
	defer left.Close()
	return os.Rename(aside, left.Name())
}
