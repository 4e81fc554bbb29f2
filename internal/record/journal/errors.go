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
		return ": a file is where the directory should be: move it away, or set STOPGATE_STATE_DIR"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ": make it writable for you, or set STOPGATE_STATE_DIR to a directory that is"
	case diskFull(err):
		return ": free some disk space, or set STOPGATE_STATE_DIR to a directory on another disk"
	}
	return ""
}
