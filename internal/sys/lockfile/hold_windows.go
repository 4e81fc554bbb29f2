package lockfile

import (
	"context"
	"os"
	"time"
)

// Hold is Acquire: here a lock belongs to a process, and cannot be left to another.
func Hold(ctx context.Context, path string, patience time.Duration) (file *os.File, release func(), err error) {
	release, err = Acquire(ctx, path, patience)
	return nil, release, err
}
