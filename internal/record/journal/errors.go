package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// explain says which journal failed and, where there is something to do, what.
func (j *Journal) explain(err error) error {
	return fmt.Errorf("journal %s: %w%s", j.dir, err, hint(err))
}

func hint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return ": a file exists where the directory should be: move the file, or set STOPGATE_STATE_DIR"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ": make it writable, or set STOPGATE_STATE_DIR to a writable directory"
	case diskFull(err):
		return ": free some disk space, or set STOPGATE_STATE_DIR to a directory on another disk"
	}
	return ""
}
