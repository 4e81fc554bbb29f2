package atomicfile

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// renamePatience is far more than our own programs take to read a file. Virus scanners and indexers
// take a look at each new file, too.
const renamePatience = 30 * time.Second

// rename replaces a file as soon as no other process has it open: Windows refuses until then.
func rename(from, to string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), renamePatience)
	defer cancel()
	for range pause.Doubling(ctx, time.Millisecond, 5*time.Millisecond) {
		if err = os.Rename(from, to); !inUse(err) || disk.IsDir(to) {
			break
		}
	}
	return err
}

// inUse reports whether another process has the file open. "Access denied" has other reasons, too.
func inUse(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}
