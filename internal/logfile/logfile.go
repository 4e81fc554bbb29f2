// Package logfile opens the logs of processes that nobody waits for. They are for
// looking why the last thing went wrong, not for keeping.
package logfile

import (
	"os"
	"path/filepath"
)

// most is where a log starts anew.
const most = 1 << 20

// Open opens a log in the state directory for appending.
func Open(stateDir, name string) (*os.File, error) {
	dir := filepath.Join(stateDir, "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > most {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}
