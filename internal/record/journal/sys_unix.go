//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"
)

func truncate(f *os.File, size int64) error { return f.Truncate(size) }

// diskFull includes a quota and a limit on the size of files.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
