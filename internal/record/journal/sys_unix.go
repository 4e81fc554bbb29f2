//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func truncate(f *os.File, size int64) error { return f.Truncate(size) }

// diskFull includes a quota and a limit on the size of files.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// findHolder says how to find the process that holds a lock, and what to do with it.
func findHolder(lock string) string {
	return fmt.Sprintf("find it with \"fuser -v %s\", then resume or end it", lock)
}
