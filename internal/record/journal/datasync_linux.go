package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// datasync leaves out the modification time, which fsync would write as well.
func datasync(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
