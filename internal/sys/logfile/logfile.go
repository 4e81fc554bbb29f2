// Package logfile opens the logs of processes that nobody waits for. They are for
// looking why the last thing went wrong, not for keeping.
package logfile

import (
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// most is where a log starts anew.
const most = 1 << 20

// Bounded is a log for somebody who writes to it for months: it starts anew in between.
// Writes come one after the other.
type Bounded struct{ *os.File }

func (b Bounded) Write(p []byte) (int, error) {
	if info, err := b.Stat(); err == nil && info.Size() > most {
		if err := b.Truncate(0); err != nil {
			return 0, err
		}
	}
	return b.File.Write(p)
}

// Open opens a log in the state directory for appending.
func Open(stateDir, name string) (*os.File, error) {
	dir := filepath.Join(stateDir, "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND | regular.NonBlocking
	if info, err := os.Stat(path); err == nil && info.Size() > most {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}
